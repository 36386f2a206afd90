//! Sessions: some servers show posts only to an account that is logged in.

use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::did::Did;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;

use super::post_view;
use super::xrpc::{SessionEndpoint, SessionRequest, XrpcResponse};
use crate::error::SourceError;
use crate::query::Query;
use crate::raw_json::RawNode;

/// The two tokens of a session. The access token is for reads and lasts for minutes or hours; the other one refreshes it.
#[derive(Debug, Clone)]
pub struct Session {
    pub did: Did,
    pub access_token: SecretString,
    pub refresh_token: SecretString,
}

impl Session {
    fn read(response: &XrpcResponse) -> Result<Self, SourceError> {
        let text = |name| response.body.root().get(name).and_then(RawNode::as_text);
        let did = text("did").unwrap_or_default();
        Ok(Self {
            did: post_view::parse_text(&did).map_err(SourceError::InvalidResponse)?,
            access_token: check_token("accessJwt", text("accessJwt"))?,
            refresh_token: check_token("refreshJwt", text("refreshJwt"))?,
        })
    }
}

/// Checks that a token can be sent in a header. A masked one cannot: servers do not return the token that they received.
fn check_token(name: &str, token: Option<String>) -> Result<SecretString, SourceError> {
    const MAX_TOKEN_BYTES: usize = 8 << 10;
    let is_token = |token: &String| {
        let is_plain =
            token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-~+/=".contains(&byte));
        is_plain && (1..=MAX_TOKEN_BYTES).contains(&token.len())
    };
    let token = token.filter(is_token).map(SecretString::from);
    token.ok_or_else(|| SourceError::InvalidResponse(format!("{name} is missing or not a token")))
}

/// Opens a session with an app password.
#[derive(Debug, Clone, Copy)]
pub struct CreateSessionQuery<'a> {
    pub account: &'a AccountRef,
    pub app_password: &'a SecretString,
}

impl Query for CreateSessionQuery<'_> {
    type Endpoint = SessionEndpoint;
    type Page = Session;

    fn request(&self, _size: u32) -> SessionRequest {
        let password = self.app_password.expose_secret();
        let body = json!({ "identifier": self.account.as_str(), "password": password });
        SessionRequest {
            method: "com.atproto.server.createSession",
            token: None,
            body: Some(SecretString::from(body.to_string())),
        }
    }

    fn parse(&self, response: &XrpcResponse, _size: u32) -> Result<Session, SourceError> {
        Session::read(response)
    }
}

/// Refreshes a session whose access token has expired. Its old refresh token is used up by that.
#[derive(Debug, Clone, Copy)]
pub struct RefreshSessionQuery<'a> {
    pub session: &'a Session,
}

impl Query for RefreshSessionQuery<'_> {
    type Endpoint = SessionEndpoint;
    type Page = Session;

    fn request(&self, _size: u32) -> SessionRequest {
        SessionRequest {
            method: "com.atproto.server.refreshSession",
            token: Some(self.session.refresh_token.clone()),
            body: None,
        }
    }

    fn parse(&self, response: &XrpcResponse, _size: u32) -> Result<Session, SourceError> {
        let session = Session::read(response)?;
        if session.did != self.session.did {
            let message = format!("the session of {}, not of {}", session.did, self.session.did);
            return Err(SourceError::InvalidResponse(message));
        }
        Ok(session)
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
