//! Any text is a query, and none is an error.

use scraper::ElementRef;
use serde_json::Value;

use crate::browser::{open, searched};
use crate::world::World;

#[tokio::test]
async fn every_nasty_query_is_answered_and_finds_what_contains_it() {
    let world = World::new();
    let mut found = listed("found");
    found.push("long text ".repeat(1_000));
    for (number, query) in (1..).zip(&found) {
        world.issue(
            number,
            &format!("Case {number:03}"),
            &format!("case{number:03} {query} after"),
        );
    }
    let router = hw_web::router(world.site());
    for (number, query) in (1..).zip(&found) {
        for page in ["/", "/search"] {
            let page = open(&router, &searched(page, query)).await;
            assert_eq!(page.status, 200, "{query:.40}");
            assert!(page.has(".hit"), "{query:.40}");
        }
        // the first page of many may show others, so it is told apart by a word before it
        let page = open(&router, &searched("/search", &format!("case{number:03} {query}"))).await;
        let title = format!("Case {number:03}");
        let is_it = |hit: &ElementRef<'_>| hit.text().collect::<String>().contains(&title);
        assert!(page.all(".hit").iter().any(is_it), "{query:.40}");
    }
    for query in listed("empty") {
        let page = open(&router, &searched("/search", &query)).await;
        assert_eq!((page.status, page.has(".hit")), (200, false), "{query:?}");
    }
}

fn listed(name: &str) -> Vec<String> {
    let listed: Value = serde_json::from_str(include_str!("../../../../tests/nasty.json")).unwrap();
    let texts = listed[name].as_array().unwrap().iter();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_filter_that_is_none_is_told() {
    let world = World::new();
    world.issue(1, "type bug", "it drips");
    let router = hw_web::router(world.site());
    let page = open(&router, &searched("/search", "type:bug")).await;
    assert_eq!(page.all(".hit").len(), 1, "it is looked for all the same");
    let told = page.says(".misread");
    assert_eq!(told, "type:bug was taken for words: type: wants issue, pr, discussion or comment");
    assert!(!open(&router, &searched("/search", "bug type:issue")).await.has(".misread"));
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
