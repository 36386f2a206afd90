//! Reads one comment from its GraphQL node.

use hw_rules::item::{Comment, CommentKind};
use hw_rules::item_validation;
use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::source_time::SourceTime;
use serde::Deserialize;

use super::parse_thread_number;
use crate::github::node::{ActorNode, BigInt};
use crate::raw_json::RawNode;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentNode {
    id: String,
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
    url: String,
    body: String,
    created_at: SourceTime,
    updated_at: SourceTime,
    author: Option<ActorNode>,
    author_association: Option<String>,
    state: Option<String>,
    path: Option<String>,
    line: Option<i64>,
    reply_to: Option<DatabaseIdRef>,
    pull_request_review: Option<DatabaseIdRef>,
    pull_request: Option<PullRequestRef>,
    discussion: Option<DiscussionRef>,
    repository: Option<CommentRepository>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DatabaseIdRef {
    #[serde(alias = "fullDatabaseId")]
    database_id: BigInt,
}

#[derive(Deserialize)]
struct PullRequestRef {
    number: i64,
}

#[derive(Deserialize)]
struct DiscussionRef {
    number: i64,
    repository: CommentRepository,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommentRepository {
    database_id: i64,
}

/// Reads a comment of this kind.
pub(super) fn read_comment(kind: CommentKind, node: RawNode<'_>) -> Result<Comment, String> {
    let raw: CommentNode = node.parse_as()?;
    let location = raw.thread_location(kind)?;
    if kind == CommentKind::Review && raw.state.is_none() {
        return Err("a review without a state".into());
    }
    let comment = raw.into_comment(kind, location);
    item_validation::check_comment(&comment).map_err(|impossible| impossible.to_string())?;
    Ok(comment)
}

/// Returns true for a review that only its author can see yet.
pub(super) fn is_pending_review(node: RawNode<'_>) -> bool {
    let is_unsubmitted = node.get("submittedAt").is_some_and(RawNode::is_null);
    is_unsubmitted && node.get("state").and_then(RawNode::as_text).as_deref() == Some("PENDING")
}

/// A thread, by its number in its repository.
#[derive(Clone, Copy)]
struct ThreadLocation {
    repository_id: i64,
    number: i64,
}

impl CommentNode {
    /// Returns the thread that the comment belongs to.
    fn thread_location(&self, kind: CommentKind) -> Result<ThreadLocation, String> {
        if let Some(discussion) = &self.discussion {
            let repository_id = discussion.repository.database_id;
            return Ok(ThreadLocation { repository_id, number: discussion.number });
        }
        let repository = self.repository.as_ref().ok_or("no repository")?;
        let number = match &self.pull_request {
            Some(pull_request) => pull_request.number,
            None if kind == CommentKind::Conversation => parse_thread_number(&self.url)?,
            None => return Err("no thread".into()),
        };
        Ok(ThreadLocation { repository_id: repository.database_id, number })
    }

    fn into_comment(self, kind: CommentKind, location: ThreadLocation) -> Comment {
        Comment {
            kind,
            id: self.database_id.0,
            node_id: self.id,
            repository_id: location.repository_id,
            thread: location.number,
            reply_to: self.reply_to.map(|comment| comment.database_id.0),
            review_id: self.pull_request_review.map(|review| review.database_id.0),
            url: sanitize_for_storage(&self.url),
            body: self.body,
            state: self.state.as_deref().map(sanitize_for_storage),
            path: self.path.as_deref().map(sanitize_for_storage),
            line: self.line,
            author: self.author.as_ref().map(|author| sanitize_for_storage(&author.login)),
            author_id: self.author.as_ref().and_then(|author| author.database_id),
            author_kind: self.author.and_then(|author| author.kind()),
            association: self.author_association,
            created_at: self.created_at,
            updated_at: self.updated_at,
        }
    }
}
