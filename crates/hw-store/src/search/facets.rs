//! Facets: what a search filters by, as tokens of letters and digits.

use std::fmt::Write as _;

use hw_rules::item::Kind;

use super::SearchRow;

/// The facets of a row.
pub(super) fn of(row: &SearchRow<'_>) -> Vec<String> {
    let sort = if Kind::COMMENTS.contains(&row.kind) { "comment" } else { row.kind.name() };
    let mut facets =
        vec![facet("type", sort), facet("repo", row.repository), facet("state", row.state)];
    facets.extend(row.author.map(|author| facet("author", author)));
    facets.extend(row.labels.iter().map(|label| facet("label", label)));
    facets
}

/// One facet. What is no letter or digit is spelled out, so that `a-b` and `ab` stay two names.
pub(super) fn facet(name: &str, value: &str) -> String {
    let mut token = name.to_owned();
    for c in value.to_lowercase().chars() {
        if c.is_ascii_alphanumeric() {
            token.push(c);
        } else {
            write!(token, "zq{:x}qz", u32::from(c)).expect("writing to a string cannot fail");
        }
    }
    token
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_facet_is_letters_and_digits_and_keeps_names_apart() {
        assert_eq!(facet("repo", "Pump"), "repopump");
        assert_ne!(facet("repo", "a-b"), facet("repo", "ab"));
        assert!(facet("label", "help wanted: 日本").chars().all(|c| c.is_ascii_alphanumeric()));
    }
}
