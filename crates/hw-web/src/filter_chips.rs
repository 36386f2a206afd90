//! Filter buttons. The query's text is the only state: a button holds the query that results from pressing it.

use hw_rules::query::{Query, QueryFilters};

/// A filter with a fixed set of values, each of which has a button.
struct GroupSpec {
    key: &'static str,
    name: &'static str,
    values: &'static [ChipSpec],
}

struct ChipSpec {
    value: &'static str,
    label: &'static str,
}

/// The button groups, in the order in which pages show them.
const GROUP_SPECS: [GroupSpec; 2] = [
    GroupSpec {
        key: "type",
        name: "Type",
        values: &[
            ChipSpec { value: "issue", label: "issue" },
            ChipSpec { value: "pull_request", label: "pull request" },
            ChipSpec { value: "discussion", label: "discussion" },
            ChipSpec { value: "comment", label: "comment" },
            ChipSpec { value: "post", label: "post" },
        ],
    },
    GroupSpec {
        key: "state",
        name: "State",
        values: &[
            ChipSpec { value: "open", label: "open" },
            ChipSpec { value: "closed", label: "closed" },
            ChipSpec { value: "merged", label: "merged" },
        ],
    },
];

/// Filters that get a button only when the query contains them.
const OTHER_FILTER_KEYS: [&str; 5] = ["repo", "author", "label", "created", "updated"];

/// Bytes of a query that gets buttons. Each button contains the whole query, so those of a pasted page would be huge.
const MAX_QUERY_BYTES: usize = 4_000;
/// Filters of a query that get a button.
const MAX_FILTERS: usize = 20;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChipGroup {
    pub(crate) name: String,
    pub(crate) chips: Vec<FilterChip>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FilterChip {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) is_pressed: bool,
    /// The query that results from pressing the button.
    pub(crate) query: String,
}

/// A filter that a query could do without.
pub(crate) struct DroppableFilter {
    pub(crate) filter: String,
    /// The query without the filter.
    pub(crate) remaining_query: String,
}

/// Builds the buttons for a query.
pub(crate) fn build_groups(query: &str) -> Vec<ChipGroup> {
    if !is_short_query(query) {
        return Vec::new();
    }
    let fixed = GROUP_SPECS.into_iter().map(|GroupSpec { key, name, values }| ChipGroup {
        name: name.to_owned(),
        chips: values.iter().map(|spec| build_chip(query, key, spec)).collect(),
    });
    let others = ChipGroup { name: "Other filters".to_owned(), chips: removal_chips(query) };
    fixed.chain(Some(others).filter(|group| !group.chips.is_empty())).collect()
}

fn build_chip(query: &str, key: &str, spec: &ChipSpec) -> FilterChip {
    let ChipSpec { value, label } = spec;
    let filter = parse_filters(&format!("{key}:{value}"));
    let is_pressed = is_narrowed_by(query, &filter);
    let query = if is_pressed {
        let other_words =
            split_words(query).into_iter().filter(|word| !is_narrowed_by(word, &filter));
        other_words.collect::<Vec<_>>().join(" ")
    } else {
        replace_filter(query, key, value)
    };
    FilterChip { id: format!("chip-{key}-{value}"), label: (*label).to_owned(), is_pressed, query }
}

/// Checks whether a text contains this type or state, in any spelling: `type:pr` means pull requests.
fn is_narrowed_by(text: &str, filter: &QueryFilters) -> bool {
    let filters = parse_filters(text);
    !filter.types.is_disjoint(&filters.types) || !filter.states.is_disjoint(&filters.states)
}

fn parse_filters(text: &str) -> QueryFilters {
    Query::parse(text).filters
}

/// Builds a button for each filter outside of the fixed groups, which removes it from the query.
fn removal_chips(query: &str) -> Vec<FilterChip> {
    let filters = filter_words(query).into_iter();
    filters
        .filter(|word| OTHER_FILTER_KEYS.iter().any(|key| has_filter_key(word, key)))
        .take(MAX_FILTERS)
        .enumerate()
        .map(|(number, word)| FilterChip {
            id: format!("chip-also-{number}"),
            label: word.to_owned(),
            is_pressed: true,
            query: remove_filter(query, word),
        })
        .collect()
}

/// Checks whether a query is short enough for buttons.
pub(crate) fn is_short_query(query: &str) -> bool {
    query.len() <= MAX_QUERY_BYTES
}

/// Lists the filters that could be removed from a query.
pub(crate) fn list_droppable(query: &str) -> Vec<DroppableFilter> {
    if !is_short_query(query) {
        return Vec::new();
    }
    let filters = filter_words(query).into_iter().take(MAX_FILTERS);
    filters
        .map(|filter| DroppableFilter {
            filter: filter.to_owned(),
            remaining_query: remove_filter(query, filter),
        })
        .collect()
}

/// Returns the words of a query that are filters. A filter with an invalid value is searched as text, so it is none.
pub(crate) fn filter_words(query: &str) -> Vec<&str> {
    let words = split_words(query).into_iter();
    words.filter(|word| has_known_key(word) && !parse_filters(word).is_empty()).collect()
}

fn has_known_key(word: &str) -> bool {
    let fixed = GROUP_SPECS.iter().map(|group| group.key);
    fixed.chain(OTHER_FILTER_KEYS).any(|key| has_filter_key(word, key))
}

/// Returns the query without any occurrence of a filter.
pub(crate) fn remove_filter(query: &str, filter: &str) -> String {
    let others = split_words(query).into_iter().filter(|word| !word.eq_ignore_ascii_case(filter));
    others.collect::<Vec<_>>().join(" ")
}

/// Returns the query with this filter in place of others with the same key.
pub(crate) fn replace_filter(query: &str, key: &str, value: &str) -> String {
    let filter = format!("{key}:{value}");
    let others = split_words(query).into_iter().filter(|word| !has_filter_key(word, key));
    // the filter goes before an unclosed quotation mark, or it would be part of the phrase
    let (mut closed, open): (Vec<&str>, Vec<&str>) =
        others.partition(|word| word.matches('"').count() % 2 == 0);
    closed.push(&filter);
    closed.into_iter().chain(open).collect::<Vec<_>>().join(" ")
}

/// Checks whether a text can be the value of a filter without quotation marks.
pub(crate) fn is_plain_value(value: &str) -> bool {
    !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c.is_control() || c == '"')
}

fn has_filter_key(word: &str, key: &str) -> bool {
    filter_key(word).is_some_and(|word_key| word_key.eq_ignore_ascii_case(key))
}

fn filter_key(word: &str) -> Option<&str> {
    let (key, value) = word.split_once(':')?;
    (!value.is_empty() && !key.contains('"')).then_some(key)
}

/// Splits a query into words; a phrase in quotation marks is one word.
fn split_words(query: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let words = query.split(|c: char| {
        is_quoted ^= c == '"';
        c.is_whitespace() && !is_quoted
    });
    words.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chip_adds_its_filter_and_removes_it_again() {
        let chips = &build_groups("leak")[0].chips;
        assert_eq!((chips[0].is_pressed, &*chips[0].query), (false, "leak type:issue"));
        let chips = &build_groups("leak Type:Issue")[0].chips;
        assert_eq!((chips[0].is_pressed, &*chips[0].query), (true, "leak"));
    }

    #[test]
    fn chip_is_pressed_by_any_spelling_of_its_filter() {
        for word in ["type:pr", "type:prs", "TYPE:Pull-Request", "type:pull_requests"] {
            let chips = &build_groups(&format!("leak {word} state:open"))[0].chips;
            let pressed: Vec<_> = chips.iter().map(|chip| chip.is_pressed).collect();
            assert_eq!(pressed, [false, true, false, false, false], "{word}");
            assert_eq!(chips[1].query, "leak state:open", "{word}");
        }
    }

    #[test]
    fn filter_replaces_another_with_the_same_key() {
        let chips = &build_groups("type:issue leak state:open")[0].chips;
        assert_eq!(chips[3].query, "leak state:open type:comment");
        assert_eq!(replace_filter("repo:a x", "repo", "b"), "x repo:b");
    }

    #[test]
    fn filter_in_quotation_marks_is_text() {
        assert!(!build_groups("\"a type:issue b\"")[0].chips[0].is_pressed);
        assert_eq!(replace_filter("\"a  b\" c", "type", "issue"), "\"a  b\" c type:issue");
        assert_eq!(
            replace_filter("c \"open phrase", "type", "issue"),
            "c type:issue \"open phrase"
        );
        assert_eq!(filter_words("\"repo:x\" author:y type: :z"), ["author:y"]);
    }

    #[test]
    fn filter_without_a_fixed_chip_gets_one_that_removes_it() {
        let others = &build_groups("leak repo:pump author:ada")[2];
        let queries: Vec<_> = others.chips.iter().map(|chip| chip.query.as_str()).collect();
        assert_eq!(queries, ["leak author:ada", "leak repo:pump"]);
    }
}
