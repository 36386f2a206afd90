//! Writes over REST. A write is sent once: the API has no idempotency key, so a second request would do it twice.

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use hw_rules::followed_source::RepositoryName;
use serde_json::{Value, json};

use super::limits;
use super::request_headers;
use super::rest::{self, API_VERSION, GITHUB_JSON, RestEndpoint, RestResponse};
use crate::error::{RateLimit, SourceError};
use crate::transport::{HttpRequest, HttpResponse};

/// The points that a write costs of a minute's budget; a read costs one.
pub const WRITE_POINTS: i64 = 5;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A POST request.
#[derive(Debug, Clone, PartialEq)]
pub struct RestWrite {
    /// From its first slash on.
    pub path: String,
    pub body: Value,
}

impl RestWrite {
    /// Creates a comment on an issue or a pull request.
    pub fn issue_comment(repository: &RepositoryName, number: i64, body: &str) -> Self {
        let RepositoryName { owner, name } = repository;
        let path = format!("/repos/{owner}/{name}/issues/{number}/comments");
        Self { path, body: json!({ "body": body }) }
    }
}

/// The outcome of a write.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteOutcome {
    /// It was done; the response shows the result.
    Done(RestResponse),
    /// It was not done: the source refuses it, and would refuse it again.
    Refused(SourceError),
    /// It was not done: a limit stops all writes for a while.
    Limited(RateLimit),
    /// It was not done: no connection was established, so nothing was sent.
    NotSent(SourceError),
    /// It may have been done. Only a look at the source shows whether it was.
    Unknown(SourceError),
}

impl WriteOutcome {
    /// Classifies the response, or the failure to receive one.
    pub fn classify(response: Result<HttpResponse, SourceError>) -> Self {
        let response = match response {
            Ok(response) => response,
            Err(error) if error.is_unreachable() => return Self::NotSent(error),
            Err(error) => return Self::Unknown(error),
        };
        match limits::error_from_status(&response) {
            Some(SourceError::RateLimited(limit)) => Self::Limited(limit),
            Some(error) if is_refusal(response.status) => Self::Refused(error),
            Some(error) => Self::Unknown(error),
            // a success that cannot be read may come from a proxy
            None => rest::read_response(&response).map_or_else(Self::Unknown, Self::Done),
        }
    }

    /// Returns the error that the rate limiter learns of.
    pub fn to_error(&self) -> Option<SourceError> {
        match self {
            Self::Done(_) => None,
            Self::Limited(limit) => Some(SourceError::RateLimited(limit.clone())),
            Self::Refused(error) | Self::NotSent(error) | Self::Unknown(error) => {
                Some(error.clone())
            }
        }
    }
}

/// The status of a server that gave up waiting for the rest of a request.
const REQUEST_TIMEOUT: u16 = 408;

/// Returns true if a response with this status means that nothing was done. A redirect is one, because it is not followed.
fn is_refusal(status: u16) -> bool {
    (300..=499).contains(&status) && status != REQUEST_TIMEOUT
}

impl RestEndpoint {
    /// Builds the HTTP request of a write.
    pub fn build_write(&self, write: &RestWrite) -> HttpRequest {
        let mut headers = request_headers::common_headers(&self.token, GITHUB_JSON);
        headers.extend([API_VERSION, (CONTENT_TYPE, JSON)]);
        let body = Some(write.body.to_string().into_bytes());
        let url = format!("{}{}", self.url, write.path);
        HttpRequest { method: Method::POST, url, headers, body }
    }
}

#[cfg(test)]
#[path = "writes_tests.rs"]
mod tests;
