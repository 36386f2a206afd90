//! A place in a list, from which the next page goes on.

use std::fmt;
use std::str::FromStr;

use hw_rules::item::{Comment, Kind};
use hw_rules::time::SourceTime;

use super::comments::CommentRow;
use super::threads::ThreadRow;

/// The last thread of a page: the next page comes after it, whatever was written meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    pub created_at: String,
    pub id: i64,
}

/// The same among comments of every sort, whose ids collide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AfterComment {
    pub created_at: String,
    pub kind: Kind,
    pub id: i64,
}

impl AfterComment {
    pub fn of(row: &CommentRow) -> Self {
        let Comment { created_at, kind, id, .. } = &row.comment;
        Self { created_at: created_at.as_str().to_owned(), kind: *kind, id: *id }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor of this list: {0:?}")]
pub struct NotACursor(pub String);

impl After {
    pub fn of(row: &ThreadRow) -> Self {
        Self { created_at: row.thread.created_at.as_str().to_owned(), id: row.thread.id }
    }
}

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}", self.created_at, self.id)
    }
}

impl FromStr for After {
    type Err = NotACursor;

    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let parts = || {
            let (created_at, id) = text.rsplit_once('_')?;
            SourceTime::parse(created_at).ok()?;
            Some(Self { created_at: created_at.to_owned(), id: id.parse().ok()? })
        };
        parts().ok_or_else(|| NotACursor(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went() {
        let after = After { created_at: "2025-01-02T03:04:05Z".into(), id: 12 };
        assert_eq!(after.to_string().parse(), Ok(after));
    }

    #[test]
    fn anything_else_is_no_cursor() {
        for text in ["", "_", "2025-01-02T03:04:05Z", "x_1", "2025-01-02T03:04:05Z_x"] {
            assert!(text.parse::<After>().is_err(), "{text}");
        }
    }
}
