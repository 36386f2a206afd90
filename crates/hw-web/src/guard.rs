//! Middleware that rejects foreign and non-reading requests, and adds security headers to every response.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app_state::AppState;

const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const FOREIGN_PAGE: &str = "highwater does not answer requests from pages of other sites.\n";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

const SECURITY_HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, PAGE_POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

pub(crate) async fn guard_request(
    State(site): State<Arc<AppState>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match reject_request(&site, &request) {
        Some(rejection) => rejection,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // the content may be private, and is soon outdated
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn reject_request(site: &AppState, request: &Request) -> Option<Response> {
    let host =
        header_text(request.headers(), &HOST).or_else(|| Some(request.uri().authority()?.as_str()));
    if !host.is_some_and(|host| site.hosts.is_allowed(host)) {
        let message = "highwater does not answer requests for this host name.\n\
                       Open the address that highwater printed when it started, or allow the name with \
                       `highwater ui --allow-host NAME`.\n";
        return Some((StatusCode::MISDIRECTED_REQUEST, message).into_response());
    }
    let mut origins = request.headers().get_all(ORIGIN).iter();
    if !origins.all(|origin| site.hosts.is_allowed_origin(origin.to_str().unwrap_or_default())) {
        return Some((StatusCode::FORBIDDEN, FOREIGN_PAGE).into_response());
    }
    if is_foreign_fetch(request.headers()) {
        return Some((StatusCode::FORBIDDEN, FOREIGN_PAGE).into_response());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let message = "This site is read-only: only GET and HEAD requests are allowed.\n";
        let headers = [(ALLOW, "GET, HEAD")];
        return Some((StatusCode::METHOD_NOT_ALLOWED, headers, message).into_response());
    }
    None
}

/// Checks whether the browser reports that a page of another site made this request.
///
/// A GET request carries an `Origin` only when a script made it; images and frames of foreign pages have none. But
/// browsers send `Sec-Fetch-Site` with every request to this machine. Another port is another origin of the same
/// site, so `same-site` is foreign as well. Following a link is allowed: the page with the link never sees the
/// response. Programs and older browsers do not send these headers.
fn is_foreign_fetch(headers: &HeaderMap) -> bool {
    let is_navigation = headers.contains_key(&FETCH_MODE)
        && has_only(headers, &FETCH_MODE, &["navigate"])
        && headers.contains_key(&FETCH_DEST)
        && has_only(headers, &FETCH_DEST, &["document"]);
    !has_only(headers, &FETCH_SITE, &["same-origin", "none"]) && !is_navigation
}

/// Checks whether a header is absent, or has only these values.
fn has_only(headers: &HeaderMap, name: &HeaderName, allowed: &[&str]) -> bool {
    let mut values = headers.get_all(name).iter();
    values.all(|value| value.to_str().is_ok_and(|value| allowed.contains(&value)))
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
