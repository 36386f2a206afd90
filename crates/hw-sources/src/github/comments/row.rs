//! One comment as REST tells it.

use hw_rules::clean::storable;
use hw_rules::item::{Comment, Kind};
use hw_rules::plausible;
use hw_rules::time::SourceTime;
use serde::Deserialize;

use super::number_in;
use crate::raw_json::RawNode;

#[derive(Deserialize)]
struct Raw {
    id: i64,
    node_id: String,
    html_url: String,
    /// It must be there, but it may be null.
    #[serde(deserialize_with = "Option::deserialize")]
    body: Option<String>,
    #[serde(deserialize_with = "Option::deserialize")]
    user: Option<User>,
    #[serde(alias = "issue_url", alias = "pull_request_url")]
    thread_url: String,
    pull_request_review_id: Option<i64>,
    in_reply_to_id: Option<i64>,
    path: Option<String>,
    line: Option<i64>,
    created_at: SourceTime,
    updated_at: SourceTime,
}

#[derive(Deserialize)]
struct User {
    login: String,
    id: i64,
}

/// The account that stands in for those that were deleted; GraphQL says null instead.
const GHOST: &str = "ghost";

impl User {
    /// As GraphQL tells it, which leaves out the end of a bot's name.
    fn login(&self) -> &str {
        self.login.strip_suffix("[bot]").unwrap_or(&self.login)
    }
}

/// Reads one row of a list of this repository.
pub(super) fn read(kind: Kind, repository_id: i64, row: RawNode<'_>) -> Result<Comment, String> {
    let raw: Raw = row.read()?;
    let thread = number_in(&raw.thread_url)?;
    let comment = raw.into_comment(kind, repository_id, thread);
    match plausible::check_comment(&comment) {
        Ok(()) => Ok(comment),
        Err(impossible) => Err(impossible.to_string()),
    }
}

impl Raw {
    fn into_comment(self, kind: Kind, repository_id: i64, thread: i64) -> Comment {
        let author = self.user.filter(|user| user.login != GHOST);
        Comment {
            kind,
            id: self.id,
            node_id: self.node_id,
            repository_id,
            thread,
            reply_to: self.in_reply_to_id,
            review_id: self.pull_request_review_id,
            url: storable(&self.html_url),
            body: self.body.unwrap_or_default(),
            state: None,
            path: self.path.as_deref().map(storable),
            line: self.line,
            author: author.as_ref().map(|author| storable(author.login())),
            author_id: author.map(|author| author.id),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}

/// A row's id and time: its place in the list.
#[derive(Deserialize)]
pub(super) struct Brief {
    pub id: i64,
    pub updated_at: SourceTime,
}

impl Brief {
    pub(super) fn read(row: RawNode<'_>) -> Option<Self> {
        row.read().ok()
    }
}
