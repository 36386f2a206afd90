//! What every request passes, and what every answer carries.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::site::Shared;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

const HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, POLICY),
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

pub(crate) async fn guard(
    State(site): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let mut answer = match refusal(&site, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // what is held may be private, and is soon old
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

fn refusal(site: &Shared, request: &Request) -> Option<Response> {
    let host = text(request.headers(), &HOST).or_else(|| Some(request.uri().authority()?.as_str()));
    if !host.is_some_and(|host| site.hosts.is_ours(host)) {
        let why = "This is highwater, and it does not answer under that name.\n\
                   Open it by the address that it printed; `highwater ui --allow-host NAME` adds a name.\n";
        return Some((StatusCode::MISDIRECTED_REQUEST, why).into_response());
    }
    let origins = request.headers().get_all(ORIGIN).iter();
    if !origins.map(|it| it.to_str().unwrap_or_default()).all(|it| site.hosts.is_our_origin(it)) {
        let why = "This is highwater, and it does not answer to pages from elsewhere.\n";
        return Some((StatusCode::FORBIDDEN, why).into_response());
    }
    if is_foreign_fetch(request.headers()) {
        let why = "This is highwater, and it does not answer to pages from elsewhere.\n";
        return Some((StatusCode::FORBIDDEN, why).into_response());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let why = "Nothing can be changed here: only GET and HEAD are answered.\n";
        return Some((StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")], why).into_response());
    }
    None
}

/// Whether a browser says that a page from elsewhere made this request.
///
/// A GET has an `Origin` only where a script made it: an image or a frame from elsewhere has none. But browsers name
/// the site of whoever asks in every request to this machine. Another port is another origin of the same site, so
/// `same-site` is foreign as well. A link that somebody follows is not: the page with the link never sees the answer.
/// Programs, and older browsers, send no such header.
fn is_foreign_fetch(headers: &HeaderMap) -> bool {
    let all_are = |name: &HeaderName, known: &[&str]| {
        let mut values = headers.get_all(name).iter();
        values.all(|value| value.to_str().is_ok_and(|value| known.contains(&value)))
    };
    let is_navigation = headers.contains_key(&FETCH_MODE)
        && all_are(&FETCH_MODE, &["navigate"])
        && headers.contains_key(&FETCH_DEST)
        && all_are(&FETCH_DEST, &["document"]);
    !all_are(&FETCH_SITE, &["same-origin", "none"]) && !is_navigation
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
