//! Compares filters, exclusions and alternatives with set operations on the texts themselves.

use std::collections::BTreeSet;

use hw_rules::item::{CommentKind, ThreadKind};
use hw_store::{DatabaseLocation, LeasedStore, SearchRequest, StoreReader};

use super::search_engine;
use crate::fixture::{
    PUMP_ID, as_thread_mut, comment, open_store, thread_in_repository, threads_page,
};

both![
    filters_select_exactly_the_matching_threads,
    query_exclusions_are_differences_and_alternatives_are_unions,
    query_that_excludes_everything_finds_nothing,
];

/// The words of the texts. `leak` is a prefix of `leaks`, and `pan` of `panic`.
const WORDS: [&str; 10] =
    ["crash", "leak", "leaks", "panic", "pan", "valve", "tide", "gauge", "report", "night"];
const LABELS: [&str; 3] = ["bug", "docs", "wontfix"];

/// A thread as the test knows it.
struct ExpectedThread {
    kind: ThreadKind,
    id: i64,
    state: &'static str,
    labels: Vec<&'static str>,
    /// The words of the thread, followed by those of each comment.
    texts: Vec<Vec<&'static str>>,
}

/// Decides whether a thread matches a filter.
type ThreadPredicate = fn(&ExpectedThread) -> bool;

impl ExpectedThread {
    /// Returns true if one text has all of these words; the last one matches as a prefix.
    fn has_words(&self, words: &[&str]) -> bool {
        let Some((last, others)) = words.split_last() else { return true };
        self.texts.iter().any(|text| {
            others.iter().all(|word| text.contains(word))
                && text.iter().any(|word| word.starts_with(last))
        })
    }

    fn key(&self) -> (&'static str, i64) {
        (self.kind.name(), self.id)
    }
}

fn filters_select_exactly_the_matching_threads(location: &DatabaseLocation) {
    let (threads, store) = random_threads(location, 7);
    let filters: [(&str, ThreadPredicate); 5] = [
        ("state:open", |thread| thread.state == "OPEN"),
        ("state:closed", |thread| thread.state == "CLOSED"),
        ("type:issue", |thread| thread.kind == ThreadKind::Issue),
        ("label:bug", |thread| thread.labels.contains(&"bug")),
        ("type:pr -label:docs", |thread| {
            thread.kind == ThreadKind::PullRequest && !thread.labels.contains(&"docs")
        }),
    ];
    for word in ["crash", "leak", "tide", "report", "night"] {
        for (filter, matches) in filters {
            let expected =
                threads.iter().filter(|thread| thread.has_words(&[word]) && matches(thread));
            let expected: BTreeSet<_> = expected.map(ExpectedThread::key).collect();
            assert!(!expected.is_empty(), "{word} {filter} matches nothing");
            assert_eq!(
                search_keys(&store, &format!("{word} {filter}")),
                expected,
                "{word} {filter}"
            );
            assert_eq!(
                search_keys(&store, &format!("{filter} {word}")),
                expected,
                "{filter} {word}"
            );
        }
    }
}

fn query_exclusions_are_differences_and_alternatives_are_unions(location: &DatabaseLocation) {
    let (threads, store) = random_threads(location, 11);
    let rounds = if matches!(location, DatabaseLocation::Postgres { .. }) { 60 } else { 1_000 };
    let mut rng = fastrand::Rng::with_seed(23);
    let mut excluded = 0;
    for round in 0..rounds {
        let mut words = WORDS;
        rng.shuffle(&mut words);
        let [a, b, c, ..] = words;
        let with = |words: &[&str]| keys_with_words(&threads, words);
        let (query, expected) = match rng.u8(..5) {
            0 => (format!("{a} -{b}"), &with(&[a]) - &with(&[a, b])),
            1 => (format!("NOT {b} {a}"), &with(&[a]) - &with(&[a, b])),
            2 => (format!("{a} OR {b}"), &with(&[a]) | &with(&[b])),
            3 => (format!("{a} OR {b} {c}"), &with(&[a, c]) | &with(&[b, c])),
            _ => (format!("{a} {c} -{b}"), &with(&[a, c]) - &with(&[a, c, b])),
        };
        excluded += threads.len() - expected.len();
        assert_eq!(search_keys(&store, &query), expected, "round {round}: {query}");
    }
    assert!(excluded > 0, "no query excluded anything");
}

fn query_that_excludes_everything_finds_nothing(location: &DatabaseLocation) {
    let (_, store) = random_threads(location, 3);
    assert!(search_keys(&store, "crash state:open -state:open").is_empty());
    assert!(search_keys(&store, "-crash").is_empty(), "there is nothing to exclude it from");
}

fn keys_with_words(threads: &[ExpectedThread], words: &[&str]) -> BTreeSet<(&'static str, i64)> {
    threads.iter().filter(|thread| thread.has_words(words)).map(ExpectedThread::key).collect()
}

/// Returns the keys of all hits.
fn search_keys(store: &StoreReader, query: &str) -> BTreeSet<(&'static str, i64)> {
    let search = SearchRequest { limit: 100_000, ..SearchRequest::new(query) };
    let found = search_engine(store).search(&search).unwrap();
    found.hits.iter().map(|hit| (hit.kind.name(), hit.id)).collect()
}

/// Ingests random threads; `HIGHWATER_SEARCH_THREADS` sets their number.
fn random_threads(location: &DatabaseLocation, seed: u64) -> (Vec<ExpectedThread>, LeasedStore) {
    let store = open_store(location);
    let mut rng = fastrand::Rng::with_seed(seed);
    #[expect(clippy::disallowed_methods, reason = "a test's environment is its argument")]
    let size = std::env::var("HIGHWATER_SEARCH_THREADS").map_or(300, |size| size.parse().unwrap());
    let threads: Vec<ExpectedThread> = (1..=size).map(|id| random_thread(&mut rng, id)).collect();
    for chunk in threads.chunks(500) {
        ingest_threads(&store, chunk);
    }
    (threads, store)
}

fn random_thread(rng: &mut fastrand::Rng, id: i64) -> ExpectedThread {
    ExpectedThread {
        kind: ThreadKind::ALL[rng.usize(..3)],
        id,
        state: if rng.bool() { "OPEN" } else { "CLOSED" },
        labels: LABELS.into_iter().filter(|_| rng.u8(..3) == 0).collect(),
        texts: (0..=rng.usize(..5)).map(|_| random_text(rng)).collect(),
    }
}

fn random_text(rng: &mut fastrand::Rng) -> Vec<&'static str> {
    (0..rng.usize(1..4)).map(|_| WORDS[rng.usize(..WORDS.len())]).collect()
}

fn ingest_threads(store: &LeasedStore, threads: &[ExpectedThread]) {
    for kind in ThreadKind::ALL {
        let of_kind = threads.iter().filter(|thread| thread.kind == kind);
        let rows = of_kind.map(|ExpectedThread { id, state, labels, texts, .. }| {
            let text = texts[0].join(" ");
            let mut row = thread_in_repository(kind, PUMP_ID, "pump", *id, *id, &text);
            let thread = as_thread_mut(&mut row);
            thread.state = (*state).to_owned();
            thread.labels = labels.iter().map(|label| (*label).to_owned()).collect();
            row
        });
        store.ingest_page(&threads_page(kind, rows.collect())).unwrap();
    }
    let comments = threads.iter().flat_map(|thread| {
        let texts = thread.texts.iter().enumerate().skip(1);
        texts.map(|(index, text)| {
            let id = thread.id * 10 + i64::try_from(index).unwrap();
            comment(CommentKind::Conversation, id, thread.id, thread.id, &text.join(" "))
        })
    });
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.collect())).unwrap();
}
