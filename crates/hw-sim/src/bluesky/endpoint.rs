//! The endpoints of the service, and a request to one of them.

use super::reply::XrpcError;
use crate::github::request::ReceivedRequest;

/// The methods of XRPC that the service knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum XrpcEndpoint {
    AuthorFeed,
    Profile,
    Profiles,
    Posts,
    Follows,
    ResolveHandle,
    CreateSession,
    RefreshSession,
    /// A method that the service does not know, or no method.
    Unknown,
}

impl XrpcEndpoint {
    /// The known methods.
    pub const ALL: [Self; 8] = [
        Self::AuthorFeed,
        Self::Profile,
        Self::Profiles,
        Self::Posts,
        Self::Follows,
        Self::ResolveHandle,
        Self::CreateSession,
        Self::RefreshSession,
    ];

    /// Returns the namespaced name of the method.
    #[must_use]
    pub fn nsid(self) -> &'static str {
        match self {
            Self::AuthorFeed => "app.bsky.feed.getAuthorFeed",
            Self::Profile => "app.bsky.actor.getProfile",
            Self::Profiles => "app.bsky.actor.getProfiles",
            Self::Posts => "app.bsky.feed.getPosts",
            Self::Follows => "app.bsky.graph.getFollows",
            Self::ResolveHandle => "com.atproto.identity.resolveHandle",
            Self::CreateSession => "com.atproto.server.createSession",
            Self::RefreshSession => "com.atproto.server.refreshSession",
            Self::Unknown => "unknown",
        }
    }

    fn from_path(path: &str) -> Self {
        let nsid = path.strip_prefix("/xrpc/").unwrap_or_default();
        Self::ALL.into_iter().find(|endpoint| endpoint.nsid() == nsid).unwrap_or(Self::Unknown)
    }

    /// Returns true if it is called with POST.
    fn is_procedure(self) -> bool {
        matches!(self, Self::CreateSession | Self::RefreshSession)
    }

    /// Returns true if some hosts answer it only with a session.
    pub(super) fn may_need_session(self) -> bool {
        !self.is_procedure() && self != Self::ResolveHandle
    }
}

/// The user on whose behalf a request is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Viewer {
    Anonymous,
    SignedIn,
}

/// A request to an endpoint.
#[derive(Debug)]
pub(super) struct XrpcCall<'a> {
    pub(super) endpoint: XrpcEndpoint,
    pub(super) request: &'a ReceivedRequest<'a>,
    /// The time until the response arrives.
    pub(super) latency_ms: u64,
}

impl<'a> XrpcCall<'a> {
    pub(super) fn from_request(request: &'a ReceivedRequest<'a>, latency_ms: u64) -> Self {
        Self { endpoint: XrpcEndpoint::from_path(request.path), request, latency_ms }
    }

    /// Checks that the method of HTTP fits the endpoint.
    pub(super) fn check_method(&self) -> Result<(), XrpcError> {
        if self.endpoint == XrpcEndpoint::Unknown {
            return Err(XrpcError::new(501, "MethodNotImplemented", "Method Not Implemented"));
        }
        let expected = if self.endpoint.is_procedure() { "POST" } else { "GET" };
        if self.request.method == expected {
            return Ok(());
        }
        let message =
            format!("Incorrect HTTP method ({}) expected {expected}", self.request.method);
        Err(XrpcError::invalid_request(message))
    }

    /// Returns the actor of the request, for the log.
    pub(super) fn actor(&self) -> Option<String> {
        let is_by_handle = self.endpoint == XrpcEndpoint::ResolveHandle;
        let name = if is_by_handle { "handle" } else { "actor" };
        self.request.parameter(name)
    }

    pub(super) fn cursor(&self) -> Option<String> {
        self.request.parameter("cursor")
    }

    pub(super) fn required_parameter(&self, name: &str) -> Result<String, XrpcError> {
        self.request.parameter(name).filter(|value| !value.is_empty()).ok_or_else(|| {
            XrpcError::invalid_request(format!("Error: Params must have the property \"{name}\""))
        })
    }

    /// Returns the values of a parameter that is repeated at most 25 times.
    pub(super) fn list_parameter(&self, name: &str) -> Result<Vec<String>, XrpcError> {
        self.required_parameter(name)?;
        let values: Vec<String> = self.request.repeated_parameter(name).collect();
        if values.len() > 25 {
            let message = format!("Error: {name} must not have more than 25 elements");
            return Err(XrpcError::invalid_request(message));
        }
        Ok(values)
    }

    /// Returns the requested size of a page: 1 to 100, and 50 by default.
    pub(super) fn page_size(&self) -> Result<usize, XrpcError> {
        let Some(text) = self.request.parameter("limit") else { return Ok(50) };
        match text.parse::<i64>() {
            Ok(limit) if limit < 1 => Err("can not be less than 1"),
            Ok(limit) => usize::try_from(limit)
                .ok()
                .filter(|limit| *limit <= 100)
                .ok_or("can not be greater than 100"),
            Err(_) => Err("must be an integer"),
        }
        .map_err(|problem| XrpcError::invalid_request(format!("Error: limit {problem}")))
    }
}
