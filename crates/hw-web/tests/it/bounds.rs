//! Pages stay small and complete, whatever is stored.

use axum::Router;
use scraper::ElementRef;

use crate::browser::{Page, open, searched};
use crate::world::{World, comment};

/// No page is longer.
const MAX_PAGE: usize = 3_000_000;
const THREAD: &str = "/threads/acme/pump/7";

#[tokio::test]
async fn thread_of_two_thousand_comments_comes_in_bounded_pages() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let line = "> **he** said: <it> & \"drips\"\n\n";
    let long = line.repeat(20_000 / line.len());
    // what is not on the first page is short, for the sake of the time that it takes to store
    let body = |id| if id <= 100 { long.as_str() } else { "short" };
    world.comments((1..=2_000).map(|id| comment(id, 7, body(id))).collect());
    let router = hw_web::router(world.site());
    let page = open(&router, THREAD).await;
    assert!(page.text.len() < MAX_PAGE, "{}", page.text.len());
    assert_eq!(page.all(".said").len(), 100);
    assert_eq!(page.says("#comments-title"), "2,000 comments");
}

#[tokio::test]
async fn thread_pages_together_show_every_comment_once() {
    let (_world, router) = long_thread(250);
    let mut seen = Vec::new();
    for number in 1..=3 {
        let page = open(&router, &format!("{THREAD}?page={number}")).await;
        assert_eq!(page.all(".pager span").len(), 2, "above and below");
        assert!(page.text.contains(&format!("page {number} of 3")));
        assert_eq!(page.has("#body"), number == 1);
        assert_eq!(page.has("[rel=prev]"), number > 1);
        assert_eq!(page.has("[rel=next]"), number < 3);
        seen.extend(anchors(&page));
    }
    assert_eq!(seen, (1..=250).map(|id| format!("issuecomment-{id}")).collect::<Vec<_>>());
    for odd in ["0", "-1", "x", "99999999999999999999"] {
        assert_eq!(open(&router, &format!("{THREAD}?page={odd}")).await.status, 200, "{odd}");
    }
    assert_eq!(anchors(&open(&router, &format!("{THREAD}?page=9")).await).len(), 50);
}

#[tokio::test]
async fn thread_page_follows_what_it_shows() {
    let (_world, router) = long_thread(250);
    let page = open(&router, &format!("{THREAD}?page=3")).await;
    let live = page.all("#thread")[0].attr("hx-get").unwrap().to_owned();
    assert_eq!(live, format!("{THREAD}?live=true&page=3"));
    assert_eq!(anchors(&open(&router, &live).await), anchors(&page));
}

#[tokio::test]
async fn search_hit_in_a_comment_leads_to_the_page_that_has_it() {
    let world = World::new();
    world.issue(7, "The valve leaks", "");
    let body = |id| if id == 230 { "a narwhal".to_owned() } else { format!("said {id}") };
    world.comments((1..=250).map(|id| comment(id, 7, &body(id))).collect());
    let router = hw_web::router(world.site());
    let hit = open(&router, "/search?q=narwhal").await;
    let href = hit.all(".hit-link")[0].attr("href").unwrap().to_owned();
    let (path, anchor) = href.split_once('#').unwrap();
    let page = open(&router, path).await;
    assert!(anchors(&page).contains(&anchor.to_owned()), "{href}");
    assert!(page.text.contains("page 3 of 3") && page.text.contains("a narwhal"));
    let unknown = open(&router, &format!("{THREAD}?at=issuecomment-999")).await;
    assert!(unknown.text.contains("page 1 of 3"));
}

#[tokio::test]
async fn thread_folds_a_long_body_and_shows_all_of_it_alone() {
    let world = World::new();
    let rows: String = (0..3_000).map(|row| format!("| row {row} | cell |\n")).collect();
    let table = format!("| a | b |\n|---|---|\n{rows}");
    world.issue(7, "The valve leaks", &table);
    world.comments(vec![comment(1, 7, "short"), comment(2, 7, &table)]);
    let router = hw_web::router(world.site());
    let page = open(&router, THREAD).await;
    let links = page.all(".folded a");
    let kilobytes = table.len().div_ceil(1_000);
    let labels: Vec<String> = links.iter().map(|it| it.text().collect()).collect();
    assert_eq!(labels, [format!("Show all {kilobytes} kB"), format!("Show all {kilobytes} kB")]);
    assert!(page.has("#body table") && !page.text.contains("row 2999"));
    assert_eq!(
        page.all("#body tr").last().unwrap().text().filter(|it| it.contains("cell")).count(),
        1
    );
    for link in links {
        let href = link.attr("href").unwrap();
        let whole = open(&router, &format!("{THREAD}{href}")).await;
        assert!(whole.has(".prose table") && whole.text.contains("row 2999"), "{href}");
        assert_eq!(whole.all(".prose").len(), 1);
        assert!(whole.has("#whole-thread") && !whole.has(".folded"), "{href}");
    }
}

#[tokio::test]
async fn thread_shows_a_body_of_any_length_in_parts() {
    let world = World::new();
    let body: String = (0..100_000).map(|line| format!("line {line} <é>\n\n")).collect();
    world.issue(7, "The valve leaks", &body);
    let router = hw_web::router(world.site());
    let (mut next, mut shown) = (Some(format!("{THREAD}?item=body")), String::new());
    let mut parts = 0;
    while let Some(path) = next {
        let page = open(&router, &path).await;
        assert!(page.text.len() < MAX_PAGE, "{}", page.text.len());
        shown.extend(page.all("#body > p:not(.folded)").iter().flat_map(ElementRef::text));
        next =
            page.all(".folded a").first().map(|it| format!("{THREAD}{}", it.attr("href").unwrap()));
        parts += 1;
    }
    assert!(parts > 1, "it is longer than a page");
    assert_eq!(shown, body.replace('\n', ""));
    for odd in ["from=x", "from=-1", "from=99999999", "from=13"] {
        assert_eq!(open(&router, &format!("{THREAD}?item=body&{odd}")).await.status, 200, "{odd}");
    }
}

#[tokio::test]
async fn thread_page_is_bounded_by_markup_whatever_was_written() {
    let dense: [String; 4] = [
        format!("{}\n{}\n{}", "|a".repeat(3_000), "|-".repeat(3_000), "|\n".repeat(4_000)),
        "*a* ".repeat(10_000),
        "<".repeat(50_000),
        format!("[x]: https://a.example/{}\n\n{}", "y".repeat(900), "[x] ".repeat(4_000)),
    ];
    let world = World::new();
    world.issue(7, &"<t>".repeat(100_000), &dense[0]);
    let comments = (1..=100).zip(dense.iter().cycle()).map(|(id, body)| {
        let mut said = comment(id, 7, body);
        said.author = Some("\"".repeat(10_000));
        said.path = Some("<".repeat(10_000));
        said
    });
    world.comments(comments.collect());
    let router = hw_web::router(world.site());
    for path in [THREAD, "/threads/acme/pump/7?item=body", "/search?q=t"] {
        let page = open(&router, path).await;
        assert_eq!(page.status, 200);
        assert!(page.text.len() < MAX_PAGE, "{path}: {}", page.text.len());
    }
}

#[tokio::test]
async fn search_page_is_bounded_whatever_is_asked() {
    let world = World::new();
    (1..=12).for_each(|number| world.issue(number, "The valve leaks", ""));
    let router = hw_web::router(world.site());
    let many_filters: String = (0..1_900).map(|number| format!("repo:p{number} ")).collect();
    for query in [many_filters, "type:\" ".repeat(2_900), "valve \"".repeat(2_900)] {
        for path in ["/", "/search"] {
            let page = open(&router, &searched(path, &query)).await;
            assert_eq!(page.status, 200);
            assert!(page.text.len() < MAX_PAGE, "{path}: {}", page.text.len());
        }
    }
}

/// The file is there as long as the world is.
fn long_thread(comments: i64) -> (World, Router) {
    let world = World::new();
    world.issue(7, "The valve leaks", "It drips.");
    world.comments((1..=comments).map(|id| comment(id, 7, &format!("said {id}"))).collect());
    let router = hw_web::router(world.site());
    (world, router)
}

fn anchors(page: &Page) -> Vec<String> {
    page.all(".said").iter().map(|it| it.value().id().unwrap().to_owned()).collect()
}
