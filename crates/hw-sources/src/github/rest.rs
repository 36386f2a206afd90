//! REST: reads of documents, which a client that already holds one need not get again.

use hw_rules::time::Mark;
use hw_rules::version::Seen;
use secrecy::SecretString;

use super::headers::{self, plain};
use super::limits;
use super::receipt::Receipt;
use crate::json;
use crate::raw_json::RawDocument;
use crate::transport::{Method, Request, Response};
use crate::trouble::Trouble;

/// Where REST is spoken, and as whom.
#[derive(Debug, Clone)]
pub struct Rest {
    /// Without a slash at its end.
    pub url: String,
    pub token: SecretString,
}

/// A read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Get {
    /// From its first slash on, with the query.
    pub path: String,
    /// What the last answer to the same path was called.
    pub etag: Option<String>,
}

/// An answer that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub content: Content,
    pub receipt: Receipt,
    /// Only a whole answer has one: the one on a 304 is written differently.
    pub etag: Option<String>,
    pub next: Next,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// The same as under the etag that was sent.
    Unchanged,
    Document(RawDocument),
}

/// Whether a list says that it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Yes,
    No,
    /// There is no `Link` header at all.
    Unsaid,
}

const ACCEPT: &str = "application/vnd.github+json";
const API_VERSION: &str = "2022-11-28";

impl Rest {
    /// The HTTP request for a read.
    pub fn request(&self, get: &Get) -> Request {
        let mut headers = headers::usual(&self.token, ACCEPT);
        headers.push(("x-github-api-version", plain(API_VERSION)));
        headers.extend(get.etag.as_deref().map(|etag| ("if-none-match", plain(etag))));
        let url = format!("{}{}", self.url, get.path);
        Request { method: Method::Get, url, headers, body: None }
    }
}

/// Reads an answer, or says what is wrong with it as a whole.
pub fn read(response: &Response) -> Result<Answer, Trouble> {
    if response.status == 304 {
        let receipt = Receipt::of(response, 0, 0)?;
        let (content, next) = (Content::Unchanged, next(response));
        return Ok(Answer { content, receipt, etag: None, next });
    }
    if let Some(trouble) = limits::trouble_of_status(response) {
        return Err(trouble);
    }
    let document =
        json::read(&response.body).map_err(|error| Trouble::Garbled(error.to_string()))?;
    Ok(Answer {
        content: Content::Document(document.value),
        receipt: Receipt::of(response, 1, document.replaced)?,
        etag: response.header("etag").filter(|_| response.status == 200).map(str::to_owned),
        next: next(response),
    })
}

fn next(response: &Response) -> Next {
    let Some(links) = response.header("link") else { return Next::Unsaid };
    // the parameters of a link follow its address, which stands in angle brackets
    let mut parameters = links.split(',').filter_map(|link| Some(link.rsplit_once('>')?.1));
    let is_next = |parameter: &str| matches!(parameter.trim(), r#"rel="next""# | "rel=next");
    if parameters.any(|all| all.split(';').any(is_next)) { Next::Yes } else { Next::No }
}

impl Answer {
    pub fn date(&self) -> Mark {
        self.receipt.date
    }

    /// When the objects in this answer were seen.
    pub fn seen(&self, request: i64) -> Seen {
        self.receipt.seen(request)
    }
}

#[cfg(test)]
#[path = "rest_tests.rs"]
mod tests;
