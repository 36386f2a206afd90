//! Responses of XRPC, before they become bytes.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::timestamps;

/// An error of XRPC: a status, and a name that clients branch on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XrpcError {
    pub status: u16,
    pub name: Cow<'static, str>,
    pub message: Cow<'static, str>,
}

impl XrpcError {
    #[must_use]
    pub fn new(
        status: u16,
        name: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { status, name: name.into(), message: message.into() }
    }

    pub(super) fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, "InvalidRequest", message)
    }

    /// The answer for every actor without a visible feed, whatever the reason.
    pub(super) fn profile_not_found() -> Self {
        Self::invalid_request("Profile not found")
    }

    pub(super) fn internal_error() -> Self {
        Self::new(500, "InternalServerError", "Internal Server Error")
    }

    pub(super) fn rate_limited() -> Self {
        Self::new(429, "RateLimitExceeded", "Rate Limit Exceeded")
    }
}

/// Status, headers and body of a response.
#[derive(Debug)]
pub(super) struct XrpcReply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

impl XrpcReply {
    pub(super) fn from_json(status: u16, body: &Value) -> Self {
        let content = ("Content-Type", "application/json; charset=utf-8".to_owned());
        Self { status, headers: vec![content], body: body.to_string().into_bytes() }
    }

    pub(super) fn from_error(error: &XrpcError) -> Self {
        Self::from_json(error.status, &json!({ "error": error.name, "message": error.message }))
    }

    /// Builds the page of a proxy in front of the service.
    pub(super) fn html_page(status: u16) -> Self {
        let page = "<html>\r\n<head><title>Please wait</title></head>\r\n\
                    <body><center><h1>Please wait</h1></center></body>\r\n</html>";
        Self {
            status,
            headers: vec![("Content-Type", "text/html".to_owned())],
            body: page.as_bytes().to_vec(),
        }
    }

    /// Encodes the response, dated with the time at which it is sent.
    pub(super) fn to_bytes(&self, sent_ms: i64) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason_phrase(self.status));
        head.push_str(&format!("Date: {}\r\n", timestamps::format_http_date(sent_ms)));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unknown",
    }
}
