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
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let why = "Nothing can be changed here: only GET and HEAD are answered.\n";
        return Some((StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")], why).into_response());
    }
    None
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
