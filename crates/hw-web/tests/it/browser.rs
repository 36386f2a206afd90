//! Requests pages and parses them as a browser does.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use http_body_util::BodyExt as _;
use scraper::{ElementRef, Html, Selector};
use tower::ServiceExt as _;

use crate::fixture::HOST;

/// A response, parsed as HTML.
pub(crate) struct BrowserPage {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) html: Html,
}

/// Sends a request with some headers.
pub(crate) async fn send_request(
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

pub(crate) async fn open_page(router: &Router, path: &str) -> BrowserPage {
    let response = send_request(router, "GET", path, &[]).await;
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let html = Html::parse_document(&text);
    BrowserPage { status, text, html }
}

/// Returns the URL of a search for any text.
pub(crate) fn search_url(page: &str, query: &str) -> String {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("{page}?q={encoded}")
}

impl BrowserPage {
    pub(crate) fn select_all(&self, selector: &str) -> Vec<ElementRef<'_>> {
        self.html.select(&Selector::parse(selector).unwrap()).collect()
    }

    /// Returns the text of the only element that matches.
    pub(crate) fn element_text(&self, selector: &str) -> String {
        let all = self.select_all(selector);
        assert_eq!(all.len(), 1, "{selector} in {}", self.text);
        let text: String = all[0].text().collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn has_element(&self, selector: &str) -> bool {
        !self.select_all(selector).is_empty()
    }
}
