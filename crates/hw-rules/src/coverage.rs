//! Tracks how much of a lane is complete: the range [from, through], plus at most one open gap.
//!
//! `through`, the watermark, moves only when a walk has reached its stop. Only a reset moves it back, and
//! [`Coverage::reset_newest_first`] opens a gap when it does. An unfinished walk keeps its cursor. The next turn
//! turns such a walk into the gap: it reads the head first, then fills the gap from that cursor.

use serde::{Deserialize, Serialize};

use crate::OVERLAP_MS;
use crate::page_guard::EndlessListing;
use crate::probe::ListingProbe;
use crate::since_walk::SinceWalk;
use crate::source_time::SourceInstant;
use crate::walk::{
    ClosedWalk, CursorLoop, ListingFloor, ListingHead, ListingPage, NewestFirstWalk, PageCursor,
    WalkStep,
};

/// The state of one lane: its complete range, and the walks that are still open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// The lower end of the complete range; none before the first walk has closed.
    pub from: Option<ListingFloor>,
    /// The watermark: the upper end of the complete range.
    pub through: Option<SourceInstant>,
    pub gap: Option<CoverageGap>,
    /// The walk from the top that has not reached its stop.
    pub walk: Option<NewestFirstWalk>,
    /// The last row above `from`. After the window is widened, reading continues there.
    pub bottom: Option<PageCursor>,
    /// The head of the listing, as the last completed walk recorded it.
    pub head: Option<ListingHead>,
    /// The unfinished walk of a lane whose list takes `since`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<SinceWalk>,
}

/// A range that is known to be unread, and the cursor where reading continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageGap {
    pub side: GapSide,
    /// The upper end of the range read above the gap.
    pub target: SourceInstant,
    pub floor: ListingFloor,
    pub cursor: Option<PageCursor>,
    /// True if the range above the gap can lack nothing below its target any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_settled: bool,
}

/// The side of [from, through] that a gap is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GapSide {
    /// Between the watermark and a newer range: filling the gap moves the watermark to its target.
    Above,
    /// Below `from`, after the window was widened: filling the gap moves `from`.
    Below,
}

/// The part of a lane that a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneSection {
    Head,
    Gap,
}

/// A page to request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    pub section: LaneSection,
    pub after: Option<PageCursor>,
    pub stop: ListingFloor,
}

/// A page that the coverage cannot take in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoverageError {
    #[error(transparent)]
    CursorLoop(#[from] CursorLoop),
    #[error(transparent)]
    EndlessListing(#[from] EndlessListing),
    #[error("the watermark {through} is later than the source's own time {date}")]
    FutureWatermark { through: SourceInstant, date: SourceInstant },
    #[error("no walk is open for this page")]
    NoOpenWalk,
}

impl Coverage {
    /// Returns the coverage at the start of a turn: a walk that the last turn left unfinished becomes the gap.
    ///
    /// `window` is the floor down to which this lane is mirrored.
    pub fn open_turn(mut self, window: ListingFloor) -> Self {
        if self.gap.is_none()
            && let Some(walk) = self.walk.take()
        {
            self.gap = Some(CoverageGap::from_unfinished_walk(walk));
        }
        if let Some(gap) = &mut self.gap
            && self.through.is_none()
        {
            gap.floor = gap.floor.min(window);
        }
        if self.gap.is_none() && self.from.is_some_and(|from| window < from) {
            self.gap = self.gap_below(window);
        }
        self
    }

    fn gap_below(&self, window: ListingFloor) -> Option<CoverageGap> {
        let target = self.through?;
        Some(CoverageGap {
            side: GapSide::Below,
            target,
            floor: window,
            cursor: self.bottom.clone(),
            is_settled: false,
        })
    }

    /// Returns true if an earlier turn's walk from the top has to be finished before a new one starts.
    pub fn has_unfinished_head(&self) -> bool {
        self.walk.is_some()
    }

    /// Returns the next page of the walk from the top: at its cursor, or at the top itself.
    pub fn next_head_request(&self, window: ListingFloor) -> PageRequest {
        let stop = self.walk.as_ref().map_or_else(|| self.head_stop(window), |walk| walk.stop);
        let after = self.walk.as_ref().and_then(|walk| walk.cursor.clone());
        PageRequest { section: LaneSection::Head, after, stop }
    }

    /// Returns the next page of the gap, if there is a gap.
    pub fn next_gap_request(&self) -> Option<PageRequest> {
        let gap = self.gap.as_ref()?;
        Some(PageRequest { section: LaneSection::Gap, after: gap.cursor.clone(), stop: gap.floor })
    }

    /// Returns the point where a walk from the top may stop: the end of the complete range, less the overlap.
    fn head_stop(&self, window: ListingFloor) -> ListingFloor {
        let top = match &self.gap {
            Some(gap) if gap.side == GapSide::Above => Some(gap.target),
            _ => self.through,
        };
        top.map_or(window, |top| ListingFloor::At(top.minus_ms(OVERLAP_MS)))
    }

    /// Returns the point from which on rows may be new, if nothing older can appear late: the end of the complete range, or
    /// of what was read above the gap. None while that was read too soon to be final.
    pub fn settled_top(&self) -> Option<SourceInstant> {
        match &self.gap {
            Some(gap) if gap.side == GapSide::Above => gap.is_settled.then_some(gap.target),
            _ => self.through.filter(|_| self.head.as_ref().is_some_and(ListingHead::is_settled)),
        }
    }

    /// Returns the coverage after one page.
    pub fn apply_page(
        self,
        request: &PageRequest,
        page: &ListingPage,
    ) -> Result<Self, CoverageError> {
        self.check_source_date(page.date)?;
        match request.section {
            LaneSection::Head => self.apply_head_page(request, page),
            LaneSection::Gap => self.apply_gap_page(page),
        }
    }

    /// Returns the floor down to which rows of this page are stored: the window, or lower if reading the page
    /// claims more.
    ///
    /// The window moves with time and with the settings. A walk that started with a wider window continues
    /// to its own floor.
    pub fn retention_floor(&self, request: &PageRequest, window: ListingFloor) -> ListingFloor {
        let floor = window.min(request.stop);
        self.from.map_or(floor, |from| from.min(floor))
    }

    /// Starts over at the top, for a source that no longer accepts the cursor of this section.
    pub fn restart_walk(mut self, section: LaneSection) -> Self {
        match section {
            LaneSection::Head => self.walk = None,
            LaneSection::Gap => self.gap = self.gap.map(|gap| CoverageGap { cursor: None, ..gap }),
        }
        self
    }

    /// Returns the time at which the lane was checked, if this page closed the walk from the top: the `Date` of
    /// the walk's first page.
    pub fn checked_at(&self, request: &PageRequest) -> Option<SourceInstant> {
        let is_closed = request.section == LaneSection::Head && self.walk.is_none();
        self.head.as_ref().filter(|_| is_closed).map(|head| head.date)
    }

    /// Rejects a watermark that the source's own clock has not reached yet.
    pub(crate) fn check_source_date(&self, date: SourceInstant) -> Result<(), CoverageError> {
        match self.through {
            Some(through) if date.plus_ms(OVERLAP_MS) < through => {
                Err(CoverageError::FutureWatermark { through, date })
            }
            _ => Ok(()),
        }
    }

    fn apply_head_page(
        mut self,
        request: &PageRequest,
        page: &ListingPage,
    ) -> Result<Self, CoverageError> {
        let walk = self.walk.take().unwrap_or_else(|| NewestFirstWalk::with_stop(request.stop));
        match walk.apply_page(page)? {
            WalkStep::Open(walk) => self.walk = Some(walk),
            WalkStep::Closed(closed) => self.close_head(closed),
        }
        Ok(self)
    }

    fn close_head(&mut self, closed: ClosedWalk) {
        let through = closed.head.claimable_through();
        // a gap without a cursor starts at the top: a walk that reached its floor has filled it
        self.gap.take_if(|gap| gap.is_filled_by(&closed));
        match &mut self.gap {
            Some(gap) if gap.side == GapSide::Above => {
                gap.target = gap.target.max(through);
                gap.is_settled = closed.head.is_settled();
            }
            _ => self.raise_watermark(through),
        }
        if self.from.is_none() && self.gap.is_none() {
            self.from = Some(closed.reached);
            self.bottom = closed.bottom;
        }
        self.head = Some(closed.head);
    }

    fn apply_gap_page(mut self, page: &ListingPage) -> Result<Self, CoverageError> {
        let gap = self.gap.take().ok_or(CoverageError::NoOpenWalk)?;
        let walk = NewestFirstWalk { stop: gap.floor, head: None, cursor: gap.cursor.clone() };
        match walk.apply_page(page)? {
            WalkStep::Open(walk) => self.gap = Some(CoverageGap { cursor: walk.cursor, ..gap }),
            WalkStep::Closed(closed) => self.close_gap(&gap, closed),
        }
        Ok(self)
    }

    fn close_gap(&mut self, gap: &CoverageGap, closed: ClosedWalk) {
        if gap.side == GapSide::Above {
            self.raise_watermark(gap.target);
        }
        if gap.side == GapSide::Below || self.from.is_none() {
            self.from = Some(closed.reached);
            self.bottom = closed.bottom;
        }
    }

    /// Moves the watermark up. The head of a lagging replica may be below the watermark, and moves nothing.
    pub(crate) fn raise_watermark(&mut self, to: SourceInstant) {
        self.through = self.through.max(Some(to));
    }

    /// Returns the latest time that this coverage relies on. Rows stamped before it are not looked for again.
    pub fn latest_claim(&self) -> Option<SourceInstant> {
        let gap = self.gap.as_ref().map(|gap| gap.target);
        let walk =
            self.walk.as_ref().and_then(|walk| Some(walk.head.as_ref()?.claimable_through()));
        let since = self.since.as_ref().and_then(|walk| walk.since.max(walk.newest));
        [self.through, gap, walk, since].into_iter().max().flatten()
    }

    /// Moves the watermark of a newest-first lane back to `to`, and opens a gap above it. A lane that was never
    /// complete starts over.
    pub fn reset_newest_first(mut self, to: SourceInstant) -> Self {
        let Some(through) = self.through else { return Self::default() };
        let through = through.min(to);
        self.through = Some(through);
        self.walk = None;
        self.head = None;
        let floor = ListingFloor::At(through.minus_ms(OVERLAP_MS));
        let (side, target) = (GapSide::Above, through);
        self.gap = Some(CoverageGap { side, target, floor, cursor: None, is_settled: false });
        self
    }

    /// Returns true if [from, through] is the whole state: there is no gap, and no walk is unfinished.
    pub fn is_complete(&self) -> bool {
        self.through.is_some() && self.gap.is_none() && self.walk.is_none() && self.since.is_none()
    }

    /// Returns true if no item that existed at the last completed walk can still be missing from the lists.
    ///
    /// The lists may lag by the overlap. A first page that is later than its newest item by more than that
    /// shows everything up to this item.
    pub fn is_settled(&self) -> bool {
        self.gap.is_none()
            && self.walk.is_none()
            && self.since.is_none()
            && self.head.as_ref().is_some_and(ListingHead::is_settled)
    }

    /// Returns true if a probe differs from the head that the last completed walk recorded.
    pub fn has_moved(&self, probe: &ListingProbe) -> bool {
        let Some(head) = &self.head else { return true };
        !self.is_settled()
            || head.newest != probe.newest
            || head.total_count != Some(probe.total_count)
    }

    /// Returns true if the first page of the latest walk, open or closed, is later than this response. The second of the
    /// response does not count: the page may have been read before it.
    pub fn is_head_read_since(&self, probed_at: SourceInstant) -> bool {
        let head = match &self.walk {
            Some(walk) => walk.head.as_ref(),
            None => self.head.as_ref(),
        };
        head.is_some_and(|head| head.date > probed_at)
    }

    /// Returns true if the listing counts fewer items than in `earlier`. Some are gone, and only a sweep finds
    /// out which.
    pub fn has_shrunk_since(&self, earlier: &Self) -> bool {
        let totals = self.latest_total().zip(earlier.latest_total());
        totals.is_some_and(|(now, before)| now < before)
    }

    /// Returns the item count reported to the latest walk, open or closed.
    fn latest_total(&self) -> Option<i64> {
        let open_head = self.walk.as_ref().and_then(|walk| walk.head.as_ref());
        open_head.or(self.head.as_ref())?.total_count
    }
}

impl CoverageGap {
    fn is_filled_by(&self, closed: &ClosedWalk) -> bool {
        self.side == GapSide::Above && self.cursor.is_none() && closed.reached <= self.floor
    }

    /// Returns the range that an interrupted walk left unread: everything between its cursor and its stop.
    fn from_unfinished_walk(walk: NewestFirstWalk) -> Self {
        let target =
            walk.head.as_ref().map_or(SourceInstant::BEGINNING, ListingHead::claimable_through);
        let is_settled = walk.head.as_ref().is_some_and(ListingHead::is_settled);
        Self { side: GapSide::Above, target, floor: walk.stop, cursor: walk.cursor, is_settled }
    }
}

impl ListingHead {
    fn is_settled(&self) -> bool {
        let newest = self.newest.as_ref().map(|(_, updated_at)| updated_at.instant());
        newest.is_none_or(|newest| newest.plus_ms(OVERLAP_MS) < self.date)
    }
}

#[cfg(test)]
#[path = "coverage_tests.rs"]
mod tests;
