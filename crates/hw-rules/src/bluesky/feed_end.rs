//! Decides what the end of a feed's page means.
//!
//! Feeds are read newest first, and their cursor leads to older rows only. A server may cut a page short, or return an
//! empty one, and still continue; and it may leave the cursor out although older rows exist.

use crate::source_time::SourceInstant;
use crate::walk::{ListingFloor, PageCursor};

/// The place in a feed that a page was requested at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedPosition<'a> {
    Top,
    /// After a cursor that a page of this run returned.
    After(&'a PageCursor),
    /// After a cursor that an earlier run stored. Servers may no longer accept it.
    AfterSaved(&'a PageCursor),
}

impl<'a> FeedPosition<'a> {
    /// Returns the cursor that the request has.
    pub fn cursor(self) -> Option<&'a PageCursor> {
        match self {
            Self::Top => None,
            Self::After(cursor) | Self::AfterSaved(cursor) => Some(cursor),
        }
    }

    pub fn is_saved(self) -> bool {
        matches!(self, Self::AfterSaved(_))
    }
}

/// The rows of a page, as far as its end depends on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedRows {
    /// All rows, also those that could not be read.
    pub count: usize,
    /// The time of the oldest row; none if no row has a readable time.
    pub oldest: Option<SourceInstant>,
}

/// The rows that follow a page of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedEnd {
    /// Older rows, after this cursor.
    Continues(PageCursor),
    /// Nothing that matters: a row below the stop was read.
    ReachedStop,
    /// Nothing: the page is empty, and has no cursor.
    Empty,
    /// Unknown: there are rows, but no cursor that leads on. Older rows may exist, so the walk closes at its
    /// oldest row, and a later read of the whole feed finds them.
    Unsaid { oldest: Option<SourceInstant> },
    /// An empty page in answer to a stored cursor. Servers answer so if they cannot read the cursor: start again from
    /// the top.
    CursorRefused,
}

impl FeedEnd {
    /// Returns the floor that a walk down to this stop has reached; none if it has not ended.
    pub fn reached_floor(&self, stop: ListingFloor) -> Option<ListingFloor> {
        match self {
            Self::ReachedStop => Some(stop),
            Self::Empty => Some(ListingFloor::Beginning),
            Self::Unsaid { oldest } => oldest.map(ListingFloor::At),
            Self::Continues(_) | Self::CursorRefused => None,
        }
    }
}

/// Decides what follows a page that was requested at this position by a walk down to this stop.
pub fn judge_feed_end(
    rows: FeedRows,
    next: Option<&PageCursor>,
    position: FeedPosition<'_>,
    stop: ListingFloor,
) -> FeedEnd {
    let FeedRows { count, oldest } = rows;
    if oldest.is_some_and(|oldest| stop.is_above(oldest)) {
        return FeedEnd::ReachedStop;
    }
    match next {
        // a cursor that leads back to the same page leads nowhere
        Some(next) if position.cursor() != Some(next) => FeedEnd::Continues(next.clone()),
        None | Some(_) if count > 0 => FeedEnd::Unsaid { oldest },
        None | Some(_) if position.is_saved() => FeedEnd::CursorRefused,
        None => FeedEnd::Empty,
        Some(_) => FeedEnd::Unsaid { oldest: None },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn feed_end_follows_from_rows_and_cursor() {
        let (next, same) = (cursor("next"), cursor("same"));
        let continues = FeedEnd::Continues(next.clone());
        let (top, after, saved) =
            (FeedPosition::Top, FeedPosition::After(&same), FeedPosition::AfterSaved(&same));
        let unsaid = |second: i64| FeedEnd::Unsaid { oldest: Some(SourceInstant(second)) };
        for (rows, cursor, position, end) in [
            (rows(50, 9), Some(&next), top, continues.clone()),
            (rows(1, 9), Some(&next), saved, continues.clone()),
            (EMPTY, Some(&next), saved, continues.clone()),
            (rows(50, 5), Some(&next), top, continues),
            (rows(50, 4), Some(&next), top, FeedEnd::ReachedStop),
            (rows(50, 4), None, saved, FeedEnd::ReachedStop),
            (rows(50, 9), None, top, unsaid(9)),
            (rows(50, 9), None, saved, unsaid(9)),
            (rows(50, 9), Some(&same), after, unsaid(9)),
            (EMPTY, None, top, FeedEnd::Empty),
            (EMPTY, None, after, FeedEnd::Empty),
            (EMPTY, None, saved, FeedEnd::CursorRefused),
            (EMPTY, Some(&same), saved, FeedEnd::CursorRefused),
            (EMPTY, Some(&same), after, FeedEnd::Unsaid { oldest: None }),
            (FeedRows { count: 3, oldest: None }, None, top, FeedEnd::Unsaid { oldest: None }),
        ] {
            let judged = judge_feed_end(rows, cursor, position, STOP);
            assert_eq!(judged, end, "{rows:?} {cursor:?} {position:?}");
        }
    }

    #[test]
    fn feed_end_claims_no_more_than_was_read() {
        for (end, floor) in [
            (FeedEnd::ReachedStop, Some(STOP)),
            (FeedEnd::Empty, Some(ListingFloor::Beginning)),
            (
                FeedEnd::Unsaid { oldest: Some(SourceInstant(9)) },
                Some(ListingFloor::At(SourceInstant(9))),
            ),
            (FeedEnd::Unsaid { oldest: None }, None),
            (FeedEnd::CursorRefused, None),
            (FeedEnd::Continues(cursor("next")), None),
        ] {
            assert_eq!(end.reached_floor(STOP), floor, "{end:?}");
        }
    }

    proptest! {
        #[test]
        fn feed_end_never_closes_a_walk_for_a_saved_cursor_without_rows(has_next in any::<bool>()) {
            let (saved, next) = (cursor("saved"), cursor("next"));
            let next = has_next.then_some(&next);
            let end = judge_feed_end(EMPTY, next, FeedPosition::AfterSaved(&saved), STOP);
            prop_assert_eq!(end.reached_floor(STOP), None);
        }
    }

    const STOP: ListingFloor = ListingFloor::At(SourceInstant(5));
    const EMPTY: FeedRows = FeedRows { count: 0, oldest: None };

    fn rows(count: usize, oldest: i64) -> FeedRows {
        FeedRows { count, oldest: Some(SourceInstant(oldest)) }
    }

    fn cursor(text: &str) -> PageCursor {
        PageCursor(text.to_owned())
    }
}
