//! What is looked for.

use crate::world::{COMMON, MEDIUM, RARE};

/// Queries of one sort.
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) queries: Vec<String>,
    /// Whether the promises are about it.
    pub(crate) is_counted: bool,
}

const EACH: usize = 40;

fn class(name: &'static str, query: impl Fn(&mut fastrand::Rng) -> String) -> Class {
    let mut dice = fastrand::Rng::with_seed(7);
    let queries = (0..EACH).map(|_| query(&mut dice)).collect();
    Class { name, queries, is_counted: true }
}

fn uncounted(name: &'static str, query: impl Fn(&mut fastrand::Rng) -> String) -> Class {
    Class { is_counted: false, ..class(name, query) }
}

pub(crate) fn all() -> Vec<Class> {
    vec![
        class("a rare word (1 in 10,000)", rare),
        class("a word in 2 to 8 %", medium),
        class("a word in 30 %", common),
        class("two rare words", |dice| format!("{} {}", rare(dice), rare(dice))),
        class("a rare and a common word", |dice| format!("{} {}", rare(dice), common(dice))),
        class("two words in 2 to 8 %", |dice| format!("{} {}", medium(dice), medium(dice))),
        class("two words in 30 %", |dice| format!("{} {}", common(dice), common(dice))),
        class("2 to 8 % and 30 %", |dice| format!("{} {}", medium(dice), common(dice))),
        class("three words in 30 %", |dice| {
            format!("{} {} {}", common(dice), common(dice), common(dice))
        }),
        class("three words in 2 to 8 %", |dice| {
            format!("{} {} {}", medium(dice), medium(dice), medium(dice))
        }),
        class("rare, 2 to 8 %, 30 %", |dice| {
            format!("{} {} {}", rare(dice), medium(dice), common(dice))
        }),
        class("2 to 8 %, repo:", |dice| format!("{} repo:repo-{}", medium(dice), dice.u32(..200))),
        class("30 %, repo:", |dice| format!("{} repo:repo-{}", common(dice), dice.u32(..200))),
        class("30 %, type:", |dice| format!("{} type:{}", common(dice), sort(dice))),
        class("30 %, state:open", |dice| format!("{} state:open", common(dice))),
        class("30 %, type:, state:, label:", |dice| {
            format!(
                "{} type:{} state:open label:\"label {}\"",
                common(dice),
                sort(dice),
                dice.u32(..20)
            )
        }),
        class("30 %, author:", |dice| format!("{} author:user-{}", common(dice), dice.u32(..300))),
        class("30 %, created: within a month", |dice| {
            let month = dice.u32(1..13);
            format!("{} created:2024-{month:02}-03..2024-{month:02}-28", common(dice))
        }),
        class("30 %, created:>=", |dice| {
            format!("{} created:>=2024-{:02}-01", common(dice), dice.u32(1..13))
        }),
        class("30 %, updated: within a month", |dice| {
            let month = dice.u32(3..12);
            format!("{} updated:2025-{month:02}-03..2025-{month:02}-28", common(dice))
        }),
        class("2 to 8 %, type:, state:", |dice| {
            format!("{} type:{} state:open", medium(dice), sort(dice))
        }),
        class("two in 30 %, type:, state:", |dice| {
            format!("{} {} type:{} state:open", common(dice), common(dice), sort(dice))
        }),
        class("foo-bar…: a literal word", |dice| format!("foo-bar{}", dice.usize(..RARE))),
        uncounted("filters alone", |dice| {
            format!("type:{} state:open repo:repo-{}", sort(dice), dice.u32(..200))
        }),
        uncounted("type:comment, 30 %", |dice| format!("type:comment {}", common(dice))),
        uncounted("a phrase of two in 30 %", |dice| {
            format!("\"common{} common{}\"", dice.usize(..4), 4)
        }),
        uncounted("a prefix: 1 % of all words", |dice| format!("rare{}*", dice.u32(1..100))),
        uncounted("a prefix: every text", |_| "comm*".to_owned()),
    ]
}

fn rare(dice: &mut fastrand::Rng) -> String {
    format!("rare{}", dice.usize(..RARE))
}

fn medium(dice: &mut fastrand::Rng) -> String {
    format!("medium{}", dice.usize(..MEDIUM))
}

fn common(dice: &mut fastrand::Rng) -> String {
    format!("common{}", dice.usize(..COMMON))
}

fn sort(dice: &mut fastrand::Rng) -> &'static str {
    ["issue", "pull_request", "discussion"][dice.usize(..3)]
}
