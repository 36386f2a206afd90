//! A response before it becomes bytes.

use crate::timestamps;

/// Status, headers and body of a response.
#[derive(Debug)]
pub(crate) struct HttpReply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    /// True if the quota headers are added to it.
    pub(crate) has_quota_headers: bool,
}

impl HttpReply {
    pub(crate) fn from_json(status: u16, body: String) -> Self {
        let content = ("Content-Type", "application/json; charset=utf-8".to_owned());
        Self { status, headers: vec![content], body: body.into_bytes(), has_quota_headers: true }
    }

    /// Builds GitHub's usual error body: a message and a link to the documentation.
    pub(crate) fn from_message(status: u16, message: &str) -> Self {
        let body = serde_json::json!({
            "message": message,
            "documentation_url": "https://docs.github.com/rest",
            "status": status.to_string(),
        });
        Self::from_json(status, body.to_string())
    }

    pub(crate) fn html_page(status: u16) -> Self {
        let page = "<!DOCTYPE html><html><head><title>Unicorn! &middot; GitHub</title></head>\
                    <body><p>This page is taking too long to load.</p></body></html>";
        Self {
            status,
            headers: vec![("Content-Type", "text/html".to_owned())],
            body: page.as_bytes().to_vec(),
            has_quota_headers: false,
        }
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    pub(crate) fn without_quota_headers(mut self) -> Self {
        self.has_quota_headers = false;
        self
    }

    /// Encodes the response, dated with the time at which it is sent.
    pub(crate) fn to_bytes(&self, sent_ms: i64, serial: u64) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason_phrase(self.status));
        head.push_str(&format!("Date: {}\r\n", timestamps::format_http_date(sent_ms)));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("X-GitHub-Request-Id: SIM0:{serial:08X}\r\n"));
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        410 => "Gone",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        504 => "Gateway Timeout",
        _ => "Unknown",
    }
}
