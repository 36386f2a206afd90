//! Bluesky, as a client sees it: a server for reads, and the sessions for those that require one.

use secrecy::SecretString;

use super::session::Session;
use super::xrpc::{HealthQuery, SessionEndpoint, SharedToken, XrpcEndpoint};
use crate::error::SourceError;
use crate::source::{ApiBudget, Source};
use crate::transport::{HttpRequest, HttpResponse};

/// The server that shows all public posts without a session.
pub const PUBLIC_URL: &str = "https://public.api.bsky.app";

/// The endpoints of one server. Clones share the session.
#[derive(Debug, Clone)]
pub struct BlueskySource {
    pub reads: XrpcEndpoint,
    pub sessions: SessionEndpoint,
}

impl BlueskySource {
    /// Creates a source without a session. The URL has no slash at its end.
    pub fn new(url: &str) -> Self {
        Self {
            reads: XrpcEndpoint { url: url.to_owned(), token: SharedToken::default() },
            sessions: SessionEndpoint { url: url.to_owned() },
        }
    }

    /// Sends all reads with the access token of this session from now on.
    pub fn use_session(&self, session: &Session) {
        self.set_token(Some(session.access_token.clone()));
    }

    /// Sends all reads without a session from now on.
    pub fn end_session(&self) {
        self.set_token(None);
    }

    fn set_token(&self, token: Option<SecretString>) {
        self.reads.token.set(token);
    }
}

impl AsRef<XrpcEndpoint> for BlueskySource {
    fn as_ref(&self) -> &XrpcEndpoint {
        &self.reads
    }
}

impl AsRef<SessionEndpoint> for BlueskySource {
    fn as_ref(&self) -> &SessionEndpoint {
        &self.sessions
    }
}

impl Source for BlueskySource {
    type Ping = HealthQuery;
    const PING: HealthQuery = HealthQuery;

    fn budgets_request(&self) -> Option<HttpRequest> {
        None
    }

    fn read_budgets(&self, _response: &HttpResponse) -> Result<Vec<ApiBudget>, SourceError> {
        Err(SourceError::hidden("Bluesky reports its budgets only with other responses"))
    }
}
