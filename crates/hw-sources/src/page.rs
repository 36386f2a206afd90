//! What a client hands over: observations, the shape of the page for the rules, and what was unreadable.

use hw_rules::item::Observation;
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::Seen;
use hw_rules::walk;

/// One page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemsPage {
    pub observations: Vec<Observation>,
    pub shape: walk::Page,
    pub unreadable: Vec<Unreadable>,
}

/// One page of a sweep: who is there, and since when unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollPage {
    pub date: Mark,
    pub seen: Seen,
    pub rows: Vec<RollRow>,
    pub next: Option<walk::Cursor>,
    /// Rows that could not be read: with any of these the roll is not complete.
    pub unreadable: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollRow {
    pub id: i64,
    pub node_id: String,
    pub updated_at: SourceTime,
}

/// Items asked for by id: those that answered, and those that did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookPage {
    pub date: Mark,
    pub seen: Seen,
    /// Whether the scope itself answered in the same look.
    pub scope_answered: bool,
    pub observations: Vec<Observation>,
    /// Node ids that the source says it does not know, or no longer of this scope.
    pub absent: Vec<String>,
    pub unreadable: Vec<Unreadable>,
}

/// One row of a page that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub subject: Subject,
    pub reason: String,
    /// What came instead, as JSON.
    pub raw: String,
    pub seen: Seen,
}

/// How to ask for an unreadable row again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// By its node id.
    Node(String),
    /// Not even its id came: the one row after this place in the listing.
    After(Option<walk::Cursor>),
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node(id) => f.write_str(id),
            Self::After(cursor) => write!(f, "after:{}", cursor.as_ref().map_or("", |c| &c.0)),
        }
    }
}

impl Subject {
    /// Reads what [`Display`](std::fmt::Display) wrote.
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix("after:") {
            None => Self::Node(text.to_owned()),
            Some("") => Self::After(None),
            Some(cursor) => Self::After(Some(walk::Cursor(cursor.to_owned()))),
        }
    }
}
