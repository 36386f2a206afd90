//! Finds a thread by its number in a repository, or learns what became of one that is not there any more.

use hw_rules::item::ThreadKind;
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceTime;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::rest::{RestContent, RestEndpoint, RestRequest, RestResponse};
use crate::error::SourceError;
use crate::query::Query;

/// Requests a thread by its number.
#[derive(Debug, Clone, Copy)]
pub struct ThreadByNumberQuery {
    pub repository_id: i64,
    pub number: i64,
}

/// The answer about a thread. One that does not exist, or is not visible, is an error as everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ThreadAnswer {
    Found(FoundThread),
    /// It was transferred, and has this number in that repository now.
    Transferred {
        repository_id: i64,
        number: i64,
    },
    /// It was deleted.
    Deleted,
}

/// A thread that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundThread {
    pub number: i64,
    pub kind: ThreadKind,
    pub node_id: String,
    pub title: String,
    pub updated_at: SourceTime,
}

#[derive(Deserialize)]
struct ThreadDocument {
    node_id: String,
    number: i64,
    title: String,
    updated_at: SourceTime,
    pull_request: Option<IgnoredAny>,
}

impl Query for ThreadByNumberQuery {
    type Endpoint = RestEndpoint;
    type Page = ThreadAnswer;

    fn request(&self, _size: u32) -> RestRequest {
        let Self { repository_id, number } = self;
        let path = format!("/repositories/{repository_id}/issues/{number}");
        RestRequest { path, etag: None }
    }

    fn parse(&self, response: &RestResponse, _size: u32) -> Result<ThreadAnswer, SourceError> {
        let document = match &response.content {
            RestContent::Moved(to) => return parse_transfer(to),
            RestContent::Gone(_) => return Ok(ThreadAnswer::Deleted),
            RestContent::Document(document) => document,
            RestContent::NotModified => {
                let reason = "not modified, but no ETag was sent";
                return Err(SourceError::InvalidResponse(reason.into()));
            }
        };
        let thread = document.root().parse_as::<ThreadDocument>();
        let ThreadDocument { node_id, number, title, updated_at, pull_request } =
            thread.map_err(SourceError::InvalidResponse)?;
        if number != self.number {
            return Err(SourceError::InvalidResponse(
                "the response is about another thread".into(),
            ));
        }
        let kind = match pull_request {
            Some(_) => ThreadKind::PullRequest,
            None => ThreadKind::Issue,
        };
        let title = sanitize_for_storage(&title);
        Ok(ThreadAnswer::Found(FoundThread { number, kind, node_id, title, updated_at }))
    }
}

/// Reads where a thread went from the address to which its old one redirects: `…/repositories/42/issues/7`. Only the ids
/// are used: the token stays with the configured host.
fn parse_transfer(to: &str) -> Result<ThreadAnswer, SourceError> {
    let path = to.split(['?', '#']).next().unwrap_or_default();
    let mut parts = path.rsplit('/');
    let parts = [parts.next(), parts.next(), parts.next(), parts.next()];
    if let [Some(number), Some("issues"), Some(repository), Some("repositories")] = parts
        && let (Ok(number), Ok(repository_id)) = (number.parse(), repository.parse())
    {
        return Ok(ThreadAnswer::Transferred { repository_id, number });
    }
    Err(SourceError::InvalidResponse(format!("it redirects to {to}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::github::rest;
    use crate::transport::{HttpResponse, test_headers};

    const UPDATED_AT: &str = "2026-01-02T00:00:00Z";

    #[test]
    fn thread_by_number_has_a_kind_and_a_node_id() {
        let issue =
            json!({ "number": 7, "node_id": "I_7", "title": "Leak", "updated_at": UPDATED_AT });
        let pull_request = json!({ "number": 7, "node_id": "PR_7", "title": "Leak", "updated_at": UPDATED_AT, "pull_request": {} });
        for (document, kind, node_id) in
            [(issue, ThreadKind::Issue, "I_7"), (pull_request, ThreadKind::PullRequest, "PR_7")]
        {
            let found = FoundThread {
                number: 7,
                kind,
                node_id: node_id.to_owned(),
                title: "Leak".to_owned(),
                updated_at: SourceTime::parse(UPDATED_AT).unwrap(),
            };
            assert_eq!(ask(200, &[], &document.to_string()), Ok(ThreadAnswer::Found(found)));
        }
        let other =
            json!({ "number": 8, "node_id": "I_8", "title": "Leak", "updated_at": UPDATED_AT })
                .to_string();
        assert!(matches!(ask(200, &[], &other), Err(SourceError::InvalidResponse(_))));
    }

    #[test]
    fn thread_that_is_not_there_was_transferred_deleted_or_hidden() {
        let to = [("location", "https://api.github.com/repositories/42/issues/9")];
        let transferred = ThreadAnswer::Transferred { repository_id: 42, number: 9 };
        assert_eq!(ask(301, &to, "{}"), Ok(transferred));
        let to = [("location", "https://evil.example/issues/9")];
        assert!(matches!(ask(301, &to, "{}"), Err(SourceError::InvalidResponse(_))));
        let deleted = r#"{"message":"This issue was deleted"}"#;
        assert_eq!(ask(410, &[], deleted), Ok(ThreadAnswer::Deleted));
        assert!(matches!(ask(404, &[], "{}"), Err(SourceError::Hidden(_))));
    }

    fn ask(status: u16, headers: &[(&str, &str)], body: &str) -> Result<ThreadAnswer, SourceError> {
        let date = ("date", "Thu, 01 Jan 2026 00:00:00 GMT");
        let headers = test_headers(&[headers, &[date]].concat());
        let response = HttpResponse { status, headers, body: body.as_bytes().to_vec() };
        let response = rest::read_response(&response)?;
        ThreadByNumberQuery { repository_id: 1, number: 7 }.parse(&response, 1)
    }
}
