use proptest::prelude::*;

use super::*;
use crate::date_range::{DateRange, parse_first_instant, parse_last_instant};
use crate::item::ThreadKind;

#[test]
fn query_makes_a_term_of_each_word() {
    assert_eq!(parse_terms("Crash on  start"), ["crash", "on", "start"]);
    assert_eq!(parse_terms("crash CRASH"), ["crash"]);
}

#[test]
fn query_reads_quotation_marks_as_a_phrase_even_unbalanced() {
    assert_eq!(parse_terms("a \"b c\" d"), ["a", "b c", "d"]);
    assert_eq!(parse_terms("\"un balanced"), ["un balanced"]);
    assert_eq!(parse_terms("\"\" \""), Vec::<String>::new());
}

#[test]
fn query_reads_a_star_after_a_word_as_a_prefix() {
    assert_eq!(parse_terms("auth* x"), ["auth*", "x"]);
    assert_eq!(parse_terms("foo-ba*"), ["foo", "ba*"]);
    assert!(Query::parse("foo-ba*").literals.is_empty());
}

#[test]
fn query_prefers_the_literal_form_of_words_with_symbols() {
    let query = Query::parse("foo-bar C++ it's #123 @user node.js");
    assert_eq!(query.literals.len(), 6);
    assert_eq!(parse_terms("foo-bar"), ["foo", "bar"]);
}

#[test]
fn query_of_symbols_alone_searches_for_symbols() {
    for text in ["*", ":", "->", "==="] {
        let query = Query::parse(text);
        assert!(query.terms.is_empty() && query.symbols.len() == 1, "{text}");
    }
}

#[test]
fn query_symbols_beside_words_are_a_preference() {
    for text in ["pump ?", "pump - controller", "\"pump controller\".", "pump & controller"] {
        let query = Query::parse(text);
        assert!(query.symbols.is_empty() && !query.terms.is_empty(), "{text}");
    }
    assert_eq!(parse_terms("\"pump contr\"*"), ["pump contr*"]);
}

#[test]
fn query_reads_text_without_spaces_as_a_phrase() {
    assert_eq!(parse_terms("検索test 🚀🚀"), ["検 索", "test", "🚀 🚀"]);
}

#[test]
fn query_operators_at_the_edges_are_words() {
    assert_eq!(parse_terms("a AND"), ["a", "and"]);
    assert_eq!(parse_terms("OR NEAR( NOT"), ["or", "near", "not"]);
    assert_eq!(
        parse_terms("a and b or c"),
        ["a", "and", "b", "or", "c"],
        "small letters are words"
    );
    assert_eq!(parse_terms("a AND b"), ["a", "b"]);
}

#[test]
fn query_or_makes_alternatives_of_the_words_beside_it() {
    let query = Query::parse("pump oil OR \"tide gauge\" OR foo-bar leaks");
    assert_eq!(format_query_terms(&query), ["pump", "leaks"]);
    let union: Vec<Vec<String>> = query.unions[0].iter().map(|terms| format_terms(terms)).collect();
    assert_eq!(union, [vec!["oil"], vec!["tide gauge"], vec!["foo", "bar"]]);
    let query = Query::parse("oil OR lea");
    let last: Vec<_> = query.with_last_word_as_prefix().unwrap().unions[0]
        .iter()
        .map(|terms| format_terms(terms))
        .collect();
    assert_eq!(last, [["oil*"], ["lea*"]], "each alternative may be incomplete");
    assert_eq!(Query::parse("oil OR state:open").notes.len(), 1);
}

#[test]
fn query_dash_and_not_exclude_words_phrases_and_filters() {
    assert_eq!(excluded_words("crash -panic"), [["panic*"]]);
    assert_eq!(
        excluded_words("-\"oil leak\" crash NOT foo-bar"),
        [vec!["oil leak"], vec!["foo", "bar*"]]
    );
    let query = Query::parse("crash -label:bug -author:ann -state:open -type:pr");
    assert_eq!(query.exclusions.len(), 2, "every thread has a state and a type");
    assert_eq!(query.filters.states, ["closed".to_owned(), "merged".to_owned()].into());
    let others = [
        ItemTypeFilter::Thread(ThreadKind::Issue),
        ItemTypeFilter::Thread(ThreadKind::Discussion),
        ItemTypeFilter::Post,
    ];
    assert_eq!(query.filters.types, others.into());
    assert!(Query::parse("crash state:open -state:open").filters.is_impossible());
    assert_eq!(parse_terms("a - b --json ->"), ["a", "b", "json"]);
}

#[test]
fn query_allows_posts_unless_a_filter_is_about_something_they_lack() {
    for (query, allows) in [
        ("crash author:ann created:2025-01-01", true),
        ("type:post type:issue", true),
        ("crash -type:issue", true),
        ("crash -type:post", false),
        ("type:issue", false),
        ("type:post state:open", false),
        ("type:post label:bug", false),
        ("type:post repo:pump", false),
    ] {
        assert_eq!(Query::parse(query).filters.allows_posts(), allows, "{query}");
    }
}

#[test]
fn query_of_exclusions_alone_is_empty_and_has_a_note() {
    let query = Query::parse("-minus");
    assert!(query.is_empty());
    assert_eq!(
        query.notes,
        ["the query contains only exclusions; add a word or a filter to search for"]
    );
}

#[test]
fn query_ignores_unsupported_qualifiers_with_a_note() {
    let query = Query::parse("crash sort:updated-desc In:title assignee:ann std::vec foo:bar");
    assert_eq!(format_query_terms(&query), ["crash", "std", "vec", "foo", "bar"]);
    assert_eq!(
        query.notes,
        [
            "`sort:updated-desc` was ignored: `sort:` is not supported here",
            "`In:title` was ignored: `In:` is not supported here",
            "`assignee:ann` was ignored: `assignee:` is not supported here",
        ]
    );
}

#[test]
fn query_narrowed_to_an_exclusion_requires_both() {
    assert_eq!(format_query_terms(&narrowed_query("a b -cc").unwrap()), ["a", "b", "cc*"]);
    assert!(narrowed_query("a author:ann -author:bob").is_none(), "a text has one author");
    let named = narrowed_query("a repo:pump -repo:acme/pump").unwrap().filters.repositories;
    assert_eq!(
        named,
        [RepositoryFilter { owner: Some("acme".into()), name: "pump".into() }].into()
    );
}

#[test]
fn query_filters_are_not_words() {
    let query = Query::parse(
        "leak repo:Pump author:@Ann type:pr state:OPEN label:\"help wanted\" label:bug",
    );
    assert_eq!(format_query_terms(&query), ["leak"]);
    let filters = query.filters;
    assert_eq!(
        filters.repositories,
        [RepositoryFilter { owner: None, name: "pump".into() }].into()
    );
    assert_eq!(filters.authors, ["ann".to_owned()].into());
    assert_eq!(filters.types, [ItemTypeFilter::Thread(ThreadKind::PullRequest)].into());
    assert_eq!(filters.states, ["open".to_owned()].into());
    assert_eq!(parse_terms("author:ann author:ann type:pr type:pr"), Vec::<String>::new());
    assert_eq!(filters.labels, ["bug".to_owned(), "help wanted".to_owned()].into());
}

#[test]
fn query_filter_takes_a_repository_with_its_owner() {
    let pump = RepositoryFilter { owner: Some("acme".into()), name: "pump".into() };
    assert_eq!(Query::parse("repo:Acme/Pump").filters.repositories, [pump].into());
}

#[test]
fn query_searches_invalid_filters_as_text() {
    assert_eq!(
        parse_terms("foo:bar title: type: type:banana state:odd"),
        ["foo", "bar", "title", "type", "banana", "state", "odd"]
    );
    assert_eq!(
        parse_terms("created:soon updated:>x repo:/ repo:a/"),
        ["created", "soon", "updated", "x", "repo", "a"]
    );
    assert!(Query::parse("std::vec http://x").filters.is_empty());
}

#[test]
fn query_date_filters_take_signs_and_ranges() {
    let (from, to) =
        (parse_first_instant("2025-01-01").unwrap(), parse_last_instant("2025-01-01").unwrap());
    assert_eq!(created_range("2025-01-01"), DateRange { from: Some(from), to: Some(to) });
    assert_eq!(created_range(">=2025-01-01"), DateRange { from: Some(from), to: None });
    assert_eq!(created_range(">2025-01-01"), DateRange { from: Some(to.plus_ms(1)), to: None });
    assert_eq!(created_range("<=2025-01-01"), DateRange { from: None, to: Some(to) });
    assert_eq!(created_range("<2025-01-01"), DateRange { from: None, to: Some(from.minus_ms(1)) });
    assert_eq!(created_range("2025-01-01..2025-01-01"), created_range("2025-01-01"));
    assert_eq!(created_range("2025-01-01..*"), created_range(">=2025-01-01"));
    assert_eq!(created_range(">=2025-01-01t01:00:00+01:00"), created_range(">=2025-01-01"));
}

#[test]
fn query_without_words_and_filters_is_empty() {
    for text in ["", " ", "\"", "\u{0}", "\u{200b}"] {
        assert!(Query::parse(text).is_empty(), "{text:?}");
    }
    assert!(!Query::parse("state:open").is_empty() && !Query::parse("state:open").has_words());
}

#[test]
fn query_last_word_may_be_incomplete() {
    assert_eq!(prefix_terms("oil lea"), Some(vec!["oil".to_owned(), "lea*".to_owned()]));
    assert_eq!(prefix_terms("oil state:open -tide"), Some(vec!["oil*".to_owned()]));
    for text in ["oil ", "oil l", "oil leaks oil", "\"oil leak\"", "oil*", ""] {
        assert_eq!(prefix_terms(text), None, "{text}");
    }
}

#[test]
fn query_truncates_a_pasted_page() {
    let page: Vec<_> = (0..2_000).map(|n| format!("w{n}")).collect();
    assert_eq!(Query::parse(&page.join(" ")).terms.len(), MAX_TERMS);
    assert_eq!(Query::parse(&"検".repeat(3_000)).terms[0].tokens.len(), MAX_TERMS);
}

#[test]
fn query_finds_symbols_with_and_without_quotes() {
    for text in ["->", "\"->\"", "“->”", "->:"] {
        assert!(!Query::parse(text).symbols.is_empty(), "{text}");
    }
    assert_eq!(Query::parse("\":\" state:closed").symbols, Query::parse(":").symbols);
    assert_eq!(Query::parse("============").symbols, Query::parse("========").symbols);
    assert_eq!(Query::parse("tide ++").with_last_word_as_prefix(), None, "no word is being typed");
}

#[test]
fn query_filter_is_takes_a_state_or_a_type() {
    assert_eq!(Query::parse("is:open is:PR"), Query::parse("state:open type:pr"));
}

#[test]
fn query_with_too_many_names_keeps_its_other_filters() {
    let names: String = (0..70).map(|n| format!("author:a{n} ")).collect();
    let filters = Query::parse(&format!("{names} state:open type:issue")).filters;
    assert_eq!((filters.authors.len(), filters.states.len(), filters.types.len()), (64, 1, 1));
}

#[test]
fn query_quotes_an_ignored_exclusion_as_it_was_written() {
    for query in ["-type:comment", "NOT type:comment"] {
        let expected = format!("`{query}` was ignored: comments cannot be excluded");
        assert_eq!(Query::parse(&format!("leak {query}")).notes, [expected]);
    }
}

#[test]
fn query_explains_an_invalid_filter_in_a_note() {
    assert_eq!(
        Query::parse("leaks Type:bug").notes,
        [
            "`Type:bug` is not a valid filter (use issue, pr, discussion, comment or post); searching for it as text"
        ]
    );
    for text in
        ["created:soon", "updated:2025-13-01", "state:odd", "repo:", "label:\"\"", "author:"]
    {
        assert_eq!(Query::parse(text).notes.len(), 1, "{text}");
    }
    for text in
        ["leaks", "title:x", "http://a", "type:issue", "created:>=2025-01-01", "\"type:bug\""]
    {
        assert_eq!(Query::parse(text).notes, Vec::<String>::new(), "{text}");
    }
    assert_eq!(Query::parse(&"type:bug ".repeat(20)).notes.len(), MAX_NOTES);
    let long = format!("type:{}", "é".repeat(999));
    assert!(Query::parse(&long).notes[0].len() < 200);
}

proptest! {
    #[test]
    fn query_accepts_any_text(text in any::<String>()) {
        let query = Query::parse(&text);
        for token in query.all_terms().flat_map(|term| &term.tokens).chain(&query.literals) {
            prop_assert!(!token.is_empty() && !token.contains(['"', '\'', ' ', '\\']), "{token:?}");
        }
        query.with_last_word_as_prefix();
    }

    #[test]
    fn query_always_searches_for_its_word(word in "[a-z]{1,9}", before in "[\"*:()@# ]{0,5}", after in "[\"*:()@# ]{0,5}") {
        let query = Query::parse(&format!("{before}{word}{after}"));
        let found = query.terms.iter().any(|term| term.tokens.contains(&word));
        prop_assert!(found, "{query:?}");
    }
}

fn parse_terms(text: &str) -> Vec<String> {
    format_query_terms(&Query::parse(text))
}

fn format_query_terms(query: &Query) -> Vec<String> {
    format_terms(&query.terms)
}

fn format_terms(terms: &[QueryTerm]) -> Vec<String> {
    terms.iter().map(|term| term.tokens.join(" ") + if term.is_prefix { "*" } else { "" }).collect()
}

fn prefix_terms(text: &str) -> Option<Vec<String>> {
    Query::parse(text).with_last_word_as_prefix().map(|query| format_query_terms(&query))
}

fn created_range(text: &str) -> DateRange {
    Query::parse(&format!("created:{text}")).filters.created
}

/// Returns the query for the texts that the first exclusion leaves out.
fn narrowed_query(text: &str) -> Option<Query> {
    let query = Query::parse(text);
    query.narrow_to_exclusion(&query.exclusions[0])
}

/// Returns the excluded terms of a query for `crash`.
fn excluded_words(text: &str) -> Vec<Vec<String>> {
    let query = Query::parse(text);
    assert_eq!(format_query_terms(&query), ["crash"], "{text}");
    query
        .exclusions
        .iter()
        .map(|exclusion| match exclusion {
            QueryExclusion::Words(terms) => format_terms(terms),
            QueryExclusion::Filter(_) => panic!("{text} has only words"),
        })
        .collect()
}
