//! Identifies rows that could not be read.

use std::fmt;

use crate::walk::PageCursor;

/// Identifies an unreadable row, so that it can be requested again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowSubject {
    /// By its node id.
    Node(String),
    /// By its own cursor in the listing and the one before it, because not even its id could be read.
    Position { at: PageCursor, after: Option<PageCursor> },
}

impl RowSubject {
    /// Parses the output of [`Display`](fmt::Display).
    pub fn parse(text: &str) -> Self {
        let Some(position) = text.strip_prefix("at ") else { return Self::Node(text.to_owned()) };
        match position.split_once(" after ") {
            None => Self::Position { at: to_cursor(position), after: None },
            Some((at, after)) => {
                Self::Position { at: to_cursor(at), after: Some(to_cursor(after)) }
            }
        }
    }

    /// Returns the node id, if it could be read.
    pub fn node_id(&self) -> Option<&str> {
        match self {
            Self::Node(id) => Some(id),
            Self::Position { .. } => None,
        }
    }
}

/// Formats the subject as it is stored.
impl fmt::Display for RowSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(id) => f.write_str(id),
            Self::Position { at, after: None } => write!(f, "at {}", at.0),
            Self::Position { at, after: Some(after) } => write!(f, "at {} after {}", at.0, after.0),
        }
    }
}

fn to_cursor(text: &str) -> PageCursor {
    PageCursor(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_subject_round_trips_through_its_text() {
        for subject in [
            RowSubject::Node("I_kwDO".into()),
            RowSubject::Position { at: to_cursor("Y3Vy=="), after: None },
            RowSubject::Position { at: to_cursor("Y3Vy=="), after: Some(to_cursor("abc")) },
        ] {
            assert_eq!(RowSubject::parse(&subject.to_string()), subject);
        }
    }
}
