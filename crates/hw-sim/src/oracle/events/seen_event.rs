//! The events that a reader delivered, in the oracle's words.

use crate::world::CommentKind;

/// One event of a watched thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenEvent {
    pub repository_id: i64,
    /// The number of the thread.
    pub number: i64,
    pub change: SeenChange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenChange {
    /// A comment, a review or a comment on a line, with its text.
    Said(SeenText),
    /// The same, which is gone.
    Withdrawn {
        kind: CommentKind,
        id: i64,
    },
    State(SeenState),
}

/// A text that was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenText {
    pub kind: CommentKind,
    pub id: i64,
    /// True if it was delivered as new, false if as edited.
    pub is_created: bool,
    pub body: String,
    pub updated_at: String,
    /// The verdict of a review; `None` if it is not compared.
    pub review_state: Option<String>,
}

/// A change of a thread's state, with the new value where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeenState {
    Opened,
    Closed,
    Reopened,
    Merged,
    /// The newest commit; empty if it is not compared.
    HeadMoved(String),
    /// The labels in alphabetical order; `None` if they are not compared.
    Labeled(Option<Vec<String>>),
}

impl SeenState {
    pub(super) fn new_head(&self) -> Option<&str> {
        if let Self::HeadMoved(head) = self { Some(head) } else { None }
    }

    pub(super) fn new_labels(&self) -> Option<&Option<Vec<String>>> {
        if let Self::Labeled(labels) = self { Some(labels) } else { None }
    }
}

impl SeenChange {
    /// Returns the comment that the event is about, if it is not about the thread.
    pub(super) fn comment_key(&self) -> Option<(CommentKind, i64)> {
        match self {
            Self::Said(text) => Some((text.kind, text.id)),
            Self::Withdrawn { kind, id } => Some((*kind, *id)),
            Self::State(_) => None,
        }
    }
}
