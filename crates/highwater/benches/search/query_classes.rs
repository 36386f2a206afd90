//! The classes of queries to measure.

use crate::corpus::{COMMON_WORDS, MEDIUM_WORDS, RARE_WORDS};

/// Queries of one kind.
pub(crate) struct QueryClass {
    pub(crate) name: &'static str,
    pub(crate) queries: Vec<String>,
    /// Counts towards the promised times.
    pub(crate) is_counted: bool,
}

const QUERIES_PER_CLASS: usize = 40;

fn counted_class(name: &'static str, query: impl Fn(&mut fastrand::Rng) -> String) -> QueryClass {
    let mut rng = fastrand::Rng::with_seed(7);
    let queries = (0..QUERIES_PER_CLASS).map(|_| query(&mut rng)).collect();
    QueryClass { name, queries, is_counted: true }
}

fn uncounted_class(name: &'static str, query: impl Fn(&mut fastrand::Rng) -> String) -> QueryClass {
    QueryClass { is_counted: false, ..counted_class(name, query) }
}

pub(crate) fn all_classes() -> Vec<QueryClass> {
    vec![
        counted_class("a rare word (1 in 10,000)", rare_word),
        counted_class("a word in 2 to 8 %", medium_word),
        counted_class("a word in 30 %", common_word),
        counted_class("two rare words", |rng| format!("{} {}", rare_word(rng), rare_word(rng))),
        counted_class("a rare and a common word", |rng| {
            format!("{} {}", rare_word(rng), common_word(rng))
        }),
        counted_class("two words in 2 to 8 %", |rng| {
            format!("{} {}", medium_word(rng), medium_word(rng))
        }),
        counted_class("two words in 30 %", |rng| {
            format!("{} {}", common_word(rng), common_word(rng))
        }),
        counted_class("2 to 8 % and 30 %", |rng| {
            format!("{} {}", medium_word(rng), common_word(rng))
        }),
        counted_class("three words in 30 %", |rng| {
            format!("{} {} {}", common_word(rng), common_word(rng), common_word(rng))
        }),
        counted_class("three words in 2 to 8 %", |rng| {
            format!("{} {} {}", medium_word(rng), medium_word(rng), medium_word(rng))
        }),
        counted_class("rare, 2 to 8 %, 30 %", |rng| {
            format!("{} {} {}", rare_word(rng), medium_word(rng), common_word(rng))
        }),
        counted_class("2 to 8 %, repo:", |rng| {
            format!("{} repo:repo-{}", medium_word(rng), rng.u32(..200))
        }),
        counted_class("30 %, repo:", |rng| {
            format!("{} repo:repo-{}", common_word(rng), rng.u32(..200))
        }),
        counted_class("30 %, type:", |rng| {
            format!("{} type:{}", common_word(rng), random_type(rng))
        }),
        counted_class("30 %, state:open", |rng| format!("{} state:open", common_word(rng))),
        counted_class("30 %, type:, state:, label:", |rng| {
            format!(
                "{} type:{} state:open label:\"label {}\"",
                common_word(rng),
                random_type(rng),
                rng.u32(..20)
            )
        }),
        counted_class("30 %, author:", |rng| {
            format!("{} author:user-{}", common_word(rng), rng.u32(..300))
        }),
        counted_class("30 %, created: within a month", |rng| {
            let month = rng.u32(1..13);
            format!("{} created:2024-{month:02}-03..2024-{month:02}-28", common_word(rng))
        }),
        counted_class("30 %, created:>=", |rng| {
            format!("{} created:>=2024-{:02}-01", common_word(rng), rng.u32(1..13))
        }),
        counted_class("30 %, updated: within a month", |rng| {
            let month = rng.u32(3..12);
            format!("{} updated:2025-{month:02}-03..2025-{month:02}-28", common_word(rng))
        }),
        counted_class("2 to 8 %, type:, state:", |rng| {
            format!("{} type:{} state:open", medium_word(rng), random_type(rng))
        }),
        counted_class("two in 30 %, type:, state:", |rng| {
            format!(
                "{} {} type:{} state:open",
                common_word(rng),
                common_word(rng),
                random_type(rng)
            )
        }),
        counted_class("foo-bar…: a literal word", |rng| {
            format!("foo-bar{}", rng.usize(..RARE_WORDS))
        }),
        uncounted_class("filters alone", |rng| {
            format!("type:{} state:open repo:repo-{}", random_type(rng), rng.u32(..200))
        }),
        uncounted_class("type:comment, 30 %", |rng| format!("type:comment {}", common_word(rng))),
        uncounted_class("a phrase of two in 30 %", |rng| {
            format!("\"common{} common{}\"", rng.usize(..4), 4)
        }),
        uncounted_class("a prefix: 1 % of all words", |rng| format!("rare{}*", rng.u32(1..100))),
        uncounted_class("a prefix: every text", |_| "comm*".to_owned()),
    ]
}

fn rare_word(rng: &mut fastrand::Rng) -> String {
    format!("rare{}", rng.usize(..RARE_WORDS))
}

fn medium_word(rng: &mut fastrand::Rng) -> String {
    format!("medium{}", rng.usize(..MEDIUM_WORDS))
}

fn common_word(rng: &mut fastrand::Rng) -> String {
    format!("common{}", rng.usize(..COMMON_WORDS))
}

fn random_type(rng: &mut fastrand::Rng) -> &'static str {
    ["issue", "pull_request", "discussion"][rng.usize(..3)]
}
