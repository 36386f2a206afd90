//! What a client hands over: observations, the shape of the page for the rules, and what was unreadable.

use hw_rules::item::{Comment, Item, Observation};
use hw_rules::plausible::Impossible;
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

impl ItemsPage {
    /// The ids of its rows.
    pub fn ids(&self) -> impl Iterator<Item = i64> {
        self.shape.entries.iter().map(|entry| entry.id)
    }

    /// The places of its rows that could not be read.
    pub fn places(&self) -> impl Iterator<Item = String> {
        self.unreadable.iter().map(|row| row.subject.to_string())
    }
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

impl RollRow {
    /// The row of something that was read whole.
    pub fn of(observation: &Observation) -> Option<Self> {
        let Item::Comment(comment) = &observation.item else { return None };
        let Comment { id, node_id, updated_at, .. } = comment;
        Some(Self { id: *id, node_id: node_id.clone(), updated_at: updated_at.clone() })
    }
}

/// Items asked for by id: those that answered, and those that did not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LookPage {
    pub date: Mark,
    pub seen: Seen,
    /// Whether what must be there answered in the same look: the scope, and one of the siblings.
    pub is_vouched_for: bool,
    pub observations: Vec<Observation>,
    /// Node ids that the source says it does not know, or no longer of this scope.
    pub absent: Vec<String>,
    /// What answered from another scope, where it went with all it holds: neither absent nor of this one.
    pub elsewhere: Vec<Observation>,
    pub unreadable: Vec<Unreadable>,
}

impl LookPage {
    /// A look that has met nobody yet.
    pub(crate) fn empty(date: Mark, seen: Seen, is_vouched_for: bool) -> Self {
        Self {
            date,
            seen,
            is_vouched_for,
            observations: Vec::new(),
            absent: Vec::new(),
            elsewhere: Vec::new(),
            unreadable: Vec::new(),
        }
    }
}

/// One row of a page that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub subject: Subject,
    pub reason: String,
    /// What came instead, as JSON.
    pub raw: String,
    /// When it was last changed, where that much could be read.
    pub updated_at: Option<SourceTime>,
    pub seen: Seen,
}

impl Unreadable {
    /// Whether it is something that no source can have: asking again does not help.
    pub fn is_impossible(&self) -> bool {
        Impossible::is_reason(&self.reason)
    }
}

/// How to ask for an unreadable row again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// By its node id.
    Node(String),
    /// Not even its id came: by its own place in the listing, and the place before it.
    Place { at: walk::Cursor, after: Option<walk::Cursor> },
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Node(id) => f.write_str(id),
            Self::Place { at, after: None } => write!(f, "at {}", at.0),
            Self::Place { at, after: Some(after) } => write!(f, "at {} after {}", at.0, after.0),
        }
    }
}

impl Subject {
    /// Reads what [`Display`](std::fmt::Display) wrote.
    pub fn parse(text: &str) -> Self {
        let Some(place) = text.strip_prefix("at ") else { return Self::Node(text.to_owned()) };
        let cursor = |text: &str| walk::Cursor(text.to_owned());
        match place.split_once(" after ") {
            None => Self::Place { at: cursor(place), after: None },
            Some((at, after)) => Self::Place { at: cursor(at), after: Some(cursor(after)) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_reads_what_it_wrote() {
        let cursor = |text: &str| walk::Cursor(text.to_owned());
        for subject in [
            Subject::Node("I_kwDO".into()),
            Subject::Place { at: cursor("Y3Vy=="), after: None },
            Subject::Place { at: cursor("Y3Vy=="), after: Some(cursor("abc")) },
        ] {
            assert_eq!(Subject::parse(&subject.to_string()), subject);
        }
    }
}
