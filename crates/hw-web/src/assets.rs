//! `/assets/…`: the files that pages need, which are in the program itself.

use axum::body::Body;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::asked::Asked;

#[derive(RustEmbed)]
#[folder = "assets"]
struct Files;

/// A name with the digest of what it stands for never means anything else.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const ASK_FIRST: &str = "no-cache";

/// Where a page finds a file: the address changes with what is in it.
pub(crate) fn link(name: &str) -> String {
    let version = Files::get(name).map(|file| version(&file)).unwrap_or_default();
    format!("/assets/{name}?v={version}")
}

pub(crate) async fn file(
    name: Result<Path<String>, PathRejection>,
    asked: Asked,
    headers: HeaderMap,
) -> Response {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    sent(&name, asked.get("v"), &headers)
}

/// Browsers ask for it by themselves.
pub(crate) async fn favicon(headers: HeaderMap) -> Response {
    sent("favicon.svg", None, &headers)
}

fn sent(name: &str, asked: Option<&str>, headers: &HeaderMap) -> Response {
    let Some(file) = Files::get(name) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    let version = version(&file);
    let cache = if asked == Some(&*version) { FOR_EVER } else { ASK_FIRST };
    let tag = format!("\"{version}\"");
    let known = headers.get(IF_NONE_MATCH).and_then(|held| held.to_str().ok());
    let answer = [(CACHE_CONTROL, cache), (ETAG, &tag), (CONTENT_TYPE, kind(name))];
    if known.is_some_and(|held| held.split(',').any(|held| held.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, answer).into_response();
    }
    (answer, Body::from(file.data)).into_response()
}

fn version(file: &EmbeddedFile) -> String {
    let digest = file.metadata.sha256_hash();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
