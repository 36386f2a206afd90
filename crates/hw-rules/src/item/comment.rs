//! Defines the comments of a thread.

use serde::{Deserialize, Serialize};

use super::{AuthorKind, CommentKind, ObjectId, encode_optional};
use crate::source_time::SourceTime;
use crate::version::ContentDigest;

/// A comment on an issue or a pull request, a comment on a line, a review, or a comment or reply in a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    pub kind: CommentKind,
    pub id: i64,
    pub node_id: String,
    pub repository_id: i64,
    /// The number of the thread. All threads of a repository share one sequence of numbers.
    pub thread: i64,
    /// The id of the comment that this one replies to.
    pub reply_to: Option<i64>,
    /// The id of the review that this comment belongs to.
    pub review_id: Option<i64>,
    pub url: String,
    pub body: String,
    /// The verdict of a review.
    pub state: Option<String>,
    /// The file that the comment is on.
    pub path: Option<String>,
    pub line: Option<i64>,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    /// None if the account was deleted, or if no version that requests it has read the comment yet.
    pub author_kind: Option<AuthorKind>,
    /// The author's relation to the repository, in GitHub's own word (`MEMBER`, `NONE`, …). None if no version that
    /// requests it has read the comment yet.
    pub association: Option<String>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
}

impl Comment {
    pub fn key(&self) -> ObjectId {
        ObjectId { kind: self.kind.into(), id: self.id }
    }

    /// Hashes the fields that identify a text, whichever of the two APIs returned it. A rename changes the URL without
    /// updating the comment, path and line follow the diff, the node id has two formats, and some authors have an
    /// id in only one of the APIs. Author kind and association are left out as in a thread's digest.
    pub(super) fn digest(&self) -> ContentDigest {
        let numbers = [Some(self.repository_id), Some(self.thread), self.reply_to, self.review_id];
        let numbers: Vec<_> =
            numbers.into_iter().map(|number| number.map(|n| n.to_string())).collect();
        let mut fields = vec![self.body.as_str(), self.created_at.as_str()];
        for optional in numbers.iter().map(Option::as_deref) {
            fields.extend(encode_optional(optional));
        }
        for optional in [self.state.as_deref(), self.author.as_deref()] {
            fields.extend(encode_optional(optional));
        }
        ContentDigest::from_fields(fields)
    }
}
