//! Filters as buttons. The query's text is the only state: a button is another text to search for.

use hw_rules::query::{Filters, Query};

/// A filter's key, its name for people, and its values with theirs.
type Known = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What buttons stand for, in the order in which they are shown.
const GROUPS: [Known; 2] = [
    (
        "type",
        "Type",
        &[
            ("issue", "issue"),
            ("pull_request", "pull request"),
            ("discussion", "discussion"),
            ("comment", "comment"),
        ],
    ),
    ("state", "State", &[("open", "open"), ("closed", "closed"), ("merged", "merged")]),
];

/// Filters that are shown as buttons once they are in the query.
const OTHERS: [&str; 5] = ["repo", "author", "label", "created", "updated"];

/// Bytes of a query that has buttons. Each button holds the whole query, so those of a pasted page would fill a page.
const MAX_QUERY: usize = 4_000;
/// Filters of a query that have a button.
const MAX_FILTERS: usize = 20;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) chips: Vec<Chip>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chip {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) is_pressed: bool,
    /// The query after it was pressed.
    pub(crate) query: String,
}

/// The buttons beside a query.
pub(crate) fn groups(query: &str) -> Vec<Group> {
    if !is_short(query) {
        return Vec::new();
    }
    let fixed = GROUPS.into_iter().map(|(key, name, values)| {
        let chips = values.iter().map(|(value, label)| chip(query, key, value, label)).collect();
        Group { name: name.to_owned(), chips }
    });
    let others = present(query).into_iter().filter(|chip| !chip.id.is_empty());
    let others = Group { name: "Also".to_owned(), chips: others.collect() };
    fixed.chain(Some(others).filter(|group| !group.chips.is_empty())).collect()
}

fn chip(query: &str, key: &str, value: &str, label: &str) -> Chip {
    let wanted = filters_of(&format!("{key}:{value}"));
    let is_wanted = |text: &str| {
        let filters = filters_of(text);
        !wanted.types.is_disjoint(&filters.types) || !wanted.states.is_disjoint(&filters.states)
    };
    let is_pressed = is_wanted(query);
    let kept = words(query).into_iter().filter(|word| !is_wanted(word));
    let query =
        if is_pressed { kept.collect::<Vec<_>>().join(" ") } else { with(query, key, value) };
    Chip { id: format!("chip-{key}-{value}"), label: label.to_owned(), is_pressed, query }
}

/// What a text is narrowed by, however it is written: `type:pr` is a pull request, too.
fn filters_of(text: &str) -> Filters {
    Query::parse(text).filters
}

/// The filters of a query that have no button of their own, each as one that takes it away.
fn present(query: &str) -> Vec<Chip> {
    let others = filters(query).into_iter().filter(|word| {
        OTHERS.iter().any(|key| key_of(word).is_some_and(|it| it.eq_ignore_ascii_case(key)))
    });
    let chip = |(number, word): (usize, &str)| Chip {
        id: format!("chip-also-{number}"),
        label: word.to_owned(),
        is_pressed: true,
        query: without(query, word),
    };
    others.take(MAX_FILTERS).enumerate().map(chip).collect()
}

/// Whether a query is short enough for buttons.
pub(crate) fn is_short(query: &str) -> bool {
    query.len() <= MAX_QUERY
}

/// The filters that could be dropped from a query, each with the query that is left.
pub(crate) fn drops(query: &str) -> Vec<(String, String)> {
    let filters = filters(query).into_iter().filter(|_| is_short(query)).take(MAX_FILTERS);
    filters.map(|it| (it.to_owned(), without(query, it))).collect()
}

/// The words of a query that are filters, known to us by their names.
pub(crate) fn filters(query: &str) -> Vec<&str> {
    let known = |key: &str| {
        let fixed = GROUPS.iter().map(|(name, _, _)| *name);
        fixed.chain(OTHERS).any(|name| name.eq_ignore_ascii_case(key))
    };
    words(query).into_iter().filter(|word| key_of(word).is_some_and(known)).collect()
}

/// The query without one of its words, wherever it stands.
pub(crate) fn without(query: &str, filter: &str) -> String {
    let kept = words(query).into_iter().filter(|word| !word.eq_ignore_ascii_case(filter));
    kept.collect::<Vec<_>>().join(" ")
}

/// The query with this filter, in the place of another one of its kind.
pub(crate) fn with(query: &str, key: &str, value: &str) -> String {
    let is_of_kind = |word: &&str| key_of(word).is_some_and(|it| it.eq_ignore_ascii_case(key));
    let filter = format!("{key}:{value}");
    let kept = words(query).into_iter().filter(|word| !is_of_kind(word));
    // before an open quotation mark, or it would be part of the phrase
    let (mut closed, open): (Vec<&str>, Vec<&str>) =
        kept.partition(|word| word.matches('"').count() % 2 == 0);
    closed.push(&filter);
    closed.into_iter().chain(open).collect::<Vec<_>>().join(" ")
}

/// Whether a text can be the value of a filter as it is.
pub(crate) fn is_plain(value: &str) -> bool {
    !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"')
}

fn key_of(word: &str) -> Option<&str> {
    let (key, value) = word.split_once(':')?;
    (!value.is_empty() && !key.contains('"')).then_some(key)
}

/// The words of a query; what is in quotation marks is one.
fn words(query: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let ends = |c: char| {
        is_quoted ^= c == '"';
        c.is_whitespace() && !is_quoted
    };
    query.split(ends).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_button_adds_its_filter_and_takes_it_away_again() {
        let chips = &groups("leak")[0].chips;
        assert_eq!((chips[0].is_pressed, &*chips[0].query), (false, "leak type:issue"));
        let chips = &groups("leak Type:Issue")[0].chips;
        assert_eq!((chips[0].is_pressed, &*chips[0].query), (true, "leak"));
    }

    #[test]
    fn a_filter_presses_its_button_however_it_is_written() {
        for word in ["type:pr", "type:prs", "TYPE:Pull-Request", "type:pull_requests"] {
            let chips = &groups(&format!("leak {word} state:open"))[0].chips;
            let pressed: Vec<_> = chips.iter().map(|chip| chip.is_pressed).collect();
            assert_eq!(pressed, [false, true, false, false], "{word}");
            assert_eq!(chips[1].query, "leak state:open", "{word}");
        }
    }

    #[test]
    fn a_filter_takes_the_place_of_another_of_its_kind() {
        let chips = &groups("type:issue leak state:open")[0].chips;
        assert_eq!(chips[3].query, "leak state:open type:comment");
        assert_eq!(with("repo:a x", "repo", "b"), "x repo:b");
    }

    #[test]
    fn what_is_quoted_is_no_filter() {
        assert!(!groups("\"a type:issue b\"")[0].chips[0].is_pressed);
        assert_eq!(with("\"a  b\" c", "type", "issue"), "\"a  b\" c type:issue");
        assert_eq!(with("c \"open phrase", "type", "issue"), "c type:issue \"open phrase");
        assert_eq!(filters("\"repo:x\" author:y type: :z"), ["author:y"]);
    }

    #[test]
    fn every_other_filter_has_a_button_that_takes_it_away() {
        let others = &groups("leak repo:pump author:ada")[2];
        let queries: Vec<_> = others.chips.iter().map(|chip| chip.query.as_str()).collect();
        assert_eq!(queries, ["leak author:ada", "leak repo:pump"]);
    }
}
