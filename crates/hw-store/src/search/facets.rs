//! Facets: what a search filters by, as tokens that no text has.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hw_rules::dates::Span;
use hw_rules::item::Kind;
use hw_rules::query::Filters;
use hw_rules::time::{Mark, SourceTime};
use hw_rules::tokens::folded;

use super::SearchRow;
use super::days::{self, Unit};
use super::words::SIGN;

/// The facets of a row.
///
/// Together, a type, a state and a label are few rows, which one facet finds sooner than three that are each in
/// many rows.
pub(crate) fn of(row: &SearchRow<'_>) -> Vec<String> {
    let mut facets = vec![facet("repo", row.repository)];
    facets.extend(row.author.map(|author| facet("author", author)));
    facets.extend(created(row.created_at));
    if row.is_comment() {
        facets.push(facet("type", COMMENT));
        return facets;
    }
    facets.push(facet("type", row.kind.name()));
    facets.push(standing(row.kind, row.state));
    for label in row.labels {
        facets.extend([facet("label", label), labelled(label, row.kind, row.state)]);
    }
    facets
}

/// A type and a state in one.
fn standing(kind: Kind, state: &str) -> String {
    facet("standing", &format!("{} {state}", kind.name()))
}

/// A label, a type and a state in one.
fn labelled(label: &str, kind: Kind, state: &str) -> String {
    facet("labelled", &format!("{} {state} {label}", kind.name()))
}

const COMMENT: &str = "comment";

/// The day, the month and the year, so that a span of time is few facets.
fn created(at: &SourceTime) -> impl Iterator<Item = String> {
    days::of(at.mark()).into_iter().map(|unit| created_in(&unit))
}

fn created_in(unit: &Unit) -> String {
    facet("created", &unit.0)
}

/// One facet. What is no letter or digit is spelled out between two signs, so that `a-b` and `ab` stay two names.
fn facet(name: &str, value: &str) -> String {
    let mut token = format!("{SIGN}{name}{SIGN}");
    for c in folded(value).chars() {
        if c.is_ascii_alphanumeric() {
            token.push(c);
        } else {
            write!(token, "{SIGN}{:x}{SIGN}", u32::from(c))
                .expect("writing to a string cannot fail");
        }
    }
    token
}

/// What a row must have: of each list, one.
pub(crate) type Wanted = Vec<Vec<String>>;

/// What is wanted of threads of these kinds, which fulfil the filters themselves.
pub(crate) fn wanted_of_threads(filters: &Filters, kinds: &BTreeSet<Kind>) -> Wanted {
    let states = || filters.states.iter();
    let pairs: Vec<_> = kinds.iter().flat_map(|kind| states().map(|it| (*kind, it))).collect();
    let labels = filters.labels.iter();
    let wanted = if pairs.is_empty() {
        let types = kinds.iter().map(|kind| facet("type", kind.name())).collect();
        labels.map(|label| vec![facet("label", label)]).chain([types]).collect()
    } else if filters.labels.is_empty() {
        vec![pairs.iter().map(|(kind, state)| standing(*kind, state)).collect()]
    } else {
        let any = |label| pairs.iter().map(|(kind, state)| labelled(label, *kind, state)).collect();
        labels.map(|label: &String| any(label)).collect()
    };
    some(wanted, filters)
}

/// What is wanted of comments, when the rest is asked of their threads.
pub(crate) fn wanted_of_comments(filters: &Filters) -> Wanted {
    some(vec![vec![facet("type", COMMENT)]], filters)
}

/// What is wanted of threads and comments, when nothing is asked of threads alone.
pub(crate) fn wanted_of_all(filters: &Filters) -> Wanted {
    some(Vec::new(), filters)
}

fn some(mut wanted: Wanted, filters: &Filters) -> Wanted {
    wanted.extend(of_any(filters));
    wanted.retain(|any| !any.is_empty());
    wanted
}

/// What is asked of threads and comments alike.
fn of_any(filters: &Filters) -> [Vec<String>; 3] {
    let repositories = filters.repositories.iter().map(|it| facet("repo", &it.name));
    let authors = filters.authors.iter().map(|author| facet("author", author));
    [repositories.collect(), authors.collect(), within(filters.created)]
}

/// The days of a span. Its ends are looked at to the millisecond elsewhere.
fn within(span: Span) -> Vec<String> {
    if span.is_open() {
        return Vec::new();
    }
    let (from, to) = (span.from.unwrap_or(Mark::BEGINNING), span.to.unwrap_or(Mark(i64::MAX)));
    let units: Vec<_> = days::between(from, to).iter().map(created_in).collect();
    // a span that holds no day holds nothing
    if units.is_empty() { vec![facet("created", "never")] } else { units }
}

#[cfg(test)]
mod tests {
    use hw_rules::tokens::tokens;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_facet_is_letters_digits_and_signs_and_keeps_names_apart() {
        assert_eq!(facet("repo", "Pump"), "\u{e000}repo\u{e000}pump");
        assert_ne!(facet("repo", "a-b"), facet("repo", "ab"));
        assert_ne!(facet("repo", "a-b"), facet("repo", "a\u{e000}2d\u{e000}b"));
        assert_ne!(facet("label", "led issue"), facet("labelled", "issue"));
        assert_eq!(facet("label", "Cafe\u{301}"), facet("label", "café"));
        let label = facet("label", "help wanted: 日本");
        assert!(label.chars().all(|c| c.is_ascii_alphanumeric() || c == SIGN));
    }

    proptest! {
        #[test]
        fn no_text_has_a_facet(before in "\\PC{0,4}", after in "\\PC{0,4}") {
            let forged = format!("{before}{}{after}", facet("type", "issue"));
            prop_assert!(tokens(&forged).iter().all(|token| !token.contains(SIGN)), "{forged:?}");
        }
    }
}
