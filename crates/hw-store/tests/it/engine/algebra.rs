//! Filters, exclusions and alternatives as sets: the expected ones come from the texts themselves.

use std::collections::BTreeSet;

use hw_rules::item::Kind;
use hw_store::{Lease, Place, Search, Store};

use super::engine;
use crate::world::{PUMP, comment, open, thread_in, thread_of, threads};

both![
    filters_find_exactly_those_of_all_matches_that_fulfil_them,
    exclusions_and_alternatives_are_differences_and_unions,
    state_that_is_left_out_whole_finds_nothing,
];

/// `leak` is the beginning of `leaks`, and `pan` of `panic`.
const WORDS: [&str; 10] =
    ["crash", "leak", "leaks", "panic", "pan", "valve", "tide", "gauge", "report", "night"];
const LABELS: [&str; 3] = ["bug", "docs", "wontfix"];

/// A thread as the test knows it.
struct Told {
    kind: Kind,
    id: i64,
    state: &'static str,
    labels: Vec<&'static str>,
    /// Its own words, and those of each comment.
    texts: Vec<Vec<&'static str>>,
}

/// Whether a thread fulfils a filter.
type Fulfils = fn(&Told) -> bool;

impl Told {
    /// Whether one text has all of these words; the last one may be the beginning of one.
    fn has(&self, words: &[&str]) -> bool {
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

fn filters_find_exactly_those_of_all_matches_that_fulfil_them(place: &Place) {
    let (world, store) = world(place, 7);
    let fulfils: [(&str, Fulfils); 5] = [
        ("state:open", |it| it.state == "OPEN"),
        ("state:closed", |it| it.state == "CLOSED"),
        ("type:issue", |it| it.kind == Kind::Issue),
        ("label:bug", |it| it.labels.contains(&"bug")),
        ("type:pr -label:docs", |it| it.kind == Kind::PullRequest && !it.labels.contains(&"docs")),
    ];
    for word in ["crash", "leak", "tide", "report", "night"] {
        for (filter, fulfils) in fulfils {
            let expected = world.iter().filter(|it| it.has(&[word]) && fulfils(it));
            let expected: BTreeSet<_> = expected.map(Told::key).collect();
            assert!(!expected.is_empty(), "{word} {filter} is common");
            assert_eq!(found(&store, &format!("{word} {filter}")), expected, "{word} {filter}");
            assert_eq!(found(&store, &format!("{filter} {word}")), expected, "{filter} {word}");
        }
    }
}

fn exclusions_and_alternatives_are_differences_and_unions(place: &Place) {
    let (world, store) = world(place, 11);
    let rounds = if matches!(place, Place::Postgres { .. }) { 60 } else { 1_000 };
    let mut dice = fastrand::Rng::with_seed(23);
    let mut left_out = 0;
    for round in 0..rounds {
        let mut words = WORDS;
        dice.shuffle(&mut words);
        let [a, b, c, ..] = words;
        let all = |words: &[&str]| -> BTreeSet<_> {
            world.iter().filter(|it| it.has(words)).map(Told::key).collect()
        };
        let (query, expected) = match dice.u8(..5) {
            0 => (format!("{a} -{b}"), &all(&[a]) - &all(&[a, b])),
            1 => (format!("NOT {b} {a}"), &all(&[a]) - &all(&[a, b])),
            2 => (format!("{a} OR {b}"), &all(&[a]) | &all(&[b])),
            3 => (format!("{a} OR {b} {c}"), &all(&[a, c]) | &all(&[b, c])),
            _ => (format!("{a} {c} -{b}"), &all(&[a, c]) - &all(&[a, c, b])),
        };
        left_out += world.len() - expected.len();
        assert_eq!(found(&store, &query), expected, "round {round}: {query}");
    }
    assert!(left_out > 0, "nothing was ever left out");
}

fn state_that_is_left_out_whole_finds_nothing(place: &Place) {
    let (_, store) = world(place, 3);
    assert!(found(&store, "crash state:open -state:open").is_empty());
    assert!(found(&store, "-crash").is_empty(), "there is nothing that it could be left out of");
}

/// Everything that is found, however much it is.
fn found(store: &Store, query: &str) -> BTreeSet<(&'static str, i64)> {
    let search = Search { limit: 100_000, ..Search::new(query) };
    let found = engine(store).search(&search).unwrap();
    found.hits.iter().map(|hit| (hit.kind.name(), hit.id)).collect()
}

/// `HIGHWATER_SEARCH_THREADS` makes it larger.
fn world(place: &Place, seed: u64) -> (Vec<Told>, Store) {
    let (store, lease) = open(place);
    let mut dice = fastrand::Rng::with_seed(seed);
    #[expect(clippy::disallowed_methods, reason = "a test's environment is its argument")]
    let size = std::env::var("HIGHWATER_SEARCH_THREADS").map_or(300, |it| it.parse().unwrap());
    let world: Vec<Told> = (1..=size).map(|id| told(&mut dice, id)).collect();
    for some in world.chunks(500) {
        keep(&store, &lease, some);
    }
    (world, store)
}

fn told(dice: &mut fastrand::Rng, id: i64) -> Told {
    let text = |dice: &mut fastrand::Rng| {
        (0..dice.usize(1..4)).map(|_| WORDS[dice.usize(..WORDS.len())]).collect()
    };
    Told {
        kind: Kind::THREADS[dice.usize(..3)],
        id,
        state: if dice.bool() { "OPEN" } else { "CLOSED" },
        labels: LABELS.into_iter().filter(|_| dice.u8(..3) == 0).collect(),
        texts: (0..=dice.usize(..5)).map(|_| text(dice)).collect(),
    }
}

fn keep(store: &Store, lease: &Lease, some: &[Told]) {
    for kind in Kind::THREADS {
        let of_kind = some.iter().filter(|it| it.kind == kind);
        let rows = of_kind.map(|it| {
            let mut row = thread_of(kind, PUMP, "pump", it.id, it.id, &it.texts[0].join(" "));
            let thread = thread_in(&mut row);
            it.state.clone_into(&mut thread.state);
            thread.labels = it.labels.iter().map(|label| (*label).to_owned()).collect();
            row
        });
        store.ingest(lease, &threads(kind, rows.collect())).unwrap();
    }
    let said = some.iter().flat_map(|it| {
        let texts = it.texts.iter().enumerate().skip(1);
        texts.map(|(at, text)| {
            let id = it.id * 10 + i64::try_from(at).unwrap();
            comment(Kind::IssueComment, id, it.id, it.id, &text.join(" "))
        })
    });
    store.ingest(lease, &threads(Kind::IssueComment, said.collect())).unwrap();
}
