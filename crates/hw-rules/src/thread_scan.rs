//! Reading one thread whole, part by part: for the first time, and in order to find what is gone.
//!
//! The parts are read by cursors that stay where they are while the thread grows, so nothing shifts and nothing is
//! skipped. Progress is a position, which a later poll continues.

use std::fmt;

use crate::item::{CommentKind, ThreadKind};
use crate::walk::PageCursor;

/// A part of a thread that has pages of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThreadPart {
    /// Comments on the thread itself.
    Conversation,
    Reviews,
    /// Comments on lines, grouped by the line that they are about.
    ReviewThreads,
}

impl ThreadPart {
    const ALL: [Self; 3] = [Self::Conversation, Self::Reviews, Self::ReviewThreads];

    /// Returns the kind of the comments in it.
    pub fn comment_kind(self) -> CommentKind {
        match self {
            Self::Conversation => CommentKind::Conversation,
            Self::Reviews => CommentKind::Review,
            Self::ReviewThreads => CommentKind::ReviewComment,
        }
    }

    /// Returns the parts of a thread, in the order in which they are read; none for a discussion, which is not watched.
    pub fn of_thread(kind: ThreadKind) -> &'static [Self] {
        match kind {
            ThreadKind::Issue => &[Self::Conversation],
            ThreadKind::PullRequest => &Self::ALL,
            ThreadKind::Discussion => &[],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Reviews => "reviews",
            Self::ReviewThreads => "review-threads",
        }
    }
}

/// Where reading a thread continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadPosition {
    pub part: ThreadPart,
    /// None at the beginning of the part.
    pub after: Option<PageCursor>,
}

impl ThreadPosition {
    /// Returns the beginning of a thread; none for a thread without parts.
    pub fn beginning(kind: ThreadKind) -> Option<Self> {
        let part = *ThreadPart::of_thread(kind).first()?;
        Some(Self { part, after: None })
    }

    /// Returns where reading continues after a page that ends with `next`; none after the last one.
    pub fn advance(&self, kind: ThreadKind, next: Option<PageCursor>) -> Option<Self> {
        if next.is_some() {
            return Some(Self { part: self.part, after: next });
        }
        let mut later = ThreadPart::of_thread(kind).iter().filter(|part| **part > self.part);
        later.next().map(|part| Self { part: *part, after: None })
    }

    /// Parses the stored form; none if it is another one.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, after) = match text.split_once(' ') {
            Some((name, after)) => (name, Some(PageCursor(after.to_owned()))),
            None => (text, None),
        };
        let part = ThreadPart::ALL.into_iter().find(|part| part.name() == name)?;
        Some(Self { part, after })
    }
}

/// Writes the stored form, `reviews Y3Vyc29yOjE=`.
impl fmt::Display for ThreadPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.part.name())?;
        self.after.as_ref().map_or(Ok(()), |after| write!(f, " {}", after.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_positions_lead_through_every_part_and_page() {
        let kind = ThreadKind::PullRequest;
        let mut position = ThreadPosition::beginning(kind);
        let mut visited = Vec::new();
        for next in [Some("a"), None, None, Some("b c"), None] {
            let at = position.unwrap();
            visited.push(at.to_string());
            assert_eq!(ThreadPosition::parse(&at.to_string()), Some(at.clone()));
            position = at.advance(kind, next.map(|next| PageCursor(next.to_owned())));
        }
        assert_eq!(position, None);
        let expected =
            ["conversation", "conversation a", "reviews", "review-threads", "review-threads b c"];
        assert_eq!(visited, expected);
    }

    #[test]
    fn thread_position_of_an_issue_ends_with_its_conversation() {
        let position = ThreadPosition::beginning(ThreadKind::Issue).unwrap();
        assert_eq!(position.advance(ThreadKind::Issue, None), None);
        assert_eq!(ThreadPosition::beginning(ThreadKind::Discussion), None);
        assert_eq!(ThreadPosition::parse("smoke signals"), None);
    }
}
