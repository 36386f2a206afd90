//! Pages stay bounded and complete, whatever is stored.

use axum::Router;
use scraper::ElementRef;

use crate::browser::{BrowserPage, open_page, search_url};
use crate::fixture::{WebFixture, sample_comment};
use crate::post_fixture::{PostFixture, post_at, with_links};

/// The limit for any page, in bytes.
const MAX_PAGE: usize = 3_000_000;
const THREAD: &str = "/threads/acme/pump/7";

#[tokio::test]
async fn thread_of_two_thousand_comments_comes_in_bounded_pages() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    let line = "> **he** said: <it> & \"drips\"\n\n";
    let long = line.repeat(20_000 / line.len());
    // bodies beyond the first page are short, so that storing them takes less time
    let comments = (1..=2_000)
        .map(|id| sample_comment(id, 7, if id <= 100 { &long } else { "short" }))
        .collect();
    fixture.add_comments(comments);
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, THREAD).await;
    assert!(page.text.len() < MAX_PAGE, "{}", page.text.len());
    assert_eq!(page.select_all(".comment").len(), 100);
    assert_eq!(page.element_text("#comments-title"), "2,000 comments");
}

#[tokio::test]
async fn thread_pages_together_show_every_comment_once() {
    let (_fixture, router) = long_thread(250);
    let mut seen = Vec::new();
    for number in 1..=3 {
        let page = open_page(&router, &format!("{THREAD}?page={number}")).await;
        assert_eq!(page.select_all(".pager span").len(), 2, "above and below");
        assert!(page.text.contains(&format!("page {number} of 3")));
        assert_eq!(page.has_element("#body"), number == 1);
        assert_eq!(page.has_element("[rel=prev]"), number > 1);
        assert_eq!(page.has_element("[rel=next]"), number < 3);
        seen.extend(comment_anchors(&page));
    }
    assert_eq!(seen, (1..=250).map(|id| format!("issuecomment-{id}")).collect::<Vec<_>>());
    for odd in ["0", "-1", "x", "99999999999999999999"] {
        assert_eq!(open_page(&router, &format!("{THREAD}?page={odd}")).await.status, 200, "{odd}");
    }
    assert_eq!(comment_anchors(&open_page(&router, &format!("{THREAD}?page=9")).await).len(), 50);
}

#[tokio::test]
async fn thread_page_updates_the_page_that_it_shows() {
    let (_fixture, router) = long_thread(250);
    let page = open_page(&router, &format!("{THREAD}?page=3")).await;
    let live = page.select_all("#thread")[0].attr("hx-get").unwrap().to_owned();
    assert_eq!(live, format!("{THREAD}?live=true&page=3"));
    assert_eq!(comment_anchors(&open_page(&router, &live).await), comment_anchors(&page));
}

#[tokio::test]
async fn posts_of_any_size_come_in_bounded_pages() {
    let fixture = PostFixture::new();
    let urls: Vec<String> =
        (0..32).map(|number| format!("https://{number}.test/{}", "&".repeat(480))).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let text = "<".repeat(64 << 10);
    let posts: Vec<_> = (0..60)
        .map(|number| with_links(post_at("alice", &format!("a{number}"), number, &text), &urls))
        .collect();
    fixture.read_feed("alice", &posts);
    let router = fixture.router();
    for path in ["/posts", "/trending", "/?q=type:post"] {
        let page = open_page(&router, path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(page.text.len() < MAX_PAGE, "{path}: {}", page.text.len());
    }
    assert_eq!(open_page(&router, "/posts").await.select_all(".post").len(), 50);
}

#[tokio::test]
async fn search_hit_in_a_comment_links_to_the_page_that_has_it() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "");
    let mut comments: Vec<_> =
        (1..=250).map(|id| sample_comment(id, 7, &format!("comment {id}"))).collect();
    comments[229].body = "a narwhal".to_owned();
    fixture.add_comments(comments);
    let router = hw_web::build_router(fixture.site_options());
    let hit = open_page(&router, "/search?q=narwhal").await;
    let href = hit.select_all(".hit-link")[0].attr("href").unwrap().to_owned();
    let (path, anchor) = href.split_once('#').unwrap();
    let page = open_page(&router, path).await;
    assert!(comment_anchors(&page).contains(&anchor.to_owned()), "{href}");
    assert!(page.text.contains("page 3 of 3") && page.text.contains("a narwhal"));
    let unknown = open_page(&router, &format!("{THREAD}?at=issuecomment-999")).await;
    assert!(unknown.text.contains("page 1 of 3"));
}

#[tokio::test]
async fn thread_cuts_a_long_body_and_shows_all_of_it_on_its_own_page() {
    let fixture = WebFixture::new();
    let rows: String = (0..3_000).map(|row| format!("| row {row} | cell |\n")).collect();
    let table = format!("| a | b |\n|---|---|\n{rows}");
    fixture.add_issue(7, "The valve leaks", &table);
    fixture.add_comments(vec![sample_comment(1, 7, "short"), sample_comment(2, 7, &table)]);
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, THREAD).await;
    let links = page.select_all(".folded a");
    let kilobytes = table.len().div_ceil(1_000);
    let labels: Vec<String> = links.iter().map(|link| link.text().collect()).collect();
    assert_eq!(labels, [format!("Show all {kilobytes} kB"), format!("Show all {kilobytes} kB")]);
    assert!(page.has_element("#body table") && !page.text.contains("row 2999"));
    let rows = page.select_all("#body tr");
    let last_row = rows.last().unwrap();
    assert_eq!(last_row.text().filter(|text| text.contains("cell")).count(), 1);
    for link in links {
        let href = link.attr("href").unwrap();
        let whole = open_page(&router, &format!("{THREAD}{href}")).await;
        assert!(whole.has_element(".prose table") && whole.text.contains("row 2999"), "{href}");
        assert_eq!(whole.select_all(".prose").len(), 1);
        assert!(whole.has_element("#whole-thread") && !whole.has_element(".folded"), "{href}");
    }
}

#[tokio::test]
async fn thread_shows_a_body_of_any_length_in_parts() {
    let fixture = WebFixture::new();
    let body: String = (0..100_000).map(|line| format!("line {line} <é>\n\n")).collect();
    fixture.add_issue(7, "The valve leaks", &body);
    let router = hw_web::build_router(fixture.site_options());
    let (mut next, mut shown) = (Some(format!("{THREAD}?item=body")), String::new());
    let mut parts = 0;
    while let Some(path) = next {
        let page = open_page(&router, &path).await;
        assert!(page.text.len() < MAX_PAGE, "{}", page.text.len());
        shown.extend(page.select_all("#body > p:not(.folded)").iter().flat_map(ElementRef::text));
        next = page
            .select_all(".folded a")
            .first()
            .map(|link| format!("{THREAD}{}", link.attr("href").unwrap()));
        parts += 1;
    }
    assert!(parts > 1, "the body is longer than a page");
    assert_eq!(shown, body.replace('\n', ""));
    for odd in ["from=x", "from=-1", "from=99999999", "from=13"] {
        assert_eq!(
            open_page(&router, &format!("{THREAD}?item=body&{odd}")).await.status,
            200,
            "{odd}"
        );
    }
}

#[tokio::test]
async fn thread_page_is_bounded_for_dense_markup() {
    let dense: [String; 4] = [
        format!("{}\n{}\n{}", "|a".repeat(3_000), "|-".repeat(3_000), "|\n".repeat(4_000)),
        "*a* ".repeat(10_000),
        "<".repeat(50_000),
        format!("[x]: https://a.example/{}\n\n{}", "y".repeat(900), "[x] ".repeat(4_000)),
    ];
    let fixture = WebFixture::new();
    fixture.add_issue(7, &"<t>".repeat(100_000), &dense[0]);
    let comments = (1..=100).zip(dense.iter().cycle()).map(|(id, body)| {
        let mut comment = sample_comment(id, 7, body);
        comment.author = Some("\"".repeat(10_000));
        comment.path = Some("<".repeat(10_000));
        comment
    });
    fixture.add_comments(comments.collect());
    let router = hw_web::build_router(fixture.site_options());
    for path in [THREAD, "/threads/acme/pump/7?item=body", "/search?q=t"] {
        let page = open_page(&router, path).await;
        assert_eq!(page.status, 200);
        assert!(page.text.len() < MAX_PAGE, "{path}: {}", page.text.len());
    }
}

#[tokio::test]
async fn search_page_is_bounded_for_any_query() {
    let fixture = WebFixture::new();
    (1..=12).for_each(|number| fixture.add_issue(number, "The valve leaks", ""));
    let router = hw_web::build_router(fixture.site_options());
    let many_filters: String = (0..1_900).map(|number| format!("repo:p{number} ")).collect();
    for query in [many_filters, "type:\" ".repeat(2_900), "valve \"".repeat(2_900)] {
        for path in ["/", "/search"] {
            let page = open_page(&router, &search_url(path, &query)).await;
            assert_eq!(page.status, 200);
            assert!(page.text.len() < MAX_PAGE, "{path}: {}", page.text.len());
        }
    }
}

/// Creates a thread of many comments. The caller keeps the fixture, because dropping it deletes the database.
fn long_thread(comments: i64) -> (WebFixture, Router) {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "The valve leaks", "It drips.");
    fixture.add_comments(
        (1..=comments).map(|id| sample_comment(id, 7, &format!("comment {id}"))).collect(),
    );
    let router = hw_web::build_router(fixture.site_options());
    (fixture, router)
}

fn comment_anchors(page: &BrowserPage) -> Vec<String> {
    page.select_all(".comment")
        .iter()
        .map(|comment| comment.value().id().unwrap().to_owned())
        .collect()
}
