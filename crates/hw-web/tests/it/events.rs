//! Pages that follow: they are told of a change, and let go at the end.

use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use crate::browser::{ask, open};
use crate::world::{World, empty_site};

/// Long enough for a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_page_is_told_when_another_process_wrote_something() {
    let world = World::new();
    let router = hw_web::router(world.site());
    let page = open(&router, "/").await;
    let stream = page.all("body")[0].attr("sse-connect").unwrap().to_owned();
    let mut events = ask(&router, "GET", &stream, &[]).await;
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    world.issue(1, "leak", "");
    let told = next(&mut events).await.unwrap();
    assert!(told.contains("event: changed\n") && told.contains("\ndata: "), "{told}");
    world.issue(2, "another", "");
    assert!(next(&mut events).await.unwrap().contains("event: changed"));
}

#[tokio::test]
async fn what_changed_between_the_page_and_its_stream_is_told_at_once() {
    let world = World::new();
    let router = hw_web::router(world.site());
    let page = open(&router, "/health").await;
    let stream = page.all("body")[0].attr("sse-connect").unwrap().to_owned();
    world.issue(1, "leak", "");
    let mut events = ask(&router, "GET", &stream, &[]).await;
    assert!(next(&mut events).await.unwrap().contains("event: changed"));
}

#[tokio::test]
async fn a_page_that_waits_for_a_workspace_learns_of_it() {
    let world = World::new();
    let router = hw_web::router(world.site());
    // what a page without a database would have been at
    let mut events = ask(&router, "GET", "/events?since=-1", &[]).await;
    assert!(next(&mut events).await.unwrap().contains("event: changed"));
}

#[tokio::test]
async fn streams_end_when_the_site_closes() {
    let (close, closing) = hw_web::closing();
    let mut site = empty_site();
    site.closing = closing;
    let router = hw_web::router(site);
    let mut events = ask(&router, "GET", "/events?since=-1", &[]).await;
    drop(close);
    assert_eq!(next(&mut events).await, None);
}

/// The next event of a stream; none when it has ended.
async fn next(events: &mut Response<Body>) -> Option<String> {
    let frame = timeout(PATIENCE, events.body_mut().frame()).await.expect("something comes")?;
    Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
}
