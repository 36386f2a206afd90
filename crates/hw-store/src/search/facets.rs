//! Facets: what a search filters by, as tokens of letters and digits.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hw_rules::dates::Span;
use hw_rules::item::Kind;
use hw_rules::query::Filters;
use hw_rules::time::{Mark, SourceTime};

use super::SearchRow;
use super::days::{self, Unit};

/// The facets of a row.
pub(crate) fn of(row: &SearchRow<'_>) -> Vec<String> {
    let sort = if Kind::COMMENTS.contains(&row.kind) { COMMENT } else { row.kind.name() };
    let mut facets =
        vec![facet("type", sort), facet("repo", row.repository), facet("state", row.state)];
    facets.extend(row.author.map(|author| facet("author", author)));
    facets.extend(created(row.created_at));
    facets.extend(row.labels.iter().map(|label| facet("label", label)));
    facets
}

const COMMENT: &str = "comment";

/// The day, the month and the year, so that a span of time is few facets.
fn created(at: &SourceTime) -> impl Iterator<Item = String> {
    days::of(at.mark()).into_iter().map(|unit| created_in(&unit))
}

fn created_in(unit: &Unit) -> String {
    facet("created", &unit.0)
}

/// One facet. What is no letter or digit is spelled out, so that `a-b` and `ab` stay two names.
fn facet(name: &str, value: &str) -> String {
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

/// What a row must have: of each list, one.
pub(crate) type Wanted = Vec<Vec<String>>;

/// What is wanted of threads of these kinds, which fulfil the filters themselves.
pub(crate) fn wanted_of_threads(filters: &Filters, kinds: &BTreeSet<Kind>) -> Wanted {
    let types = kinds.iter().map(|kind| facet("type", kind.name()));
    let states = filters.states.iter().map(|state| facet("state", state));
    let mut wanted = vec![types.collect(), states.collect()];
    wanted.extend(filters.labels.iter().map(|label| vec![facet("label", label)]));
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
    use super::*;

    #[test]
    fn a_facet_is_letters_and_digits_and_keeps_names_apart() {
        assert_eq!(facet("repo", "Pump"), "repopump");
        assert_ne!(facet("repo", "a-b"), facet("repo", "ab"));
        assert!(facet("label", "help wanted: 日本").chars().all(|c| c.is_ascii_alphanumeric()));
    }
}
