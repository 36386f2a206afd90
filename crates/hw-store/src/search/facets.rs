//! Facets: the values that a search filters by, as tokens that no text contains.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use hw_rules::date_range::DateRange;
use hw_rules::item::{ObjectKind, ThreadKind};
use hw_rules::query::QueryFilters;
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::tokens::fold_case;

use super::SearchRow;
use super::date_units::{self, DateUnit};
use super::tokens::RESERVED_CHAR;

/// Returns the facets of a row.
///
/// Type, state and label are also combined into one facet. The combination occurs in few rows and is found faster than
/// three facets that each occur in many.
pub(crate) fn row_facets(row: &SearchRow<'_>) -> Vec<String> {
    let mut facets = Vec::new();
    if row.kind != ObjectKind::Post {
        facets.push(facet_token("repo", row.repository));
    }
    facets.extend(row.author.map(|author| facet_token("author", author)));
    let accounts: BTreeSet<&str> = row.accounts.into_iter().flatten().collect();
    facets.extend(accounts.into_iter().map(|account| facet_token("author", account)));
    facets.extend(created_facets(row.created_at));
    let kind = match row.kind {
        ObjectKind::Thread(kind) => kind,
        ObjectKind::Post => {
            facets.push(facet_token("type", POST_TYPE));
            return facets;
        }
        ObjectKind::Comment(_) | ObjectKind::Repository => {
            facets.push(facet_token("type", COMMENT_TYPE));
            return facets;
        }
    };
    facets.push(facet_token("type", kind.name()));
    facets.push(type_state_facet(kind, row.state));
    for label in row.labels {
        facets
            .extend([facet_token("label", label), label_type_state_facet(label, kind, row.state)]);
    }
    facets
}

/// Combines a type and a state.
fn type_state_facet(kind: ThreadKind, state: &str) -> String {
    facet_token("standing", &format!("{} {state}", kind.name()))
}

/// Combines a label, a type and a state.
fn label_type_state_facet(label: &str, kind: ThreadKind, state: &str) -> String {
    facet_token("labelled", &format!("{} {state} {label}", kind.name()))
}

const COMMENT_TYPE: &str = "comment";
const POST_TYPE: &str = "post";

/// Returns the day, the month and the year, so that a range of time needs few facets.
fn created_facets(at: &SourceTime) -> impl Iterator<Item = String> {
    date_units::units_at(at.instant()).into_iter().map(|unit| created_facet(&unit))
}

fn created_facet(unit: &DateUnit) -> String {
    facet_token("created", &unit.0)
}

/// Builds a facet. Characters other than ASCII letters and digits are escaped between two reserved characters, so that
/// `a-b` and `ab` stay distinct.
fn facet_token(name: &str, value: &str) -> String {
    let mut token = format!("{RESERVED_CHAR}{name}{RESERVED_CHAR}");
    for c in fold_case(value).chars() {
        if c.is_ascii_alphanumeric() {
            token.push(c);
        } else {
            write!(token, "{RESERVED_CHAR}{:x}{RESERVED_CHAR}", u32::from(c))
                .expect("writing to a string cannot fail");
        }
    }
    token
}

/// The facets that a row must have: at least one of each list.
pub(crate) type FacetFilter = Vec<Vec<String>>;

/// Selects threads of these kinds that pass the filters.
pub(crate) fn thread_facet_filter(
    filters: &QueryFilters,
    kinds: &BTreeSet<ThreadKind>,
) -> FacetFilter {
    let states = &filters.states;
    let type_states: Vec<_> =
        kinds.iter().flat_map(|kind| states.iter().map(|state| (*kind, state))).collect();
    let labels = filters.labels.iter();
    let thread_facets = if type_states.is_empty() {
        let types = kinds.iter().map(|kind| facet_token("type", kind.name())).collect();
        labels.map(|label| vec![facet_token("label", label)]).chain([types]).collect()
    } else if filters.labels.is_empty() {
        vec![type_states.iter().map(|(kind, state)| type_state_facet(*kind, state)).collect()]
    } else {
        labels
            .map(|label| {
                type_states
                    .iter()
                    .map(|(kind, state)| label_type_state_facet(label, *kind, state))
                    .collect()
            })
            .collect()
    };
    add_common_facets(thread_facets, filters)
}

/// Selects comments by the filters that concern them; the others apply to their threads.
pub(crate) fn comment_facet_filter(filters: &QueryFilters) -> FacetFilter {
    add_common_facets(vec![vec![facet_token("type", COMMENT_TYPE)]], filters)
}

/// Selects posts.
pub(crate) fn post_facet_filter(filters: &QueryFilters) -> FacetFilter {
    add_common_facets(vec![vec![facet_token("type", POST_TYPE)]], filters)
}

/// Selects threads, comments and posts, for a query without filters that concern threads alone.
pub(crate) fn common_facet_filter(filters: &QueryFilters) -> FacetFilter {
    add_common_facets(Vec::new(), filters)
}

fn add_common_facets(mut facets: FacetFilter, filters: &QueryFilters) -> FacetFilter {
    facets.extend(common_facets(filters));
    facets.retain(|alternatives| !alternatives.is_empty());
    facets
}

/// Returns the facets of the filters that apply to threads and comments alike.
fn common_facets(filters: &QueryFilters) -> [Vec<String>; 3] {
    let repositories = filters.repositories.iter().map(|filter| facet_token("repo", &filter.name));
    let authors = filters.authors.iter().map(|author| facet_token("author", author));
    [repositories.collect(), authors.collect(), range_facets(filters.created)]
}

/// Returns the facets of the days in a range. `IndexQuery` compares its ends to the millisecond.
fn range_facets(range: DateRange) -> Vec<String> {
    if range.is_unbounded() {
        return Vec::new();
    }
    let from = range.from.unwrap_or(SourceInstant::BEGINNING);
    let to = range.to.unwrap_or(SourceInstant(i64::MAX));
    let units: Vec<_> = date_units::units_between(from, to).iter().map(created_facet).collect();
    // a range without a day must match nothing, not everything
    if units.is_empty() { vec![facet_token("created", "never")] } else { units }
}

#[cfg(test)]
mod tests {
    use hw_rules::tokens::tokenize_text;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn facet_tokens_are_plain_characters_and_distinct() {
        assert_eq!(facet_token("repo", "Pump"), "\u{e000}repo\u{e000}pump");
        assert_ne!(facet_token("repo", "a-b"), facet_token("repo", "ab"));
        assert_ne!(facet_token("repo", "a-b"), facet_token("repo", "a\u{e000}2d\u{e000}b"));
        assert_ne!(facet_token("label", "led issue"), facet_token("labelled", "issue"));
        assert_eq!(facet_token("label", "Cafe\u{301}"), facet_token("label", "café"));
        let label = facet_token("label", "help wanted: 日本");
        assert!(label.chars().all(|c| c.is_ascii_alphanumeric() || c == RESERVED_CHAR));
    }

    proptest! {
        #[test]
        fn facet_tokens_occur_in_no_text(before in "\\PC{0,4}", after in "\\PC{0,4}") {
            let forged = format!("{before}{}{after}", facet_token("type", "issue"));
            prop_assert!(tokenize_text(&forged).iter().all(|token| !token.contains(RESERVED_CHAR)), "{forged:?}");
        }
    }
}
