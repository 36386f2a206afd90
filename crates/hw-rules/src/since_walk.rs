//! Reads lists that take `since`. The newest page shows whether anything changed, and how much. Rows that do
//! not fit on it are walked, oldest change first.
//!
//! Page numbers over a moving order skip rows, so the walk re-anchors: each full page moves `since` up to
//! the second before its last row. `since` is documented as "after" and observed as "at or after"; one second
//! earlier is right either way. The next page number is requested only if a page does not move `since`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::OVERLAP_MS;
use crate::coverage::{Coverage, CoverageError};
use crate::plan::LaneState;
use crate::source_time::{SourceInstant, SourceTime};
use crate::walk::{ListingFloor, ListingHead};

/// The time after which a list is read again without any sign of change: an edited comment changes nothing else.
pub const RECHECK_AFTER_MS: i64 = 3_600_000;

/// A walk through a list, oldest change first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinceWalk {
    /// The floor that the walk started from.
    pub floor: ListingFloor,
    /// None requests the list without a filter, because every row is wanted.
    pub since: Option<SourceInstant>,
    /// The page number within two seconds. It is not stored: an interrupted walk starts these seconds over at
    /// their first page, because rows that left in the meantime have shifted the others.
    #[serde(skip, default = "first_page")]
    pub page: u32,
    /// The latest change read so far.
    pub newest: Option<SourceInstant>,
    /// The `Date` of the first page whose rows were as recent as the lists may lag. The walk may not claim
    /// anything later than that, because a later change may have been missing from the page.
    pub fresh: Option<SourceInstant>,
}

/// A position in a list: a page of the rows updated after `since`, or at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SincePosition {
    /// None is the beginning of the list.
    pub since: Option<SourceInstant>,
    pub page: u32,
}

impl fmt::Display for SincePosition {
    /// Writes the stored form, `page 2 since 1767225600000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.since {
            Some(since) => write!(f, "page {} since {}", self.page, since.0),
            None => write!(f, "page {} since beginning", self.page),
        }
    }
}

impl SincePosition {
    /// Parses the stored form; none if it is another one.
    pub fn parse(text: &str) -> Option<Self> {
        let (page, since) = text.strip_prefix("page ")?.split_once(" since ")?;
        let page = page.parse().ok().filter(|page| *page > 0)?;
        let since = match since {
            "beginning" => None,
            since => Some(SourceInstant(since.parse().ok()?)),
        };
        Some(Self { since, page })
    }
}

/// One page of a list that takes `since`, as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SincePage {
    /// The response's `Date`.
    pub date: SourceInstant,
    /// The id and the `updated_at` of each row.
    pub rows: Vec<(i64, SourceTime)>,
    /// The list reports another page.
    pub has_next: bool,
}

/// The walk after one more page.
struct SinceStep {
    /// The walk at its next page; none when that was the last one.
    next: Option<SinceWalk>,
    /// The same walk at the page that was read.
    read: SinceWalk,
}

impl SincePage {
    fn row_instants(&self) -> impl Iterator<Item = SourceInstant> {
        self.rows.iter().map(|(_, updated_at)| updated_at.instant())
    }

    /// Returns true if no late row can appear below a newest page: the page is the whole list, or it reaches
    /// further down than the lists may lag. Otherwise it may stay unchanged while a row appears below it.
    pub fn reaches_settled_rows(&self) -> bool {
        !self.has_next
            || self.row_instants().any(|updated_at| updated_at.plus_ms(OVERLAP_MS) < self.date)
    }

    fn listing_head(&self) -> ListingHead {
        let newest = self.rows.iter().max_by_key(|(id, updated_at)| (updated_at.instant(), *id));
        ListingHead {
            date: self.date,
            newest: newest.cloned(),
            total_count: None,
            excess: None,
            short_since: None,
        }
    }
}

impl SinceWalk {
    /// Starts a walk at a floor.
    pub fn from_floor(floor: ListingFloor) -> Self {
        let since = match floor {
            ListingFloor::Beginning => None,
            // for a `since` at the epoch, GitHub returns nothing at all
            ListingFloor::At(floor) => Some(second_before(floor)).filter(|since| since.0 > 0),
        };
        Self { floor, since, page: first_page(), newest: None, fresh: None }
    }

    /// Starts a walk at a position that an earlier one left.
    pub fn from_position(position: SincePosition) -> Self {
        let SincePosition { since, page } = position;
        Self { since, page, ..Self::from_floor(ListingFloor::Beginning) }
    }

    pub fn position(&self) -> SincePosition {
        SincePosition { since: self.since, page: self.page }
    }

    fn apply_page(&self, page: &SincePage) -> SinceStep {
        let last = page.row_instants().max();
        let is_fresh = last.is_some_and(|last| page.date < last.plus_ms(OVERLAP_MS));
        let fresh = self.fresh.or_else(|| is_fresh.then_some(page.date));
        let read = Self { newest: self.newest.max(last), fresh, ..self.clone() };
        if !page.has_next {
            return SinceStep { next: None, read };
        }
        let anchor = last.map(second_before);
        let next = if self.since < anchor {
            Self { since: anchor, page: first_page(), ..read.clone() }
        } else {
            Self { page: self.page.saturating_add(1), ..read.clone() }
        };
        SinceStep { next: Some(next), read }
    }

    /// Returns the watermark that the walk may claim once it has reached the end.
    fn claimable_through(&self, date: SourceInstant) -> SourceInstant {
        let newest = self.newest.unwrap_or(SourceInstant::BEGINNING).min(date);
        self.fresh.map_or(newest, |fresh| newest.min(fresh))
    }
}

impl Coverage {
    /// Opens a walk at the start of a turn if the window became wider.
    pub fn open_since(mut self, window: ListingFloor) -> Self {
        if self.since.is_none() && self.from.is_some_and(|from| window < from) {
            self.since = Some(SinceWalk::from_floor(window));
        }
        self
    }

    /// Returns the point above which rows of the newest page may be new: the watermark less the overlap, or the window.
    ///
    /// A longer overlap reads more again. What is claimed rests on the shortest one all the same.
    pub fn newest_page_stop(&self, window: ListingFloor, overlap_ms: i64) -> ListingFloor {
        let overlap_ms = overlap_ms.max(OVERLAP_MS);
        self.through.map_or(window, |through| ListingFloor::At(through.minus_ms(overlap_ms)))
    }

    /// Returns the coverage after the newest page, which was read down to `stop`. If the page does not reach it, it opens
    /// a walk.
    pub fn apply_newest_page(
        mut self,
        page: &SincePage,
        stop: ListingFloor,
    ) -> Result<Self, CoverageError> {
        self.check_source_date(page.date)?;
        let is_reached =
            !page.has_next || page.row_instants().any(|updated_at| stop.is_above(updated_at));
        if !is_reached {
            self.since = Some(SinceWalk::from_floor(stop));
            return Ok(self);
        }
        let reached = if page.has_next { stop } else { ListingFloor::Beginning };
        self.from = self.from.or(Some(reached));
        let head = page.listing_head();
        self.raise_watermark(head.claimable_through());
        self.head = Some(head);
        Ok(self)
    }

    /// Returns the coverage after one page of the walk.
    pub fn apply_since_page(mut self, page: &SincePage) -> Result<Self, CoverageError> {
        self.check_source_date(page.date)?;
        let walk = self.since.take().ok_or(CoverageError::NoOpenWalk)?;
        let SinceStep { next, read } = walk.apply_page(page);
        self.since = next;
        if self.since.is_none() {
            self.from = Some(self.from.map_or(read.floor, |from| from.min(read.floor)));
            self.raise_watermark(read.claimable_through(page.date));
            self.head = Some(page.listing_head());
        }
        Ok(self)
    }

    /// Returns the coverage after the newest page was found unchanged.
    pub fn confirm_unchanged(mut self, date: SourceInstant) -> Self {
        if let Some(head) = &mut self.head {
            head.date = head.date.max(date);
        }
        self
    }

    /// Returns the coverage of a per-thread lane from the moment all its threads are queued.
    pub fn open_per_thread(mut self) -> Self {
        self.from = Some(ListingFloor::Beginning);
        self
    }

    /// Returns the coverage of a per-thread lane after every queued thread was read. `date` is the time of the
    /// thread listing that queued them.
    pub fn close_per_thread(mut self, date: SourceInstant) -> Self {
        self.from = Some(ListingFloor::Beginning);
        self.raise_watermark(date);
        self.head = Some(ListingHead {
            date,
            newest: None,
            total_count: None,
            excess: None,
            short_since: None,
        });
        self
    }

    /// Moves the watermark of a lane that takes `since` back to `to`. The next turn reads everything after it again.
    pub fn reset_since(mut self, to: SourceInstant) -> Self {
        let Some(through) = self.through else { return Self::default() };
        let through = through.min(to);
        self.through = Some(through);
        self.head = None;
        self.since = Some(SinceWalk::from_floor(ListingFloor::At(through.minus_ms(OVERLAP_MS))));
        self
    }

    /// Moves the watermark of a per-thread lane back to `to`. A sweep reads all its threads again.
    pub fn reset_per_thread(mut self, to: SourceInstant) -> Self {
        self.through = self.through.map(|through| through.min(to));
        self.head = None;
        self
    }

    /// Returns the floor down to which rows are stored: the window, or lower if the coverage claims more, or
    /// will claim more once the open walk has reached its end.
    pub fn since_retention_floor(&self, window: ListingFloor) -> ListingFloor {
        let open_walk = self.since.as_ref().map(|walk| walk.floor);
        self.from.into_iter().chain(open_walk).fold(window, ListingFloor::min)
    }
}

/// Decides whether to read a list: its threads moved, a turn left something unfinished, or it was last read an
/// hour ago.
pub fn is_list_due(
    state: &LaneState,
    window: ListingFloor,
    has_moved: bool,
    date: Option<SourceInstant>,
) -> bool {
    let coverage = state.coverage.clone().open_since(window);
    let is_settled = coverage.is_complete() && coverage.is_settled();
    has_moved || !is_settled || state.has_leftovers() || !was_checked_recently(state, date)
}

/// Decides the same for a list that may not exist: without an open walk or a failure, nothing is unfinished.
pub fn is_optional_list_due(
    state: &LaneState,
    has_moved: bool,
    date: Option<SourceInstant>,
) -> bool {
    let is_unfinished = state.coverage.since.is_some() || state.failures > 0;
    has_moved || is_unfinished || !was_checked_recently(state, date)
}

fn was_checked_recently(state: &LaneState, date: Option<SourceInstant>) -> bool {
    let checked = state.checked_at_ms.zip(date);
    checked.is_some_and(|(at, date)| date.0 < at.saturating_add(RECHECK_AFTER_MS))
}

/// Returns true if a list was last read before every change of its threads was sure to be in it. The last read may
/// have been days ago, or in a pull that was cut off.
pub fn is_behind_threads(state: &LaneState, threads: &LaneState) -> bool {
    let moved =
        threads.coverage.head.as_ref().map(|head| head.claimable_through().plus_ms(OVERLAP_MS));
    state.checked_at_ms.map(SourceInstant) <= moved
}

fn first_page() -> u32 {
    1
}

/// Returns the second before the one that contains `instant`. A list of rows "after" it starts with that second.
fn second_before(instant: SourceInstant) -> SourceInstant {
    instant.minus_ms(instant.0.rem_euclid(1_000)).minus_ms(1_000)
}

#[cfg(test)]
#[path = "since_walk_tests.rs"]
mod tests;
