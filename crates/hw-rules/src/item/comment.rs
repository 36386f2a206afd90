//! What is said in a thread.

use serde::{Deserialize, Serialize};

use super::{Key, Kind, told};
use crate::time::SourceTime;
use crate::version::Digest;

/// A comment of the conversation, a comment on a line, a review, or a comment or reply in a discussion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// One of [`Kind::COMMENTS`].
    pub kind: Kind,
    pub id: i64,
    pub node_id: String,
    pub repository_id: i64,
    /// The number of the thread it belongs to: the threads of a repository share one row of numbers.
    pub thread: i64,
    /// The comment it answers.
    pub reply_to: Option<i64>,
    /// The review it belongs to.
    pub review_id: Option<i64>,
    pub url: String,
    pub body: String,
    /// A review's verdict.
    pub state: Option<String>,
    /// The file it is about.
    pub path: Option<String>,
    pub line: Option<i64>,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
}

impl Comment {
    pub fn key(&self) -> Key {
        Key { kind: self.kind, id: self.id }
    }

    /// The URL is left out: a rename changes it without touching the comment. Path and line follow the diff;
    /// the node id has two formats, and some authors have a number in one of the two APIs only: a comment is
    /// the same whichever of them showed it.
    pub(super) fn digest(&self) -> Digest {
        let numbers = [Some(self.repository_id), Some(self.thread), self.reply_to, self.review_id];
        let numbers: Vec<_> =
            numbers.into_iter().map(|number| number.map(|it| it.to_string())).collect();
        let mut fields = vec![self.body.as_str(), self.created_at.as_str()];
        for optional in numbers.iter().map(Option::as_deref) {
            fields.extend(told(optional));
        }
        for optional in [self.state.as_deref(), self.author.as_deref()] {
            fields.extend(told(optional));
        }
        Digest::of(fields)
    }
}
