//! Cursors: positions in a list from which the next page continues.

use std::fmt;
use std::str::FromStr;

use hw_rules::item::{Comment, CommentKind};
use hw_rules::source_time::SourceTime;

use super::comment_list::CommentRow;
use super::thread_list::ThreadRow;

/// The last thread of a page. The next page starts after it, even if rows were written in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadCursor {
    pub created_at: String,
    pub id: i64,
}

/// The last comment of a page. The kind is part of it, because ids of different kinds can be equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentCursor {
    pub created_at: String,
    pub kind: CommentKind,
    pub id: i64,
}

/// A text that is not a cursor of the list it was passed to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this list: {0:?}")]
pub struct InvalidListCursor(pub String);

impl ThreadCursor {
    pub fn from_row(row: &ThreadRow) -> Self {
        Self { created_at: row.thread.created_at.as_str().to_owned(), id: row.thread.id }
    }
}

impl CommentCursor {
    pub fn from_row(row: &CommentRow) -> Self {
        let Comment { created_at, kind, id, .. } = &row.comment;
        Self { created_at: created_at.as_str().to_owned(), kind: *kind, id: *id }
    }
}

impl fmt::Display for ThreadCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.created_at, self.id)
    }
}

impl FromStr for ThreadCursor {
    type Err = InvalidListCursor;

    fn from_str(text: &str) -> Result<Self, InvalidListCursor> {
        parse_thread_cursor(text).ok_or_else(|| InvalidListCursor(text.to_owned()))
    }
}

fn parse_thread_cursor(text: &str) -> Option<ThreadCursor> {
    let (created_at, id) = text.rsplit_once('_')?;
    SourceTime::parse(created_at).ok()?;
    Some(ThreadCursor { created_at: created_at.to_owned(), id: id.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_cursor_survives_a_round_trip() {
        let cursor = ThreadCursor { created_at: "2025-01-02T03:04:05Z".into(), id: 12 };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
    }

    #[test]
    fn thread_cursor_rejects_other_texts() {
        for text in ["", "_", "2025-01-02T03:04:05Z", "x_1", "2025-01-02T03:04:05Z_x"] {
            assert!(text.parse::<ThreadCursor>().is_err(), "{text}");
        }
    }
}
