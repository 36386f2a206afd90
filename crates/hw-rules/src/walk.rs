//! Walks a listing newest first: from the top down to a stop, one page at a time.
//!
//! Pages are requested by keyset cursor, so an item that is edited during a walk moves to the top without
//! shifting the rest; the next walk from the top finds it. A walk carries everything needed to resume it.

use serde::{Deserialize, Serialize};

use crate::OVERLAP_MS;
use crate::source_time::{SourceInstant, SourceTime};

/// The source's opaque token for a position in a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageCursor(pub String);

/// The lower end of a range: the very beginning of the listing, or a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ListingFloor {
    Beginning,
    At(SourceInstant),
}

impl ListingFloor {
    /// Returns true if an item updated at this time is strictly below the floor.
    pub fn is_above(self, updated_at: SourceInstant) -> bool {
        match self {
            Self::Beginning => false,
            Self::At(floor) => updated_at < floor,
        }
    }
}

/// One row of a page, reduced to what the rules need; it is known even if the item itself is unreadable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingEntry {
    pub id: i64,
    pub updated_at: SourceTime,
    pub cursor: PageCursor,
}

/// One page of a listing ordered newest first, as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingPage {
    /// The response's `Date`.
    pub date: SourceInstant,
    pub entries: Vec<ListingEntry>,
    pub total_count: Option<i64>,
    /// The cursor of the next page; none at the end of the listing.
    pub next: Option<PageCursor>,
}

/// The state of the whole listing, as the first page of a walk reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingHead {
    pub date: SourceInstant,
    /// The newest item: its id and its `updated_at`.
    pub newest: Option<(i64, SourceTime)>,
    pub total_count: Option<i64>,
    /// The number of rows counted but not stored, when that difference was last explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess: Option<i64>,
    /// The time since which sweeps have listed fewer rows than the listing counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_since: Option<SourceInstant>,
}

/// A walk that has not reached its stop yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewestFirstWalk {
    pub stop: ListingFloor,
    /// The head of the listing; none before the first page.
    pub head: Option<ListingHead>,
    /// The last row read; the next page starts after it.
    pub cursor: Option<PageCursor>,
}

/// The result of a walk that reached its stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedWalk {
    pub head: ListingHead,
    /// The floor it actually reached: the stop, or the beginning if the listing ended first.
    pub reached: ListingFloor,
    /// The last row at or above the stop; older rows follow it.
    pub bottom: Option<PageCursor>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkStep {
    Open(NewestFirstWalk),
    Closed(ClosedWalk),
}

/// A page whose next cursor is the one it was requested with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the listing returns the same cursor again: {0:?}")]
pub struct CursorLoop(pub PageCursor);

impl NewestFirstWalk {
    /// Creates a walk from the top down to the stop.
    pub fn with_stop(stop: ListingFloor) -> Self {
        Self { stop, head: None, cursor: None }
    }

    /// Returns the walk after one more page.
    pub fn apply_page(self, page: &ListingPage) -> Result<WalkStep, CursorLoop> {
        // a page whose rows are all left out says nothing about the head
        let is_head_known = self.head.is_some() || !page.entries.is_empty();
        let head = self.head.unwrap_or_else(|| ListingHead::from_page(page));
        let within =
            page.entries.iter().take_while(|entry| !self.stop.is_above(entry.updated_at.instant()));
        let bottom =
            within.last().map(|entry| entry.cursor.clone()).or_else(|| self.cursor.clone());
        if page.entries.iter().any(|entry| self.stop.is_above(entry.updated_at.instant())) {
            return Ok(WalkStep::Closed(ClosedWalk { head, reached: self.stop, bottom }));
        }
        match &page.next {
            None => {
                Ok(WalkStep::Closed(ClosedWalk { head, reached: ListingFloor::Beginning, bottom }))
            }
            Some(next) if Some(next) == self.cursor.as_ref() => Err(CursorLoop(next.clone())),
            Some(next) => Ok(WalkStep::Open(Self {
                stop: self.stop,
                head: is_head_known.then_some(head),
                cursor: Some(next.clone()),
            })),
        }
    }
}

impl ListingHead {
    fn from_page(page: &ListingPage) -> Self {
        // of several items in one second, the first one: a probe shows the same
        let newest = page.entries.iter().rev().max_by_key(|entry| entry.updated_at.instant());
        Self {
            date: page.date,
            newest: newest.map(|entry| (entry.id, entry.updated_at.clone())),
            total_count: page.total_count,
            excess: None,
            short_since: None,
        }
    }

    /// Returns the watermark that a walk from here may claim once it has reached its stop.
    ///
    /// If the newest item is later than the response's `Date`, the claim ends before every row that the lists may
    /// still be missing: a watermark in the future would hide every change before it. An empty listing raises
    /// nothing: it may be a fault, or a feature that is switched off for a while, and reading it again from the
    /// beginning costs one page.
    pub fn claimable_through(&self) -> SourceInstant {
        match self.newest.as_ref().map(|(_, updated_at)| updated_at.instant()) {
            None => SourceInstant::BEGINNING,
            Some(newest) if newest > self.date => self.date.minus_ms(OVERLAP_MS),
            Some(newest) => newest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walk_stops_at_the_first_row_strictly_older_than_the_stop() {
        let walk = NewestFirstWalk::with_stop(ListingFloor::At(SourceInstant(8_000)));
        let WalkStep::Open(walk) = walk.apply_page(&page(&[10, 9, 8], Some("more"))).unwrap()
        else {
            panic!("a row at the stop itself is not older")
        };
        let step = walk.apply_page(&page(&[8, 7], Some("more"))).unwrap();
        let WalkStep::Closed(closed) = step else { panic!("7 is older than 8") };
        assert_eq!(closed.reached, ListingFloor::At(SourceInstant(8_000)));
        assert_eq!(closed.bottom, Some(PageCursor("8".into())));
        assert_eq!(closed.head.claimable_through(), SourceInstant(10_000));
    }

    #[test]
    fn walk_to_the_end_of_a_listing_reaches_the_beginning() {
        let step = NewestFirstWalk::with_stop(ListingFloor::At(SourceInstant(1)))
            .apply_page(&page(&[5], None))
            .unwrap();
        assert!(matches!(
            step,
            WalkStep::Closed(ClosedWalk { reached: ListingFloor::Beginning, .. })
        ));
    }

    #[test]
    fn walk_never_claims_a_time_in_the_future() {
        let step = NewestFirstWalk::with_stop(ListingFloor::Beginning)
            .apply_page(&page(&[5_000_000], None))
            .unwrap();
        let WalkStep::Closed(closed) = step else { panic!("the listing ended") };
        assert_eq!(closed.head.claimable_through(), SourceInstant(100_000 - OVERLAP_MS));
    }

    #[test]
    fn walk_of_an_empty_listing_claims_nothing() {
        let step = NewestFirstWalk::with_stop(ListingFloor::Beginning)
            .apply_page(&page(&[], None))
            .unwrap();
        let WalkStep::Closed(closed) = step else { panic!("the listing ended") };
        assert_eq!(closed.head.claimable_through(), SourceInstant::BEGINNING);
    }

    #[test]
    fn walk_records_the_newest_item_that_a_probe_shows() {
        let step = NewestFirstWalk::with_stop(ListingFloor::Beginning).apply_page(&ListingPage {
            entries: [(7, 5), (3, 5), (1, 4)].map(|(id, s)| entry(id, s)).to_vec(),
            ..page(&[], None)
        });
        let Ok(WalkStep::Closed(closed)) = step else { panic!("the listing ended") };
        assert_eq!(closed.head.newest.map(|(id, _)| id), Some(7));
    }

    #[test]
    fn walk_rejects_a_repeated_cursor() {
        let WalkStep::Open(walk) = NewestFirstWalk::with_stop(ListingFloor::Beginning)
            .apply_page(&page(&[5], Some("c")))
            .unwrap()
        else {
            panic!("there is more")
        };
        assert_eq!(
            walk.apply_page(&page(&[4], Some("c"))),
            Err(CursorLoop(PageCursor("c".into())))
        );
    }

    fn page(seconds: &[i64], next: Option<&str>) -> ListingPage {
        ListingPage {
            date: SourceInstant(100_000),
            entries: seconds.iter().map(|second| entry(*second, *second)).collect(),
            total_count: None,
            next: next.map(|c| PageCursor(c.to_owned())),
        }
    }

    fn entry(id: i64, second: i64) -> ListingEntry {
        ListingEntry {
            id,
            updated_at: SourceTime::parse(&SourceInstant(second * 1_000).to_string()).unwrap(),
            cursor: PageCursor(second.to_string()),
        }
    }
}
