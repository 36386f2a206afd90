//! `/assets/…`: serves the files that pages need, which are embedded in the program.

use axum::body::Body;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::query_params::QueryParams;

#[derive(RustEmbed)]
#[folder = "assets"]
struct AssetFiles;

/// A URL with the digest of its content never serves anything else.
const CACHE_FOREVER: &str = "public, max-age=31536000, immutable";
const CACHE_REVALIDATE: &str = "no-cache";

/// Returns the URL of a file; it changes with the file's content.
pub(crate) fn asset_url(name: &str) -> String {
    let version = AssetFiles::get(name).map(|file| asset_version(&file)).unwrap_or_default();
    format!("/assets/{name}?v={version}")
}

pub(crate) async fn serve_asset(
    name: Result<Path<String>, PathRejection>,
    params: QueryParams,
    headers: HeaderMap,
) -> Response {
    let name = name.map(|Path(name)| name).unwrap_or_default();
    asset_response(&name, params.get("v"), &headers)
}

/// Serves the icon that browsers request on their own.
pub(crate) async fn serve_favicon(headers: HeaderMap) -> Response {
    asset_response("favicon.svg", None, &headers)
}

fn asset_response(name: &str, requested_version: Option<&str>, headers: &HeaderMap) -> Response {
    let Some(file) = AssetFiles::get(name) else {
        return (StatusCode::NOT_FOUND, "File not found.\n").into_response();
    };
    let version = asset_version(&file);
    let cache = if requested_version == Some(&*version) { CACHE_FOREVER } else { CACHE_REVALIDATE };
    let tag = format!("\"{version}\"");
    let cached = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
    let headers = [(CACHE_CONTROL, cache), (ETAG, &tag), (CONTENT_TYPE, content_type(name))];
    if cached.is_some_and(|tags| tags.split(',').any(|cached| cached.trim() == tag)) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    (headers, Body::from(file.data)).into_response()
}

fn asset_version(file: &EmbeddedFile) -> String {
    let digest = file.metadata.sha256_hash();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}
