//! One comment as GraphQL tells it.

use hw_rules::clean::storable;
use hw_rules::item::{Comment, Kind};
use hw_rules::lane::Surface;
use hw_rules::plausible;
use hw_rules::time::SourceTime;
use serde::Deserialize;

use super::number_in;
use crate::github::node::{Actor, BigInt};
use crate::raw_json::RawNode;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Raw {
    id: String,
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
    url: String,
    body: String,
    created_at: SourceTime,
    updated_at: SourceTime,
    author: Option<Actor>,
    state: Option<String>,
    path: Option<String>,
    line: Option<i64>,
    reply_to: Option<Identified>,
    pull_request_review: Option<Identified>,
    pull_request: Option<Numbered>,
    discussion: Option<Discussion>,
    repository: Option<Owner>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identified {
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
}

#[derive(Deserialize)]
struct Numbered {
    number: i64,
}

#[derive(Deserialize)]
struct Discussion {
    number: i64,
    repository: Owner,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    database_id: i64,
}

/// Reads one comment of a surface.
pub(super) fn read(surface: Surface, node: RawNode<'_>) -> Result<Comment, String> {
    let raw: Raw = node.read()?;
    let kind = surface.kind();
    let (repository_id, thread) = raw.place(kind)?;
    if kind == Kind::Review && raw.state.is_none() {
        return Err("a review without a state".into());
    }
    let comment = raw.into_comment(kind, repository_id, thread);
    match plausible::check_comment(&comment) {
        Ok(()) => Ok(comment),
        Err(impossible) => Err(impossible.to_string()),
    }
}

/// Whether it is a review that nobody but its author can see yet.
pub(super) fn is_pending(node: RawNode<'_>) -> bool {
    let is_unsubmitted = node.get("submittedAt").is_some_and(RawNode::is_null);
    is_unsubmitted && node.get("state").and_then(RawNode::as_text).as_deref() == Some("PENDING")
}

impl Raw {
    /// The repository, and the number of the thread in it.
    fn place(&self, kind: Kind) -> Result<(i64, i64), String> {
        if let Some(discussion) = &self.discussion {
            return Ok((discussion.repository.database_id, discussion.number));
        }
        let repository = self.repository.as_ref().ok_or("no repository")?;
        let number = match &self.pull_request {
            Some(pull_request) => pull_request.number,
            None if kind == Kind::IssueComment => number_in(&self.url)?,
            None => return Err("no thread".into()),
        };
        Ok((repository.database_id, number))
    }

    fn into_comment(self, kind: Kind, repository_id: i64, thread: i64) -> Comment {
        Comment {
            kind,
            id: self.database_id.0,
            node_id: self.id,
            repository_id,
            thread,
            reply_to: self.reply_to.map(|it| it.database_id.0),
            review_id: self.pull_request_review.map(|it| it.database_id.0),
            url: storable(&self.url),
            body: self.body,
            state: self.state.as_deref().map(storable),
            path: self.path.as_deref().map(storable),
            line: self.line,
            author: self.author.as_ref().map(|author| storable(&author.login)),
            author_id: self.author.and_then(|author| author.database_id),
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}
