//! The headers that requests to all sources have in common.

use http::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

pub(crate) const USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("highwater/", env!("CARGO_PKG_VERSION")));
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Returns the value that carries the token; its `Debug` output hides it.
pub(crate) fn bearer_value(token: &SecretString) -> HeaderValue {
    let mut bearer = HeaderValue::try_from(format!("Bearer {}", token.expose_secret()))
        .expect("tokens are checked to be printable ASCII when they are read");
    bearer.set_sensitive(true);
    bearer
}
