//! Any text is a valid query.

use serde_json::Value;

use crate::browser::{open_page, search_url};
use crate::fixture::WebFixture;

#[tokio::test]
async fn queries_of_the_nasty_list_find_the_texts_that_contain_them() {
    let fixture = WebFixture::new();
    let mut found = read_queries("found");
    found.push("long text ".repeat(1_000));
    for (number, query) in (1..).zip(&found) {
        fixture.add_issue(
            number,
            &format!("Case {number:03}"),
            &format!("case{number:03} {query} after"),
        );
    }
    let router = hw_web::build_router(fixture.site_options());
    for (number, query) in (1..).zip(&found) {
        for page in ["/", "/search"] {
            let page = open_page(&router, &search_url(page, query)).await;
            assert_eq!(page.status, 200, "{query:.40}");
            assert!(page.has_element(".hit"), "{query:.40}");
        }
        // other texts may rank higher, so a unique word precedes the query
        let page =
            open_page(&router, &search_url("/search", &format!("case{number:03} {query}"))).await;
        let title = format!("Case {number:03}");
        let hits = page.select_all(".hit");
        let is_found = hits.iter().any(|hit| hit.text().collect::<String>().contains(&title));
        assert!(is_found, "{query:.40}");
    }
    for query in read_queries("empty") {
        let page = open_page(&router, &search_url("/search", &query)).await;
        assert_eq!((page.status, page.has_element(".hit")), (200, false), "{query:?}");
    }
}

fn read_queries(name: &str) -> Vec<String> {
    let lists: Value = serde_json::from_str(include_str!("../../../../tests/nasty.json")).unwrap();
    let texts = lists[name].as_array().unwrap().iter();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn search_notes_misread_filters() {
    let fixture = WebFixture::new();
    fixture.add_issue(1, "type bug", "it drips");
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, &search_url("/search", "type:bug")).await;
    assert_eq!(page.select_all(".hit").len(), 1, "the words are searched as text");
    let warning = page.element_text(".misread");
    assert_eq!(
        warning,
        "type:bug is not a valid filter (use issue, pr, discussion, comment or post); searching for it as text"
    );
    assert!(
        !open_page(&router, &search_url("/search", "bug type:issue")).await.has_element(".misread")
    );
}

#[tokio::test]
async fn search_without_matches_offers_to_drop_only_filters_that_were_used() {
    let fixture = WebFixture::new();
    fixture.add_issue(1, "leak", "it drips");
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, &search_url("/search", "leak state:opne repo:nonesuch")).await;
    assert_eq!(page.element_text(".droppable p"), "Try without:");
    assert_eq!(page.element_text(".droppable button"), "repo:nonesuch");
    assert_eq!(page.select_all(".droppable button").len(), 1, "{}", page.text);
    assert!(!page.text.contains("chip-also-1"), "only repo:nonesuch is a filter: {}", page.text);
}

#[tokio::test]
async fn search_without_matches_speaks_of_words_only_if_the_query_has_some() {
    let fixture = WebFixture::new();
    fixture.add_issue(1, "leak", "it drips");
    let router = hw_web::build_router(fixture.site_options());
    for (query, has_words) in [("repo:nonesuch", false), ("flood repo:nonesuch", true)] {
        let page = open_page(&router, &search_url("/search", query)).await;
        let message = page.element_text("#no-result");
        assert_eq!(message.contains("All words must"), has_words, "{query}: {message}");
    }
}

#[tokio::test]
async fn queries_of_random_text_are_answered() {
    let fixture = WebFixture::new();
    fixture.add_issue(1, "leak", "it drips");
    let router = hw_web::build_router(fixture.site_options());
    for seed in 1..=1_000 {
        let query = random_text(seed);
        let path = format!("{}&unfinished=true", search_url("/search", &query));
        let page = open_page(&router, &path).await;
        assert_eq!(page.status, 200, "seed {seed}: {query:?}");
        assert!(page.has_element("#filters"), "seed {seed}: {query:?}");
    }
}

/// Creates a text of letters, characters and words with a meaning in queries, and arbitrary characters.
fn random_text(seed: u64) -> String {
    const SIGNS: &str = "\"'*():^-+~<>&;%#@/\\{}[]|=!?.,\0\n\t ";
    const WORDS: [&str; 9] =
        ["AND", "OR", "NOT", "NEAR", "type:", "repo:a", "created:>=", "title", "leak"];
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut text = String::new();
    for _ in 0..rng.usize(0..30) {
        match rng.u8(0..4) {
            0 => text.push(rng.alphanumeric()),
            1 => text.extend(rng.choice(SIGNS.bytes()).map(char::from)),
            2 => text.extend(rng.choice(WORDS)),
            _ => text.push(rng.char(..)),
        }
    }
    text
}
