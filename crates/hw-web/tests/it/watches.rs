//! The page of watches and their events.

use std::collections::BTreeSet;

use hw_rules::followed_source::RepositoryName;
use hw_rules::item::{Comment, ThreadKind};
use hw_rules::repository_key::{Host, RepositoryId};
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::{WatchId, WatchMode, WatchState, WatchSubject};
use hw_store::{
    ConsumerRead, ConsumerStart, NewConsumer, NewWatch, ResolvedThread, WatchResolution,
    WorkerIdentity,
};

use crate::browser::{BrowserPage, open_page, send_request};
use crate::fixture::{WebFixture, empty_site, sample_comment};

#[tokio::test]
async fn watches_page_shows_watches_threads_consumers_and_events() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "A `leak`", "It drips.");
    watch_issue(&fixture, 7);
    fixture.add_comments(vec![sample_comment(31, 7, "first\nline"), bot_comment(32)]);
    let new =
        NewConsumer { name: "triage".to_owned(), start: ConsumerStart::Beginning, max_tries: 5 };
    fixture.store.add_consumer(&new, 0).unwrap();
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/watches").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.element_text("nav a[aria-current]"), "Watches");
    assert_eq!(page.element_text("#watches-title"), "1 watch");
    let watch = texts(&page, "[aria-labelledby=watches-title] tbody");
    assert_eq!(watch, ["acme/pump#7 issue active 1970-01-01 00:00:10 UTC 1 thread"]);
    let threads = texts(&page, "[aria-labelledby=threads-title] tbody");
    assert_eq!(threads, ["acme/pump#7 A leak awaiting feedback complete"]);
    let consumers = texts(&page, "[aria-labelledby=consumers-title] tbody");
    assert_eq!(consumers, ["triage 1 0 0"]);
    assert_eq!(
        texts(&page, ".post .hit-head"),
        [
            "ignored: bot comment by robot[bot] acme/pump#7 1970-01-01 00:00:32 UTC",
            "feedback comment by bob acme/pump#7 1970-01-01 00:00:31 UTC",
        ]
    );
    assert_eq!(page.select_all(".post-text")[1].inner_html(), "first\nline");
    let hrefs = hrefs(&page, "main a");
    for href in [
        "/threads/acme/pump/7",
        "/watches?thread=acme%2Fpump%237",
        "https://github.com/acme/pump/issues/7#issuecomment-31",
    ] {
        assert!(hrefs.iter().any(|found| found == href), "{href}: {hrefs:?}");
    }
    assert!(page.element_text("#no-service").contains("No service is running"));
}

#[tokio::test]
async fn watches_page_filters_events_and_updates_what_it_shows() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "A leak", "");
    watch_issue(&fixture, 7);
    fixture.add_comments(vec![sample_comment(31, 7, "first"), bot_comment(32)]);
    let router = hw_web::build_router(fixture.site_options());
    for (query, expected) in [
        ("?class=feedback", &["first"][..]),
        ("?class=ignored", &["beep"]),
        ("?thread=acme/pump%237", &["beep", "first"]),
        ("?thread=Acme/Pump", &["beep", "first"]),
        ("?thread=acme/pump%239", &[]),
        ("?thread=acme/valve", &[]),
        ("?class=x&before=x&thread=%00", &["beep", "first"]),
        ("?before=2", &["first"]),
    ] {
        let page = open_page(&router, &format!("/watches{query}")).await;
        assert_eq!(texts(&page, ".post-text"), expected, "{query}");
    }
    let page = open_page(&router, "/watches?class=feedback&thread=acme/pump%237").await;
    assert_eq!(page.element_text("main .filters a[aria-current]"), "feedback");
    assert_eq!(page.element_text("#events-title"), "Events of acme/pump#7");
    let live = page.select_all("#watches")[0].attr("hx-get").unwrap().to_owned();
    assert_eq!(live, "/watches?live=true&class=feedback&thread=acme%2Fpump%237");
    let stream = page.select_all("body")[0].attr("sse-connect").unwrap().to_owned();
    fixture.add_comments(vec![sample_comment(33, 7, "second")]);
    let events = send_request(&router, "GET", &stream, &[]).await;
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    let fragment = open_page(&router, &live).await;
    assert!(!fragment.has_element("h1"));
    assert_eq!(texts(&fragment, ".post-text"), ["second", "first"]);
}

#[tokio::test]
async fn watches_pages_together_show_every_event_once() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "A leak", "");
    watch_issue(&fixture, 7);
    let comments = (100..220).map(|id| sample_comment(id, 7, &format!("text {id}")));
    fixture.add_comments(comments.collect());
    let router = hw_web::build_router(fixture.site_options());
    let (mut seen, mut path, mut pages) = (Vec::new(), "/watches".to_owned(), 0);
    loop {
        let page = open_page(&router, &path).await;
        seen.extend(texts(&page, ".post-text"));
        pages += 1;
        assert_eq!(page.has_element("#newest"), pages > 1);
        match hrefs(&page, "#older").pop() {
            Some(next) => path = next,
            None => break,
        }
    }
    assert_eq!((pages, seen.len()), (3, 120));
    let unique: BTreeSet<&String> = seen.iter().collect();
    assert_eq!(unique.len(), 120);
}

#[tokio::test]
async fn watches_page_explains_what_is_missing_and_what_is_wrong() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/watches").await;
    assert!(page.element_text("#no-watches").contains("highwater watch add"), "{}", page.text);
    fixture.add_issue(7, "A leak", "");
    let watch = watch_issue(&fixture, 7);
    let problem = "not found, or this token has no access <b>";
    fixture.store.set_watch_state(watch, WatchState::Gone, Some(problem)).unwrap();
    let service = WorkerIdentity {
        id: "s".to_owned(),
        machine: "here".to_owned(),
        process: 41,
        version: "1".to_owned(),
        role: "service".to_owned(),
    };
    let running = fixture.store.register_worker(&service, 0).unwrap();
    let page = open_page(&router, "/watches").await;
    assert_eq!(page.element_text(".lane-error"), problem);
    assert!(page.has_element(".lane-failing") && !page.has_element("#no-service"));
    assert_eq!(page.element_text("#no-events"), "No events yet.");
    drop(running);
    assert!(open_page(&router, "/watches").await.has_element("#no-service"));
    let page = open_page(&hw_web::build_router(empty_site()), "/watches").await;
    assert!(page.has_element("#no-workspace"));
}

#[tokio::test]
async fn watches_page_shows_dead_letters_and_escapes_hostile_texts() {
    let fixture = WebFixture::new();
    fixture.add_issue(7, "<script>alert(1)</script>", "");
    watch_issue(&fixture, 7);
    let hostile = Comment {
        url: "javascript:alert(1)".to_owned(),
        author: Some("<img src=x>".to_owned()),
        ..sample_comment(31, 7, "<script>alert(2)</script>\u{202e}")
    };
    fixture.add_comments(vec![hostile]);
    let new = NewConsumer { name: "a".to_owned(), start: ConsumerStart::Beginning, max_tries: 1 };
    fixture.store.add_consumer(&new, 0).unwrap();
    for now_ms in [0, 10] {
        let read = ConsumerRead {
            consumer: "a".to_owned(),
            limit: 1,
            lease_token: "t".to_owned(),
            lease_ms: 1,
            now_ms,
        };
        fixture.store.lease_events(&read).unwrap();
    }
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/watches").await;
    assert_eq!(texts(&page, "[aria-labelledby=consumers-title] tbody.lane-failing"), ["a 0 0 1"]);
    assert!(!page.text.contains("<script>alert") && !page.text.contains("<img"), "{}", page.text);
    assert!(!page.text.contains("href=\"javascript") && !page.text.contains('\u{202e}'));
    assert_eq!(texts(&page, ".post-text"), ["<script>alert(2)</script>"]);
}

#[tokio::test]
async fn watches_page_has_ids_that_are_unique_and_outlive_an_update() {
    let fixture = WebFixture::new();
    for number in [7, 8] {
        fixture.add_issue(number, "A leak", "");
        watch_issue(&fixture, number);
    }
    fixture.add_comments(vec![sample_comment(31, 7, "first"), sample_comment(32, 8, "second")]);
    let router = hw_web::build_router(fixture.site_options());
    let before = ids(&open_page(&router, "/watches").await);
    let unique: BTreeSet<&String> = before.iter().collect();
    assert_eq!(unique.len(), before.len(), "{before:?}");
    fixture.add_comments(vec![sample_comment(33, 7, "third")]);
    let after = ids(&open_page(&router, "/watches").await);
    let lost: Vec<_> = before.iter().filter(|id| !after.contains(id)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// Watches an issue of `acme/pump` from second 10 on, as the service would.
fn watch_issue(fixture: &WebFixture, number: i64) -> WatchId {
    let name = RepositoryName::from_known("acme", "pump");
    let subject = WatchSubject { repository: name.clone(), number: Some(number), label: None };
    let new = NewWatch {
        host: Host::from("github.com"),
        subject,
        mode: WatchMode::Feedback,
        start: None,
        source_issue: None,
    };
    let id = fixture.store.add_watch(&new, 0).unwrap().watch.id;
    let resolution = WatchResolution {
        repository_id: RepositoryId(1),
        repository: name,
        thread: Some(ResolvedThread {
            number,
            kind: ThreadKind::Issue,
            node_id: format!("I_{number}"),
            title: "A `leak`".to_owned(),
        }),
        source_issue: None,
        floor: SourceInstant(10_000),
    };
    fixture.store.resolve_watch(id, &resolution).unwrap();
    while !fixture.store.derive_stored_events(id, 100).unwrap() {}
    id
}

fn bot_comment(id: i64) -> Comment {
    Comment { author: Some("robot[bot]".to_owned()), ..sample_comment(id, 7, "beep") }
}

fn ids(page: &BrowserPage) -> Vec<String> {
    let elements = page.select_all("[id]").into_iter();
    elements.map(|element| element.attr("id").unwrap().to_owned()).collect()
}

fn texts(page: &BrowserPage, selector: &str) -> Vec<String> {
    let elements = page.select_all(selector).into_iter();
    let words = elements.map(|element| element.text().collect::<String>());
    words.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn hrefs(page: &BrowserPage, selector: &str) -> Vec<String> {
    let links = page.select_all(selector).into_iter();
    links.map(|link| link.attr("href").unwrap().to_owned()).collect()
}
