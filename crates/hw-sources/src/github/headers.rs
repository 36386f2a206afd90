//! The headers of every request.

use secrecy::{ExposeSecret, SecretString};

use crate::transport::Secretive;

const USER_AGENT: &str = concat!("highwater/", env!("CARGO_PKG_VERSION"));

/// Who asks, what for, and that node ids are wanted in their newer format.
pub(super) fn usual(token: &SecretString, accept: &str) -> Vec<(&'static str, Secretive)> {
    let bearer = format!("Bearer {}", token.expose_secret());
    vec![
        ("authorization", Secretive::Secret(bearer)),
        ("accept", plain(accept)),
        ("user-agent", plain(USER_AGENT)),
        ("x-github-next-global-id", plain("1")),
    ]
}

pub(super) fn plain(text: &str) -> Secretive {
    Secretive::Plain(text.to_owned())
}
