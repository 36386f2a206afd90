//! Builds conditional REST requests and reads their responses.

use http::header::{self, HeaderName};
use http::{HeaderValue, Method};
use hw_rules::rate_limit::ApiKind;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use secrecy::SecretString;

use super::limits;
use super::request_headers;
use crate::error::SourceError;
use crate::json_repair;
use crate::query::ApiEndpoint;
use crate::raw_json::RawDocument;
use crate::response_meta::ResponseMeta;
use crate::transport::{HttpRequest, HttpResponse};

/// The URL of the REST API, and the token to use there.
#[derive(Debug, Clone)]
pub struct RestEndpoint {
    /// Without a slash at its end.
    pub url: String,
    /// Printable ASCII.
    pub token: SecretString,
}

/// A GET request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestRequest {
    /// From its first slash on, with the query.
    pub path: String,
    /// The etag of the last response for the same path.
    pub etag: Option<String>,
}

/// A usable response.
#[derive(Debug, Clone, PartialEq)]
pub struct RestResponse {
    pub content: RestContent,
    pub meta: ResponseMeta,
    /// Only a 200 has one: the one on a 304 is formatted differently.
    pub etag: Option<String>,
    pub next_link: NextLink,
}

#[derive(Debug, Clone, PartialEq)]
pub enum RestContent {
    /// Unchanged since the response with the etag that was sent.
    NotModified,
    Document(RawDocument),
    /// It has another address now: it was renamed or transferred.
    Moved(String),
    /// It was deleted, or is switched off. The text is the server's.
    Gone(String),
}

/// The link to the next page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextLink {
    Present,
    Absent,
    /// There is no `Link` header at all.
    Unknown,
}

pub(super) const GITHUB_JSON: HeaderValue = HeaderValue::from_static("application/vnd.github+json");
pub(super) const API_VERSION: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-github-api-version"), HeaderValue::from_static("2022-11-28"));

impl RestEndpoint {
    /// Builds the HTTP request.
    pub fn build_request(&self, request: &RestRequest) -> HttpRequest {
        let mut headers = request_headers::common_headers(&self.token, GITHUB_JSON);
        headers.extend([API_VERSION]);
        // without a usable etag, the response is a whole document
        let etag = request.etag.as_deref().and_then(|etag| HeaderValue::from_str(etag).ok());
        headers.extend(etag.map(|etag| (header::IF_NONE_MATCH, etag)));
        let url = format!("{}{}", self.url, request.path);
        HttpRequest { method: Method::GET, url, headers, body: None }
    }
}

impl ApiEndpoint for RestEndpoint {
    type Request = RestRequest;
    type Response = RestResponse;
    const API: ApiKind = ApiKind::Rest;

    fn encode_request(&self, request: &RestRequest) -> HttpRequest {
        self.build_request(request)
    }

    fn decode_response(response: &HttpResponse) -> Result<RestResponse, SourceError> {
        read_response(response)
    }

    fn meta_mut(response: &mut RestResponse) -> &mut ResponseMeta {
        &mut response.meta
    }
}

/// Reads a response; fails if it is unusable as a whole.
pub fn read_response(response: &HttpResponse) -> Result<RestResponse, SourceError> {
    if response.status == 304 {
        let meta = limits::read_meta(response, 0)?;
        let (content, next_link) = (RestContent::NotModified, read_next_link(response));
        return Ok(RestResponse { content, meta, etag: None, next_link });
    }
    if let Some(content) = read_departure(response) {
        let (meta, next_link) = (limits::read_meta(response, 1)?, NextLink::Unknown);
        return Ok(RestResponse { content, meta, etag: None, next_link });
    }
    if let Some(error) = limits::error_from_status(response) {
        return Err(error);
    }
    let document = json_repair::parse_repaired(&response.body)
        .map_err(|error| SourceError::not_the_expected_json(&error))?;
    let meta = limits::read_meta(response, 1)?;
    Ok(RestResponse {
        content: RestContent::Document(document.value),
        meta: ResponseMeta { replaced_chars: document.replaced_chars, ..meta },
        etag: response.header("etag").filter(|_| response.status == 200).map(str::to_owned),
        next_link: read_next_link(response),
    })
}

/// Reads a response that says what became of the requested object.
fn read_departure(response: &HttpResponse) -> Option<RestContent> {
    match response.status {
        301 | 302 | 307 | 308 => {
            response.header("location").map(str::to_owned).map(RestContent::Moved)
        }
        410 => Some(RestContent::Gone(limits::read_error_message(response))),
        _ => None,
    }
}

fn read_next_link(response: &HttpResponse) -> NextLink {
    let Some(links) = response.header("link") else { return NextLink::Unknown };
    // the parameters of a link follow its URL, which is in angle brackets
    let mut parameters = links
        .split(',')
        .filter_map(|link| Some(link.rsplit_once('>')?.1))
        .flat_map(|parameters| parameters.split(';'));
    if parameters.any(|parameter| matches!(parameter.trim(), r#"rel="next""# | "rel=next")) {
        NextLink::Present
    } else {
        NextLink::Absent
    }
}

impl RestContent {
    /// Returns the document; none if it was not modified. Whatever moved or is gone cannot be read at all.
    pub(super) fn document(&self) -> Result<Option<&RawDocument>, SourceError> {
        match self {
            Self::NotModified => Ok(None),
            Self::Document(document) => Ok(Some(document)),
            Self::Moved(to) => Err(SourceError::InvalidRequest(format!("it redirects to {to}"))),
            Self::Gone(text) => Err(SourceError::hidden(text)),
        }
    }
}

impl RestResponse {
    pub fn date(&self) -> SourceInstant {
        self.meta.date()
    }

    /// Returns the observation time of the objects in this response.
    pub fn observed_at(&self) -> ObservedAt {
        self.meta.observed_at
    }
}

#[cfg(test)]
#[path = "rest_tests.rs"]
mod tests;
