//! Any text is a query, and none is an error.

use crate::browser::{open, searched};
use crate::world::World;

const NASTY: [&str; 24] = [
    "foo-bar",
    "node.js",
    "C++",
    "#123",
    "@user",
    "it's",
    "\"unbalanced",
    "a AND",
    "OR",
    "NEAR(",
    "*",
    ":",
    "title:",
    "é",
    "日本語",
    "👩‍👧",
    "x",
    "",
    "type:",
    "type:issue",
    "\\",
    "%",
    "a\0b",
    "\u{202e}",
];

#[tokio::test]
async fn any_text_is_answered_on_both_pages() {
    let world = World::new();
    world.issue(1, "foo-bar node.js C++ #123 @user it's", "é 日本語 👩‍👧 x a OR AND NEAR");
    let router = hw_web::router(world.site());
    let long = "long text ".repeat(1_000);
    for query in NASTY.into_iter().chain([long.as_str()]) {
        for page in ["/", "/search"] {
            let page = open(&router, &searched(page, query)).await;
            assert_eq!(page.status, 200, "{query:?}");
        }
    }
    for query in ["foo-bar", "node.js", "C++", "#123", "@user", "it's", "é", "日本", "x"] {
        let page = open(&router, &searched("/search", query)).await;
        assert_eq!(page.all(".hit").len(), 1, "{query:?}");
    }
}

#[tokio::test]
async fn a_thousand_random_texts_are_answered() {
    let world = World::new();
    world.issue(1, "leak", "it drips");
    let router = hw_web::router(world.site());
    for seed in 1..=1_000 {
        let query = random(seed);
        let path = format!("{}&unfinished=true", searched("/search", &query));
        let page = open(&router, &path).await;
        assert_eq!(page.status, 200, "seed {seed}: {query:?}");
        assert!(page.has("#filters"), "seed {seed}: {query:?}");
    }
}

/// A text of letters, signs that mean something somewhere, and whatever else there is.
fn random(seed: u64) -> String {
    const SIGNS: &str = "\"'*():^-+~<>&;%#@/\\{}[]|=!?.,\0\n\t ";
    const WORDS: [&str; 9] =
        ["AND", "OR", "NOT", "NEAR", "type:", "repo:a", "created:>=", "title", "leak"];
    let mut dice = fastrand::Rng::with_seed(seed);
    let mut text = String::new();
    for _ in 0..dice.usize(0..30) {
        match dice.u8(0..4) {
            0 => text.push(dice.alphanumeric()),
            1 => text.extend(dice.choice(SIGNS.bytes()).map(char::from)),
            2 => text.extend(dice.choice(WORDS)),
            _ => text.push(dice.char(..)),
        }
    }
    text
}
