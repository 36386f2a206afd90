//! One request out, one answer back: the door through which both real and simulated sources speak.

use std::pin::Pin;

use crate::token_mask::TokenMask;

/// A request as the source sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: Method,
    pub url: String,
    /// Names in lower case.
    pub headers: Vec<(&'static str, Secretive)>,
    pub body: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Get,
    Post,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// A header's value; one that carries the token never shows it.
#[derive(Clone, PartialEq, Eq)]
pub enum Secretive {
    Plain(String),
    Secret(String),
}

impl Secretive {
    /// The value for the wire.
    pub fn expose(&self) -> &str {
        match self {
            Self::Plain(value) | Self::Secret(value) => value,
        }
    }
}

impl std::fmt::Debug for Secretive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(value) => write!(f, "{value:?}"),
            Self::Secret(_) => f.write_str("***"),
        }
    }
}

/// The largest body that is read. GitHub's own pages stay far below; what is larger is asked for in parts.
pub const LARGEST_BODY: usize = 32 << 20;

/// An answer, whatever it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// A transport stops reading once it is larger than [`LARGEST_BODY`].
    pub body: Vec<u8>,
}

impl Response {
    /// The first header of that name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// No answer: the connection failed, broke off, or the body ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Broken {
    pub reason: String,
    pub stage: BrokenStage,
}

/// How far an exchange came before it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenStage {
    /// No connection: the host is unknown, or refuses it.
    Connect,
    /// The host was reached, and TLS could not be set up: its certificate is not trusted, or it does not speak TLS.
    Tls,
    /// The connection was there, or took too long.
    Exchange,
}

impl Broken {
    /// An exchange that broke off.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), stage: BrokenStage::Exchange }
    }

    /// The same failure, in other words.
    #[must_use]
    pub fn with_reason(self, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..self }
    }
}

pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Response, Broken>> + Send + 'a>>;

/// Sends one request and masks its token in whatever comes back.
///
/// A proxy that answers with the headers of the request, or redirects to an address that quotes them, would have
/// the token stored, logged and shown otherwise. All requests go through here, whatever carries them.
pub async fn exchange(transport: &dyn Transport, request: Request) -> Result<Response, Broken> {
    let mask = TokenMask::from_request(&request);
    let answer = transport.send(request).await;
    answer
        .map(|response| mask.mask_response(response))
        .map_err(|broken| Broken { reason: mask.mask_text(broken.reason), ..broken })
}

/// Sends one request. It never retries, never follows a redirect, never waits for a limit.
pub trait Transport: Send + Sync {
    /// Callers go through [`exchange`].
    fn send(&self, request: Request) -> Sending<'_>;

    /// Starts over with new connections, after several failed in a row.
    fn renew(&self);
}
