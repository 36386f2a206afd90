//! Event streams: pages are notified of changes, and streams end at shutdown.

use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use crate::browser::{open_page, send_request};
use crate::fixture::{WebFixture, empty_site};
use crate::post_fixture::{PostFixture, post_at};

/// Long enough for a busy machine.
const EVENT_TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn sse_notifies_a_page_when_another_process_writes() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/").await;
    let stream = page.select_all("body")[0].attr("sse-connect").unwrap().to_owned();
    let mut events = send_request(&router, "GET", &stream, &[]).await;
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    fixture.add_issue(1, "leak", "");
    let event = next_event(&mut events).await.unwrap();
    assert!(event.contains("event: changed\n") && event.contains("\ndata: "), "{event}");
    fixture.add_issue(2, "another", "");
    assert!(next_event(&mut events).await.unwrap().contains("event: changed"));
}

#[tokio::test]
async fn sse_reports_changes_between_the_page_and_its_stream_at_once() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    let page = open_page(&router, "/health").await;
    let stream = page.select_all("body")[0].attr("sse-connect").unwrap().to_owned();
    fixture.add_issue(1, "leak", "");
    let mut events = send_request(&router, "GET", &stream, &[]).await;
    assert!(next_event(&mut events).await.unwrap().contains("event: changed"));
}

#[tokio::test]
async fn sse_notifies_the_pages_of_posts_when_a_feed_is_read() {
    let fixture = PostFixture::new();
    let router = fixture.router();
    for path in ["/posts", "/trending"] {
        let page = open_page(&router, path).await;
        let stream = page.select_all("body")[0].attr("sse-connect").unwrap().to_owned();
        let mut events = send_request(&router, "GET", &stream, &[]).await;
        fixture.read_feed("alice", &[post_at("alice", path.trim_start_matches('/'), 100, "new")]);
        let event = next_event(&mut events).await.unwrap();
        assert!(event.contains("event: changed"), "{path}: {event}");
    }
}

#[tokio::test]
async fn sse_notifies_a_page_when_its_workspace_appears() {
    let fixture = WebFixture::new();
    let router = hw_web::build_router(fixture.site_options());
    // the change number of a page without a database
    let mut events = send_request(&router, "GET", "/events?since=-1", &[]).await;
    assert!(next_event(&mut events).await.unwrap().contains("event: changed"));
}

#[tokio::test]
async fn sse_streams_end_at_shutdown() {
    let site = empty_site();
    let shutdown = site.shutdown.clone();
    let router = hw_web::build_router(site);
    let mut events = send_request(&router, "GET", "/events?since=-1", &[]).await;
    shutdown.cancel();
    assert_eq!(next_event(&mut events).await, None);
}

/// Waits for the next event of a stream; returns none when it has ended.
async fn next_event(events: &mut Response<Body>) -> Option<String> {
    let frame = timeout(EVENT_TIMEOUT, events.body_mut().frame())
        .await
        .expect("an event within the timeout")?;
    Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
}
