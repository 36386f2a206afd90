//! Builds XRPC requests and reads their responses.

use std::sync::{Arc, PoisonError, RwLock};

use http::header::{self, CONTENT_TYPE};
use http::{HeaderMap, Method};
use hw_rules::rate_limit::ApiKind;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::PageCursor;
use secrecy::{ExposeSecret, SecretString};

use super::xrpc_error;
use crate::error::SourceError;
use crate::json_repair;
use crate::query::{ApiEndpoint, Query};
use crate::raw_json::{RawDocument, RawNode};
use crate::request_headers::{JSON, USER_AGENT, bearer_value};
use crate::response_meta::ResponseMeta;
use crate::transport::{HttpRequest, HttpResponse};

/// The longest cursor that is accepted: it is stored, and sent back.
const MAX_CURSOR_BYTES: usize = 2_048;
/// The budget of requests for sessions, which is not the one of reads.
const SESSION_BUCKET: &str = "session";

/// The access token of a session. All clones share it, so that a refreshed session reaches every endpoint.
#[derive(Debug, Clone, Default)]
pub struct SharedToken(Arc<RwLock<Option<SecretString>>>);

impl SharedToken {
    /// Sets the token of the requests from now on; without one, they are public.
    pub fn set(&self, token: Option<SecretString>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = token;
    }

    fn get(&self) -> Option<SecretString> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The URL of a server, and the session to use there, if there is one.
#[derive(Debug, Clone)]
pub struct XrpcEndpoint {
    /// Without a slash at its end.
    pub url: String,
    pub token: SharedToken,
}

/// A read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XrpcRequest {
    /// The name of the method, such as `app.bsky.actor.getProfile`.
    pub method: &'static str,
    pub params: Vec<(&'static str, String)>,
}

/// A usable response.
#[derive(Debug, Clone, PartialEq)]
pub struct XrpcResponse {
    pub body: RawDocument,
    pub meta: ResponseMeta,
}

impl XrpcRequest {
    pub(super) fn new(method: &'static str, params: Vec<(&'static str, String)>) -> Self {
        Self { method, params }
    }
}

impl ApiEndpoint for XrpcEndpoint {
    type Request = XrpcRequest;
    type Response = XrpcResponse;
    const API: ApiKind = ApiKind::Xrpc;

    fn encode_request(&self, request: &XrpcRequest) -> HttpRequest {
        let mut url = method_url(&self.url, request.method);
        if !request.params.is_empty() {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(&request.params);
            url = format!("{url}?{}", query.finish());
        }
        let headers = common_headers(self.token.get().as_ref());
        HttpRequest { method: Method::GET, url, headers, body: None }
    }

    fn decode_response(response: &HttpResponse) -> Result<XrpcResponse, SourceError> {
        read_response(response)
    }

    fn meta_mut(response: &mut XrpcResponse) -> &mut ResponseMeta {
        &mut response.meta
    }
}

/// The URL of the server that opens and refreshes sessions.
#[derive(Debug, Clone)]
pub struct SessionEndpoint {
    /// Without a slash at its end.
    pub url: String,
}

/// A request that opens or refreshes a session.
#[derive(Debug, Clone)]
pub struct SessionRequest {
    pub method: &'static str,
    pub token: Option<SecretString>,
    /// JSON.
    pub body: Option<SecretString>,
}

impl ApiEndpoint for SessionEndpoint {
    type Request = SessionRequest;
    type Response = XrpcResponse;
    const API: ApiKind = ApiKind::Xrpc;

    fn encode_request(&self, request: &SessionRequest) -> HttpRequest {
        let mut headers = common_headers(request.token.as_ref());
        let body = request.body.as_ref().map(|body| body.expose_secret().as_bytes().to_vec());
        if body.is_some() {
            headers.insert(CONTENT_TYPE, JSON);
        }
        let url = method_url(&self.url, request.method);
        HttpRequest { method: Method::POST, url, headers, body }
    }

    fn decode_response(response: &HttpResponse) -> Result<XrpcResponse, SourceError> {
        let mut decoded = read_response(response)?;
        // a server allows only a few logins; that says nothing about reads
        if let Some(sample) = &mut decoded.meta.limit_sample {
            sample.bucket = Some(SESSION_BUCKET.to_owned());
        }
        Ok(decoded)
    }

    fn meta_mut(response: &mut XrpcResponse) -> &mut ResponseMeta {
        &mut response.meta
    }
}

fn method_url(server: &str, method: &str) -> String {
    format!("{server}/xrpc/{method}")
}

fn common_headers(token: Option<&SecretString>) -> HeaderMap {
    let mut headers =
        HeaderMap::from_iter([(header::ACCEPT, JSON), (header::USER_AGENT, USER_AGENT)]);
    if let Some(token) = token {
        headers.insert(header::AUTHORIZATION, bearer_value(token));
    }
    headers
}

/// Reads a response; fails if it is unusable as a whole.
pub fn read_response(response: &HttpResponse) -> Result<XrpcResponse, SourceError> {
    if let Some(error) = xrpc_error::error_from_response(response) {
        return Err(error);
    }
    let document = json_repair::parse_repaired(&response.body)
        .map_err(|error| SourceError::not_the_expected_json(&error))?;
    let meta = xrpc_error::read_meta(response)?;
    let meta = ResponseMeta { replaced_chars: document.replaced_chars, ..meta };
    Ok(XrpcResponse { body: document.value, meta })
}

impl XrpcResponse {
    pub fn date(&self) -> SourceInstant {
        self.meta.date()
    }

    /// Returns the observation time of the objects in this response.
    pub fn observed_at(&self) -> ObservedAt {
        self.meta.observed_at
    }

    /// Returns the rows of the list with this name.
    pub(super) fn require_rows(&self, name: &str) -> Result<Vec<RawNode<'_>>, SourceError> {
        let rows = self.body.root().get(name).and_then(RawNode::as_elements);
        rows.ok_or_else(|| SourceError::InvalidResponse(format!("{name} is missing")))
    }

    /// Returns the cursor of the next page. An empty one is none.
    pub(super) fn read_cursor(&self) -> Result<Option<PageCursor>, SourceError> {
        let Some(cursor) = self.body.root().get("cursor").filter(|cursor| !cursor.is_null()) else {
            return Ok(None);
        };
        let text = cursor.as_text().filter(|text| text.len() <= MAX_CURSOR_BYTES);
        let text = text.ok_or_else(|| SourceError::InvalidResponse("unreadable cursor".into()))?;
        Ok((!text.is_empty()).then_some(PageCursor(text)))
    }
}

/// The cheapest query there is, to check whether the server responds at all.
#[derive(Debug, Clone, Copy)]
pub struct HealthQuery;

impl Query for HealthQuery {
    type Endpoint = XrpcEndpoint;
    type Page = ();

    fn request(&self, _size: u32) -> XrpcRequest {
        XrpcRequest::new("_health", Vec::new())
    }

    fn parse(&self, _response: &XrpcResponse, _size: u32) -> Result<(), SourceError> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "xrpc_tests.rs"]
mod tests;
