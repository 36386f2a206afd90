//! Tests that any text is a valid query and finds the texts that contain it.

use hw_rules::item::ItemObservation;
use hw_store::{DatabaseLocation, SearchRequest};
use serde_json::Value;

use super::{hit_ids, marked_texts, search_engine};
use crate::fixture::{as_thread_mut, issue, issues_page, open_store, search_hits, search_ids};

both![
    query_word_with_symbols_prefers_literal_matches,
    query_phrases_and_prefixes_are_found,
    query_phrase_does_not_span_two_fields,
    query_phrase_deep_in_a_long_text_is_found,
    query_symbols_are_found_in_quotes_in_runs_and_beside_filters,
    query_ignores_marks_on_latin_letters,
    query_text_cannot_pass_for_a_facet,
    query_word_being_typed_matches_as_a_prefix,
    query_symbols_are_found_anywhere,
    query_with_nasty_text_finds_that_text,
];

fn query_word_with_symbols_prefers_literal_matches(location: &DatabaseLocation) {
    let store = open_store(location);
    let page =
        vec![issue(5, 10, "the foo-bar"), issue(6, 20, "bar and foo"), issue(7, 30, "foo alone")];
    store.ingest_page(&issues_page(page)).unwrap();
    assert_eq!(search_ids(&store, "foo-bar"), [5, 6]);
    assert_eq!(search_ids(&store, "foo_bar").len(), 2);
}

fn query_phrases_and_prefixes_are_found(location: &DatabaseLocation) {
    let store = open_store(location);
    let page =
        vec![issue(5, 10, "oil-pump leaks again"), issue(6, 20, "leaks oil"), issue(7, 30, "leak")];
    store.ingest_page(&issues_page(page)).unwrap();
    assert_eq!(
        search_ids(&store, "\"pump leaks again\""),
        [5],
        "a literal form does not split a phrase"
    );
    assert_eq!(search_ids(&store, "\"leaks oil\""), [6]);
    assert_eq!(search_ids(&store, "\"oil again\""), Vec::<i64>::new());
    assert_eq!(hit_ids(&store, "leak*"), [5, 6, 7].into());
    assert_eq!(hit_ids(&store, "lea* agai*"), [5].into());
}

fn query_phrase_does_not_span_two_fields(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut issue = issue(5, 10, "oil pump");
    as_thread_mut(&mut issue).body = "leaks again".into();
    store.ingest_page(&issues_page(vec![issue])).unwrap();
    assert_eq!(search_ids(&store, "\"oil pump\""), [5]);
    assert_eq!(search_ids(&store, "\"leaks again\""), [5]);
    for across in ["\"pump leaks\"", "\"again pump\"", "\"pump ada\""] {
        assert_eq!(search_ids(&store, across), Vec::<i64>::new(), "{across}");
    }
}

/// PostgreSQL stores the positions of words only up to a limit.
fn query_phrase_deep_in_a_long_text_is_found(location: &DatabaseLocation) {
    let store = open_store(location);
    let words: String = (0..20_000).map(|n| format!("w{n} ")).collect();
    let often = "oil ".repeat(300);
    let issues = vec![
        issue_with_body(5, format!("{words} node.js")),
        issue_with_body(6, format!("{often} and oil pump")),
        issue_with_body(7, "pump oil".into()),
    ];
    store.ingest_page(&issues_page(issues)).unwrap();
    assert_eq!(search_ids(&store, "\"w19998 w19999\""), [5]);
    assert_eq!(search_ids(&store, "node.js"), [5]);
    assert_eq!(search_ids(&store, "\"oil pump\""), [6]);
}

fn query_symbols_are_found_in_quotes_in_runs_and_beside_filters(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut closed = issue(6, 20, "plain");
    as_thread_mut(&mut closed).state = "CLOSED".into();
    let issues = vec![issue(5, 10, "std::vec -> |---|"), closed];
    store.ingest_page(&issues_page(issues)).unwrap();
    for query in [":", "::", "\":\"", "->", "“->”", "-", "|---|", "|"] {
        assert_eq!(search_ids(&store, query), [5], "{query}");
    }
    assert_eq!(search_ids(&store, "\":\" state:closed"), Vec::<i64>::new());
}

fn query_ignores_marks_on_latin_letters(location: &DatabaseLocation) {
    let store = open_store(location);
    store
        .ingest_page(&issues_page(vec![issue(5, 10, "Café ば"), issue(6, 11, "cafe は")]))
        .unwrap();
    assert_eq!(hit_ids(&store, "cafe"), [5, 6].into());
    assert_eq!(hit_ids(&store, "CAFÉ"), [5, 6].into());
    assert_eq!(hit_ids(&store, "ば"), [5].into());
}

fn query_text_cannot_pass_for_a_facet(location: &DatabaseLocation) {
    let store = open_store(location);
    let forged = "typeissue typediscussion \u{e000}type\u{e000}discussion";
    store.ingest_page(&issues_page(vec![issue(5, 10, forged)])).unwrap();
    assert_eq!(hit_ids(&store, "typeissue type:discussion").len(), 0);
    assert_eq!(hit_ids(&store, "typediscussion type:issue"), [5].into());
    assert_eq!(hit_ids(&store, "type:discussion").len(), 0);
}

fn query_word_being_typed_matches_as_a_prefix(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaking"), issue(6, 5, "leak")])).unwrap();
    assert_eq!(search_ids(&store, "leak"), [6, 5], "the whole word first");
    assert_eq!(search_ids(&store, "leak "), [6], "a space ends the word");
    assert_eq!(search_ids(&store, "leak state:open"), [6, 5], "even before a filter");
    let hits = search_hits(&store, "leak", 10);
    assert!(
        hits.iter().all(|hit| !marked_texts(&hit.marked_title).is_empty()),
        "both are marked: {hits:?}"
    );
}

fn query_symbols_are_found_anywhere(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = vec![issue(5, 10, "error: x"), issue(6, 11, "C++ is"), issue(7, 12, "plain")];
    store.ingest_page(&issues_page(page)).unwrap();
    assert_eq!(search_ids(&store, ":"), [5]);
    assert_eq!(search_ids(&store, "++"), [6]);
    assert_eq!(search_ids(&store, "plain ?"), [7], "beside words they are ignored");
    assert_eq!(search_ids(&store, "plain & body"), [7]);
}

fn query_with_nasty_text_finds_that_text(location: &DatabaseLocation) {
    let store = open_store(location);
    let nasty = nasty_texts();
    let page = nasty
        .iter()
        .zip(100..)
        .map(|(text, id)| issue(id, id, &format!("this {text} there")))
        .collect();
    store.ingest_page(&issues_page(page)).unwrap();
    for (text, id) in nasty.iter().zip(100..) {
        let found: Vec<i64> =
            search_hits(&store, text, 100).into_iter().map(|hit| hit.id).collect();
        assert!(found.contains(&id), "{text:.50?}: {found:?}");
    }
}

/// Runs a hundred queries for each seed.
#[test]
fn query_with_random_text_never_fails() {
    let store = open_store(&DatabaseLocation::Memory);
    let nasty = nasty_texts();
    let page = nasty.iter().zip(100..).map(|(text, id)| issue(id, id, text)).collect();
    store.ingest_page(&issues_page(page)).unwrap();
    let engine = search_engine(&store);
    for seed in 0..seed_count() * 100 {
        let query = random_query(&mut fastrand::Rng::with_seed(seed), &nasty);
        let search = SearchRequest::new(query.as_str());
        if let Err(error) = engine.search(&search) {
            panic!("seed {seed}: {query:?}: {error}");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the environment sets the duration of the test")]
fn seed_count() -> u64 {
    std::env::var("HIGHWATER_SEEDS").ok().and_then(|count| count.parse().ok()).unwrap_or(20)
}

/// Returns the nasty texts that all user interfaces are tested with, and some long ones.
fn nasty_texts() -> Vec<String> {
    let listed: Value =
        serde_json::from_str(include_str!("../../../../../tests/nasty.json")).unwrap();
    let listed = listed["found"].as_array().unwrap().iter();
    let mut nasty: Vec<String> = listed.map(|text| text.as_str().unwrap().to_owned()).collect();
    nasty.push("ten kilobytes ".repeat(800));
    nasty.push((0..2_000).map(|n| format!("w{n} ")).collect());
    nasty
}

fn random_query(rng: &mut fastrand::Rng, nasty: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..rng.usize(..8) {
        match rng.u32(..6) {
            0 => text.push(rng.char(..)),
            1 => text.push(char::from(rng.u8(..128))),
            2 => text.push_str(&nasty[rng.usize(..nasty.len() - 2)]),
            3 => text.push_str(
                ["repo:", "created:>=", "label:\"", "type:", "..", "2025-01-01"][rng.usize(..6)],
            ),
            4 => text.push(
                ['"', '*', ' ', ':', '(', ')', '\'', '\\', '&', '|', '!', '<'][rng.usize(..12)],
            ),
            _ => text.push_str(["leaks", "foo", "bar ", " x ", "日本"][rng.usize(..5)]),
        }
    }
    text
}

fn issue_with_body(id: i64, body: String) -> ItemObservation {
    let mut issue = issue(id, id, "x");
    as_thread_mut(&mut issue).body = body;
    issue
}
