//! The headers that all requests have in common.

use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

pub(super) const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("highwater/", env!("CARGO_PKG_VERSION")));
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

/// Returns the value that carries the token; its `Debug` output hides it.
pub(super) fn bearer_value(token: &SecretString) -> HeaderValue {
    let mut bearer = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))
        .expect("tokens are checked to be printable ASCII when they are read");
    bearer.set_sensitive(true);
    bearer
}
