//! The headers that all requests to GitHub have in common.

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue};
use secrecy::SecretString;

pub(super) use crate::request_headers::{USER_AGENT, bearer_value};

const NEXT_GLOBAL_ID: HeaderName = HeaderName::from_static("x-github-next-global-id");

/// Returns the headers with the token and the accepted content type, and requests node ids in their newer format.
pub(super) fn common_headers(token: &SecretString, accept: HeaderValue) -> HeaderMap {
    HeaderMap::from_iter([
        (header::AUTHORIZATION, bearer_value(token)),
        (header::ACCEPT, accept),
        (header::USER_AGENT, USER_AGENT),
        (NEXT_GLOBAL_ID, HeaderValue::from_static("1")),
    ])
}
