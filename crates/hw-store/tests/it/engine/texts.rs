//! Any text is a query, and finds what contains it.

use hw_store::{Place, Search};
use serde_json::Value;

use super::{engine, ids, marks};
use crate::world::{found, hits, issue, issues, open, thread_in};

both![
    a_word_with_symbols_prefers_what_has_it_literally,
    phrases_and_prefixes_are_found,
    no_phrase_reaches_from_one_field_into_the_next,
    a_phrase_deep_in_a_long_text_is_found,
    symbols_are_found_in_quotes_in_runs_and_beside_filters,
    marks_on_latin_letters_make_no_difference,
    a_text_cannot_pretend_to_be_a_facet,
    a_word_that_is_being_typed_is_found_by_its_beginning,
    symbols_are_found_wherever_they_stand,
    nasty_queries_find_what_contains_them,
];

fn a_word_with_symbols_prefers_what_has_it_literally(place: &Place) {
    let (store, lease) = open(place);
    let page =
        vec![issue(5, 10, "the foo-bar"), issue(6, 20, "bar and foo"), issue(7, 30, "foo alone")];
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, "foo-bar"), [5, 6]);
    assert_eq!(found(&store, "foo_bar").len(), 2);
}

fn phrases_and_prefixes_are_found(place: &Place) {
    let (store, lease) = open(place);
    let page =
        vec![issue(5, 10, "oil-pump leaks again"), issue(6, 20, "leaks oil"), issue(7, 30, "leak")];
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, "\"pump leaks again\""), [5], "a literal form parts no phrase");
    assert_eq!(found(&store, "\"leaks oil\""), [6]);
    assert_eq!(found(&store, "\"oil again\""), Vec::<i64>::new());
    assert_eq!(ids(&store, "leak*"), [5, 6, 7].into());
    assert_eq!(ids(&store, "lea* agai*"), [5].into());
}

fn no_phrase_reaches_from_one_field_into_the_next(place: &Place) {
    let (store, lease) = open(place);
    let mut said = issue(5, 10, "oil pump");
    thread_in(&mut said).body = "leaks again".into();
    store.ingest(&lease, &issues(vec![said])).unwrap();
    assert_eq!(found(&store, "\"oil pump\""), [5]);
    assert_eq!(found(&store, "\"leaks again\""), [5]);
    for across in ["\"pump leaks\"", "\"again pump\"", "\"pump ada\""] {
        assert_eq!(found(&store, across), Vec::<i64>::new(), "{across}");
    }
}

/// PostgreSQL keeps no places beyond some.
fn a_phrase_deep_in_a_long_text_is_found(place: &Place) {
    let (store, lease) = open(place);
    let deep = |id, text: String| {
        let mut said = issue(id, id, "x");
        thread_in(&mut said).body = text;
        said
    };
    let words: String = (0..20_000).map(|n| format!("w{n} ")).collect();
    let often = "oil ".repeat(300);
    let said = vec![
        deep(5, format!("{words} node.js")),
        deep(6, format!("{often} and oil pump")),
        deep(7, "pump oil".into()),
    ];
    store.ingest(&lease, &issues(said)).unwrap();
    assert_eq!(found(&store, "\"w19998 w19999\""), [5]);
    assert_eq!(found(&store, "node.js"), [5]);
    assert_eq!(found(&store, "\"oil pump\""), [6]);
}

fn symbols_are_found_in_quotes_in_runs_and_beside_filters(place: &Place) {
    let (store, lease) = open(place);
    let mut closed = issue(6, 20, "plain");
    thread_in(&mut closed).state = "CLOSED".into();
    let said = vec![issue(5, 10, "std::vec -> |---|"), closed];
    store.ingest(&lease, &issues(said)).unwrap();
    for query in [":", "::", "\":\"", "->", "“->”", "-", "|---|", "|"] {
        assert_eq!(found(&store, query), [5], "{query}");
    }
    assert_eq!(found(&store, "\":\" state:closed"), Vec::<i64>::new());
}

fn marks_on_latin_letters_make_no_difference(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "Café ば"), issue(6, 11, "cafe は")])).unwrap();
    assert_eq!(ids(&store, "cafe"), [5, 6].into());
    assert_eq!(ids(&store, "CAFÉ"), [5, 6].into());
    assert_eq!(ids(&store, "ば"), [5].into());
}

fn a_text_cannot_pretend_to_be_a_facet(place: &Place) {
    let (store, lease) = open(place);
    let forged = "typeissue typediscussion \u{e000}type\u{e000}discussion";
    store.ingest(&lease, &issues(vec![issue(5, 10, forged)])).unwrap();
    assert_eq!(ids(&store, "typeissue type:discussion").len(), 0);
    assert_eq!(ids(&store, "typediscussion type:issue"), [5].into());
    assert_eq!(ids(&store, "type:discussion").len(), 0);
}

fn a_word_that_is_being_typed_is_found_by_its_beginning(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues(vec![issue(5, 10, "leaking"), issue(6, 5, "leak")])).unwrap();
    let typed = Search::new("leak");
    let ids = |search| engine(&store).search(search).unwrap().hits.into_iter().map(|it| it.id);
    assert_eq!(ids(&typed).collect::<Vec<_>>(), [6, 5], "the whole word first");
    let (ended, filtered) = (Search::new("leak "), Search::new("leak state:open"));
    assert_eq!(ids(&ended).collect::<Vec<_>>(), [6], "a space ends the word");
    assert_eq!(ids(&filtered).collect::<Vec<_>>(), [6, 5], "wherever filters stand");
    let hits = engine(&store).search(&typed).unwrap().hits;
    assert!(
        hits.iter().all(|hit| !marks(&hit.marked_title).is_empty()),
        "both are marked: {hits:?}"
    );
}

fn symbols_are_found_wherever_they_stand(place: &Place) {
    let (store, lease) = open(place);
    let page = vec![issue(5, 10, "error: x"), issue(6, 11, "C++ is"), issue(7, 12, "plain")];
    store.ingest(&lease, &issues(page)).unwrap();
    assert_eq!(found(&store, ":"), [5]);
    assert_eq!(found(&store, "++"), [6]);
    assert_eq!(found(&store, "plain ?"), [7], "beside words they are no condition");
    assert_eq!(found(&store, "plain & body"), [7]);
}

fn nasty_queries_find_what_contains_them(place: &Place) {
    let (store, lease) = open(place);
    let nasty = nasty();
    let page = nasty
        .iter()
        .zip(100..)
        .map(|(text, id)| issue(id, id, &format!("this {text} there")))
        .collect();
    store.ingest(&lease, &issues(page)).unwrap();
    for (text, id) in nasty.iter().zip(100..) {
        let found: Vec<i64> = hits(&store, text, 100).into_iter().map(|hit| hit.id).collect();
        assert!(found.contains(&id), "{text:.50?}: {found:?}");
    }
}

/// As many as a hundred for each seed.
#[test]
fn random_texts_are_queries_without_an_error() {
    let (store, lease) = open(&Place::Memory);
    let nasty = nasty();
    let page = nasty.iter().zip(100..).map(|(text, id)| issue(id, id, text)).collect();
    store.ingest(&lease, &issues(page)).unwrap();
    let engine = engine(&store);
    let seeds: u64 = option_env_seeds();
    for seed in 0..seeds * 100 {
        let query = random(&mut fastrand::Rng::with_seed(seed), &nasty);
        let search = Search::new(query.as_str());
        if let Err(error) = engine.search(&search) {
            panic!("seed {seed}: {query:?}: {error}");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a test takes is said from outside")]
fn option_env_seeds() -> u64 {
    std::env::var("HIGHWATER_SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(20)
}

/// The list that every face answers, and long ones.
fn nasty() -> Vec<String> {
    let listed: Value =
        serde_json::from_str(include_str!("../../../../../tests/nasty.json")).unwrap();
    let listed = listed["found"].as_array().unwrap().iter();
    let mut nasty: Vec<String> = listed.map(|it| it.as_str().unwrap().to_owned()).collect();
    nasty.push("ten kilobytes ".repeat(800));
    nasty.push((0..2_000).map(|n| format!("w{n} ")).collect());
    nasty
}

fn random(dice: &mut fastrand::Rng, nasty: &[String]) -> String {
    let mut text = String::new();
    for _ in 0..dice.usize(..8) {
        match dice.u32(..6) {
            0 => text.push(dice.char(..)),
            1 => text.push(char::from(dice.u8(..128))),
            2 => text.push_str(&nasty[dice.usize(..nasty.len() - 2)]),
            3 => text.push_str(
                ["repo:", "created:>=", "label:\"", "type:", "..", "2025-01-01"][dice.usize(..6)],
            ),
            4 => text.push(
                ['"', '*', ' ', ':', '(', ')', '\'', '\\', '&', '|', '!', '<'][dice.usize(..12)],
            ),
            _ => text.push_str(["leaks", "foo", "bar ", " x ", "日本"][dice.usize(..5)]),
        }
    }
    text
}
