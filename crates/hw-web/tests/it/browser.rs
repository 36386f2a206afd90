//! Asks for pages, and reads them as a browser does.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use http_body_util::BodyExt as _;
use scraper::{ElementRef, Html, Selector};
use tower::ServiceExt as _;

use crate::world::HOST;

/// A page as it came.
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) html: Html,
}

/// Asks for an address with some headers.
pub(crate) async fn ask(
    router: &Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Response<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if headers.iter().all(|(name, _)| *name != "host") {
        request = request.header("host", HOST);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

pub(crate) async fn open(router: &Router, path: &str) -> Page {
    let answer = ask(router, "GET", path, &[]).await;
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let html = Html::parse_document(&text);
    Page { status, text, html }
}

/// The address of a search for any text.
pub(crate) fn searched(page: &str, query: &str) -> String {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("{page}?q={encoded}")
}

impl Page {
    pub(crate) fn all(&self, selector: &str) -> Vec<ElementRef<'_>> {
        self.html.select(&Selector::parse(selector).unwrap()).collect()
    }

    /// What the one element that is meant says.
    pub(crate) fn says(&self, selector: &str) -> String {
        let all = self.all(selector);
        assert_eq!(all.len(), 1, "{selector} in {}", self.text);
        let words: String = all[0].text().collect();
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn has(&self, selector: &str) -> bool {
        !self.all(selector).is_empty()
    }
}
