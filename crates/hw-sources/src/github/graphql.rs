//! Builds GraphQL requests and separates the data of a response from its errors.
//!
//! A response can carry data and errors at once, and usually that is fine: the caller takes the nodes that are there
//! and requests the others again. Errors that concern the whole response become a [`SourceError`] here.

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use hw_rules::rate_limit::ApiKind;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::limits;
use super::request_headers;
use crate::error::{RateLimitKind, SourceError};
use crate::json_repair;
use crate::query::{ApiEndpoint, Query};
use crate::raw_json::{RawDocument, RawNode};
use crate::response_headers::{MAX_MESSAGE_BYTES, clip_message};
use crate::response_meta::ResponseMeta;
use crate::transport::{HttpRequest, HttpResponse};

/// The longest part of an error's path that is read: the path of a row has at most seven steps.
const MAX_PATH_STEPS: usize = 32;
/// The longest part of a step that is read if the step is not a name.
const MAX_STEP_BYTES: usize = 100;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The URL of the GraphQL API, and the token to use there.
#[derive(Debug, Clone)]
pub struct GraphqlEndpoint {
    pub url: String,
    /// Printable ASCII.
    pub token: SecretString,
}

/// A document with its variables.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphqlQuery {
    pub document: String,
    pub variables: Value,
}

/// A response that is usable, wholly or in part.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphqlResponse {
    pub data: RawDocument,
    pub errors: Vec<GraphqlError>,
    pub meta: ResponseMeta,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GraphqlError {
    pub kind: String,
    pub message: String,
    /// Its position in the data, as `a.b.0.c`.
    pub path: String,
}

impl GraphqlEndpoint {
    /// Builds the HTTP request for a query.
    pub fn build_request(&self, query: &GraphqlQuery) -> HttpRequest {
        let mut headers = request_headers::common_headers(&self.token, JSON);
        headers.insert(CONTENT_TYPE, JSON);
        let body = json!({ "query": query.document, "variables": query.variables });
        let body = Some(body.to_string().into_bytes());
        HttpRequest { method: Method::POST, url: self.url.clone(), headers, body }
    }
}

impl ApiEndpoint for GraphqlEndpoint {
    type Request = GraphqlQuery;
    type Response = GraphqlResponse;
    const API: ApiKind = ApiKind::Graphql;

    fn encode_request(&self, request: &GraphqlQuery) -> HttpRequest {
        self.build_request(request)
    }

    fn decode_response(response: &HttpResponse) -> Result<GraphqlResponse, SourceError> {
        read_response(response)
    }

    fn meta_mut(response: &mut GraphqlResponse) -> &mut ResponseMeta {
        &mut response.meta
    }
}

/// The cheapest query there is, to check whether the API responds at all.
#[derive(Debug, Clone, Copy)]
pub struct PingQuery;

impl Query for PingQuery {
    type Endpoint = GraphqlEndpoint;
    type Page = ();

    fn request(&self, _size: u32) -> GraphqlQuery {
        GraphqlQuery { document: "query Ping { rateLimit { cost } }".into(), variables: json!({}) }
    }

    fn parse(&self, _response: &GraphqlResponse, _size: u32) -> Result<(), SourceError> {
        Ok(())
    }
}

/// Reads a response; fails if it is unusable as a whole.
pub fn read_response(response: &HttpResponse) -> Result<GraphqlResponse, SourceError> {
    if let Some(error) = limits::error_from_status(response) {
        return Err(error);
    }
    let repaired = json_repair::repair_surrogates(&response.body);
    let body: GraphqlBody<'_> = serde_json::from_slice(&repaired.value)
        .map_err(|error| SourceError::not_the_expected_json(&error))?;
    let errors = parse_errors(body.errors)?;
    if let Some(error) = whole_response_error(response, &errors) {
        return Err(error);
    }
    let Some(data) = body.data else { return Err(missing_data_error(&errors)) };
    let data = RawDocument::from(data.to_owned());
    let cost = data.root().find_path(&["rateLimit", "cost"]).and_then(RawNode::as_i64).unwrap_or(0);
    let meta = limits::read_meta(response, cost)?;
    let meta = ResponseMeta { replaced_chars: repaired.replaced_chars, ..meta };
    Ok(GraphqlResponse { data, errors, meta })
}

/// The body of a response; a null field reads as `None`.
#[derive(Deserialize)]
struct GraphqlBody<'a> {
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    errors: Option<&'a RawValue>,
}

/// Parses the list of errors; fails if it is longer than any page.
fn parse_errors(errors: Option<&RawValue>) -> Result<Vec<GraphqlError>, SourceError> {
    let Some(errors) = errors.filter(|errors| errors.get().starts_with('[')) else {
        return Ok(Vec::new());
    };
    let errors = RawNode::from(errors).as_elements();
    let errors = errors
        .ok_or_else(|| SourceError::TooExpensive("the response has too many errors".into()))?;
    Ok(errors.into_iter().map(GraphqlError::from_node).collect())
}

impl GraphqlError {
    fn from_node(error: RawNode<'_>) -> Self {
        let steps = error.get("path").and_then(RawNode::as_elements).unwrap_or_default();
        let steps = steps.into_iter().take(MAX_PATH_STEPS);
        let steps =
            steps.map(|step| step.as_text().unwrap_or_else(|| step.clip_text(MAX_STEP_BYTES)));
        let kind =
            find_text(error, &["type"]).or_else(|| find_text(error, &["extensions", "code"]));
        Self {
            kind: clip_or_empty(kind),
            message: clip_or_empty(find_text(error, &["message"])),
            path: steps.collect::<Vec<_>>().join("."),
        }
    }

    /// Returns true if the error concerns this path or anything below it.
    pub fn is_at_or_below(&self, path: &str) -> bool {
        let below = self.path.strip_prefix(path);
        below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
    }

    pub fn is_not_found(&self) -> bool {
        self.kind == "NOT_FOUND"
    }

    /// Returns true if the token has no access there; callers treat that as not found.
    pub fn is_forbidden(&self) -> bool {
        matches!(self.kind.as_str(), "FORBIDDEN" | "INSUFFICIENT_SCOPES")
    }

    /// Converts an error that only the server is responsible for.
    pub fn to_source_error(&self) -> SourceError {
        if limits::is_timeout(&self.message) {
            SourceError::TooExpensive(format!("GitHub timed out: {}", self.message))
        } else {
            SourceError::Server(self.message.clone())
        }
    }

    /// Returns true if the query itself is wrong. GitHub marks such errors with a code in camel case.
    fn is_invalid_query(&self) -> bool {
        let starts_lowercase = self.kind.starts_with(|c: char| c.is_ascii_lowercase());
        (starts_lowercase && !self.kind.contains('_'))
            || self.kind.contains("PAGINATION")
            || self.message.starts_with("Parse error")
            || self.message.contains("doesn't exist on type")
    }
}

fn find_text(node: RawNode<'_>, names: &[&str]) -> Option<String> {
    node.find_path(names).and_then(RawNode::as_text)
}

fn clip_or_empty(text: Option<String>) -> String {
    clip_message(text.unwrap_or_default(), MAX_MESSAGE_BYTES)
}

/// Returns the first error that makes the response unusable as a whole.
fn whole_response_error(response: &HttpResponse, errors: &[GraphqlError]) -> Option<SourceError> {
    for error in errors {
        match error.kind.as_str() {
            "RATE_LIMIT" | "RATE_LIMITED" | "graphql_rate_limit" => {
                return Some(limit_error(response, RateLimitKind::Primary));
            }
            "RESOURCE_LIMITS_EXCEEDED" | "MAX_NODE_LIMIT_EXCEEDED" => {
                let reason = format!("too large for one response: {}", error.message);
                return Some(SourceError::TooExpensive(reason));
            }
            "INVALID_CURSOR_ARGUMENTS" => {
                return Some(SourceError::InvalidCursor(error.message.clone()));
            }
            _ if limits::is_secondary_limit(&error.message) => {
                return Some(limit_error(response, RateLimitKind::Secondary));
            }
            _ if limits::is_primary_limit(&error.message) => {
                return Some(limit_error(response, RateLimitKind::Primary));
            }
            _ => {}
        }
    }
    None
}

fn limit_error(response: &HttpResponse, kind: RateLimitKind) -> SourceError {
    SourceError::RateLimited(limits::limit_from_headers(response, kind))
}

/// Classifies a response without any data.
fn missing_data_error(errors: &[GraphqlError]) -> SourceError {
    if let Some(error) = errors.iter().find(|error| error.is_not_found() || error.is_forbidden()) {
        return SourceError::hidden(&error.message);
    }
    if let Some(error) = errors.iter().find(|error| error.is_invalid_query()) {
        return SourceError::InvalidRequest(error.message.clone());
    }
    match errors.first() {
        None => SourceError::InvalidResponse("neither data nor errors".into()),
        Some(error) => error.to_source_error(),
    }
}

impl GraphqlResponse {
    pub fn date(&self) -> SourceInstant {
        self.meta.date()
    }

    /// Returns the observation time of the objects in this response.
    pub fn observed_at(&self) -> ObservedAt {
        self.meta.observed_at
    }

    /// Returns the first error at this path in the data or anywhere below it.
    pub fn error_at_or_below(&self, path: &str) -> Option<&GraphqlError> {
        self.errors.iter().find(|error| error.is_at_or_below(path))
    }

    /// Returns the error at exactly this path.
    pub fn error_exactly_at(&self, path: &str) -> Option<&GraphqlError> {
        self.errors.iter().find(|error| error.path == path)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;
    use crate::transport::test_headers;

    #[test]
    fn graphql_limit_in_a_200_is_a_limit() {
        for kind in ["RATE_LIMIT", "RATE_LIMITED"] {
            let body =
                format!(r#"{{"data":null,"errors":[{{"type":"{kind}","message":"exceeded"}}]}}"#);
            assert!(
                matches!(read_response(&ok_response(&body)), Err(SourceError::RateLimited(_))),
                "{kind}"
            );
        }
        let code = r#"{"errors":[{"message":"x","extensions":{"code":"graphql_rate_limit"}}]}"#;
        assert!(matches!(read_response(&ok_response(code)), Err(SourceError::RateLimited(_))));
        let slow = r#"{"errors":[{"message":"You have exceeded a secondary rate limit."}]}"#;
        let primary =
            r#"{"errors":[{"message":"API rate limit already exceeded for user ID 1."}]}"#;
        assert!(matches!(read_response(&ok_response(primary)), Err(SourceError::RateLimited(_))));
        let Err(SourceError::RateLimited(limit)) = read_response(&ok_response(slow)) else {
            panic!("a limit")
        };
        assert_eq!(limit.kind, RateLimitKind::Secondary);
    }

    #[test]
    fn graphql_resource_limits_request_less_even_with_partial_data() {
        let body =
            r#"{"data":{"node":{}},"errors":[{"type":"RESOURCE_LIMITS_EXCEEDED","message":"m"}]}"#;
        assert!(matches!(read_response(&ok_response(body)), Err(SourceError::TooExpensive(_))));
    }

    #[test]
    fn graphql_partial_data_is_used_and_its_errors_keep_their_paths() {
        let body = r#"{"data":{"a":null,"b":1},"errors":[
            {"type":"NOT_FOUND","path":["a",0,"x"],"message":"gone"}]}"#;
        let response = read_response(&ok_response(body)).unwrap();
        assert!(response.error_at_or_below("a.0").is_some_and(GraphqlError::is_not_found));
        assert!(response.error_at_or_below("b").is_none());
    }

    #[test]
    fn graphql_errors_separate_server_faults_from_invalid_queries() {
        assert!(matches!(
            read_response(&ok_response("<html>")),
            Err(SourceError::InvalidResponse(reason)) if reason.starts_with("not the expected JSON")
        ));
        assert!(matches!(read_response(&ok_response("{}")), Err(SourceError::InvalidResponse(_))));
        let wrong = r#"{"errors":[{"message":"Field 'x' doesn't exist on type 'Query'"}]}"#;
        assert!(matches!(read_response(&ok_response(wrong)), Err(SourceError::InvalidRequest(_))));
        let coded = r#"{"errors":[{"message":"m","extensions":{"code":"undefinedField"}}]}"#;
        assert!(matches!(read_response(&ok_response(coded)), Err(SourceError::InvalidRequest(_))));
        let unknown = r#"{"data":null,"errors":[{"type":"INTERNAL","message":"oops"}]}"#;
        assert!(matches!(read_response(&ok_response(unknown)), Err(SourceError::Server(_))));
        let slow = r#"{"errors":[{"message":"timedout"}]}"#;
        assert!(matches!(read_response(&ok_response(slow)), Err(SourceError::TooExpensive(_))));
        let forbidden = r#"{"data":null,"errors":[{"type":"FORBIDDEN","message":"no"}]}"#;
        assert!(matches!(read_response(&ok_response(forbidden)), Err(SourceError::Hidden(_))));
        let lost = r#"{"data":{"node":null},"errors":[{"type":"INVALID_CURSOR_ARGUMENTS","message":"m"}]}"#;
        assert!(matches!(read_response(&ok_response(lost)), Err(SourceError::InvalidCursor(_))));
        let undated = HttpResponse { headers: HeaderMap::new(), ..ok_response(r#"{"data":{}}"#) };
        assert!(matches!(read_response(&undated), Err(SourceError::InvalidResponse(_))));
    }

    #[test]
    fn graphql_request_never_prints_the_token() {
        let endpoint = GraphqlEndpoint { url: "http://x".into(), token: "hunter2".into() };
        let query = GraphqlQuery { document: "{}".into(), variables: Value::Null };
        let printed = format!("{endpoint:?} {:?}", endpoint.build_request(&query));
        assert!(!printed.contains("hunter2"), "{printed}");
    }

    fn ok_response(body: &str) -> HttpResponse {
        let headers = test_headers(&[("date", "Thu, 01 Jan 2026 00:00:00 GMT")]);
        HttpResponse { status: 200, headers, body: body.as_bytes().to_vec() }
    }
}
