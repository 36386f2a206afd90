//! Sends one request and receives one response; implemented over HTTP and by the simulator.

use std::pin::Pin;

use http::header::IF_NONE_MATCH;
use http::{HeaderMap, Method};

use crate::token_mask::TokenMask;

/// A request as the source sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    pub method: Method,
    pub url: String,
    /// The value with the token is marked as sensitive.
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
}

impl HttpRequest {
    /// Returns true if a response without news is "not modified", which costs nothing.
    pub fn is_conditional(&self) -> bool {
        self.headers.contains_key(IF_NONE_MATCH)
    }
}

/// The largest body that is read. GitHub's own pages stay far below; larger ones are requested in parts.
pub const MAX_BODY_BYTES: usize = 32 << 20;

/// A response with any status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    /// A transport replaces bytes that are not UTF-8.
    pub headers: HeaderMap,
    /// A transport stops reading once it is larger than [`MAX_BODY_BYTES`].
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// Returns the first header of that name, if it is UTF-8.
    pub fn header(&self, name: &str) -> Option<&str> {
        // `HeaderValue::to_str` accepts ASCII only
        std::str::from_utf8(self.headers.get(name)?.as_bytes()).ok()
    }
}

/// No response: the connection failed, broke off, or the body ended early.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct TransportError {
    pub reason: String,
    pub stage: ExchangeStage,
    /// The URL of the proxy that the request passed through, without credentials.
    pub proxy: Option<String>,
}

/// The stage at which an exchange failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeStage {
    /// No connection: the host is unknown, or refuses connections.
    Connect,
    /// TLS with the host could not be set up: its certificate is not trusted, or it does not use TLS.
    Tls,
    /// The connection was established, or took too long.
    Exchange,
}

impl TransportError {
    /// Creates the error of an exchange that broke off.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), stage: ExchangeStage::Exchange, proxy: None }
    }

    /// Returns the same error, with the proxy that the request passed through.
    #[must_use]
    pub fn through_proxy(self, url: &str) -> Self {
        Self { proxy: Some(url.to_owned()), ..self }
    }
}

pub type ResponseFuture<'a> =
    Pin<Box<dyn Future<Output = Result<HttpResponse, TransportError>> + Send + 'a>>;

/// Sends one request and masks its token in the response.
///
/// Otherwise a proxy that repeats the headers of the request, or redirects to a URL that quotes them, would have the
/// token stored, logged and printed. All requests go through here, over any transport.
pub async fn send_and_mask(
    transport: &dyn Transport,
    request: HttpRequest,
) -> Result<HttpResponse, TransportError> {
    let mask = TokenMask::from_request(&request);
    let result = transport.send(request).await;
    result
        .map(|response| mask.mask_response(response))
        .map_err(|error| TransportError { reason: mask.mask_text(error.reason), ..error })
}

/// Sends one request. Never retries, never follows a redirect, never waits for a limit.
pub trait Transport: Send + Sync {
    /// Callers use [`send_and_mask`] instead.
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_>;

    /// Replaces the connections with new ones, after several failures in a row.
    fn reset_connections(&self);
}

#[cfg(test)]
pub(crate) fn test_headers(headers: &[(&str, &str)]) -> HeaderMap {
    headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}
