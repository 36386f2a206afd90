//! What a lane may claim to hold: complete over [from, through], plus at most one open gap.
//!
//! `through`, the watermark, moves only when a walk has reached its stop, and never back; the one way
//! back is [`Coverage::reset`], which opens a gap. An unfinished walk keeps its place. When the next turn
//! finds one, it becomes the gap: the head is read first, then the gap is filled from that place.

use serde::{Deserialize, Serialize};

use crate::OVERLAP_MS;
use crate::page_guard::Nonsense;
use crate::probe::Probe;
use crate::since::SinceWalk;
use crate::time::Mark;
use crate::walk::{Circle, Closed, Cursor, Floor, Head, Page, Step, Walk};

/// What is complete, what is being read, and where to go on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// How far down it is complete; none before the first walk has closed.
    pub from: Option<Floor>,
    /// The watermark: how far up it is complete.
    pub through: Option<Mark>,
    pub gap: Option<Gap>,
    /// The walk from the top that has not reached its stop.
    pub walk: Option<Walk>,
    /// The last row above `from`: a wider window is read after it.
    pub bottom: Option<Cursor>,
    /// What the first page of the last completed walk said.
    pub head: Option<Head>,
    /// At a lane that is listed since a mark: the walk that has not reached the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<SinceWalk>,
}

/// A stretch that is known to be unread, and the place where reading goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub side: Side,
    /// The top of what has been read above it.
    pub target: Mark,
    pub floor: Floor,
    pub cursor: Option<Cursor>,
}

/// Where a gap lies as seen from [from, through].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// Between the watermark and a newer stretch: filling it moves the watermark to its target.
    Above,
    /// Below `from`, after the window was widened: filling it moves `from`.
    Below,
}

/// Which of the two places of a lane a page was read at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Head,
    Gap,
}

/// A page to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    pub place: Place,
    pub after: Option<Cursor>,
    pub stop: Floor,
}

/// Why a page cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error(transparent)]
    Circle(#[from] Circle),
    #[error(transparent)]
    Nonsense(#[from] Nonsense),
    #[error("the watermark {through} lies beyond the source's own time {date}")]
    Future { through: Mark, date: Mark },
    #[error("no walk is open there")]
    NotOpen,
}

impl Coverage {
    /// The coverage at the start of a turn, with what the last turn left behind turned into a gap.
    ///
    /// `window` is how far down this lane is to be held.
    pub fn open_turn(mut self, window: Floor) -> Self {
        if self.gap.is_none()
            && let Some(walk) = self.walk.take()
        {
            self.gap = Some(Gap::left_by(walk));
        }
        if let Some(gap) = &mut self.gap
            && self.through.is_none()
        {
            gap.floor = gap.floor.min(window);
        }
        if self.gap.is_none() && self.from.is_some_and(|from| window < from) {
            self.gap = self.widened_to(window);
        }
        self
    }

    fn widened_to(&self, window: Floor) -> Option<Gap> {
        let target = self.through?;
        Some(Gap { side: Side::Below, target, floor: window, cursor: self.bottom.clone() })
    }

    /// Whether an earlier turn's walk from the top waits to be finished before a new one starts.
    pub fn has_unfinished_head(&self) -> bool {
        self.walk.is_some()
    }

    /// The next page of the walk from the top: where it was left, or the top itself.
    pub fn ask_head(&self, window: Floor) -> Ask {
        let stop = self.walk.as_ref().map_or_else(|| self.head_stop(window), |walk| walk.stop);
        let after = self.walk.as_ref().and_then(|walk| walk.cursor.clone());
        Ask { place: Place::Head, after, stop }
    }

    /// The next page of the gap, while there is one.
    pub fn ask_gap(&self) -> Option<Ask> {
        let gap = self.gap.as_ref()?;
        Some(Ask { place: Place::Gap, after: gap.cursor.clone(), stop: gap.floor })
    }

    /// Where a walk from the top may stop: at what is complete already, less the overlap.
    fn head_stop(&self, window: Floor) -> Floor {
        let top = match &self.gap {
            Some(gap) if gap.side == Side::Above => Some(gap.target),
            _ => self.through,
        };
        top.map_or(window, |mark| Floor::At(mark.minus(OVERLAP_MS)))
    }

    /// The coverage after one page, read as `ask` said.
    pub fn step(self, ask: &Ask, page: &Page) -> Result<Self, Refused> {
        self.check_time(page.date)?;
        match ask.place {
            Place::Head => self.step_head(ask, page),
            Place::Gap => self.step_gap(page),
        }
    }

    /// How far down rows of this page are kept: to the window, but never less than what reading it claims.
    ///
    /// The window moves with time and with the settings; a walk that was begun with a wider one goes on
    /// to its own floor.
    pub fn keeps_down_to(&self, ask: &Ask, window: Floor) -> Floor {
        let begun = window.min(ask.stop);
        self.from.map_or(begun, |from| from.min(begun))
    }

    /// Goes back to the top, when the source no longer knows the place where this page was to begin.
    pub fn forget_place(mut self, place: Place) -> Self {
        match place {
            Place::Head => self.walk = None,
            Place::Gap => self.gap = self.gap.map(|gap| Gap { cursor: None, ..gap }),
        }
        self
    }

    /// When the lane was last looked at, if this step ended a look: the first page of the walk that closed.
    pub fn looked_at(&self, ask: &Ask) -> Option<Mark> {
        let closed = ask.place == Place::Head && self.walk.is_none();
        self.head.as_ref().filter(|_| closed).map(|head| head.date)
    }

    /// Refuses a watermark that the source itself has not reached yet.
    pub(crate) fn check_time(&self, date: Mark) -> Result<(), Refused> {
        match self.through {
            Some(through) if date.plus(OVERLAP_MS) < through => {
                Err(Refused::Future { through, date })
            }
            _ => Ok(()),
        }
    }

    fn step_head(mut self, ask: &Ask, page: &Page) -> Result<Self, Refused> {
        let walk = self.walk.take().unwrap_or_else(|| Walk::down_to(ask.stop));
        match walk.step(page)? {
            Step::Open(walk) => self.walk = Some(walk),
            Step::Closed(closed) => self.close_head(closed),
        }
        Ok(self)
    }

    fn close_head(&mut self, closed: Closed) {
        let mark = closed.head.mark();
        // a gap without a place begins at the top: a walk that went down to its floor has filled it
        self.gap.take_if(|gap| gap.is_filled_by(&closed));
        match &mut self.gap {
            Some(gap) if gap.side == Side::Above => gap.target = gap.target.max(mark),
            _ => self.raise(mark),
        }
        if self.from.is_none() && self.gap.is_none() {
            self.from = Some(closed.reached);
            self.bottom = closed.bottom;
        }
        self.head = Some(closed.head);
    }

    fn step_gap(mut self, page: &Page) -> Result<Self, Refused> {
        let gap = self.gap.take().ok_or(Refused::NotOpen)?;
        let walk = Walk { stop: gap.floor, head: None, cursor: gap.cursor.clone() };
        match walk.step(page)? {
            Step::Open(walk) => self.gap = Some(Gap { cursor: walk.cursor, ..gap }),
            Step::Closed(closed) => self.close_gap(&gap, closed),
        }
        Ok(self)
    }

    fn close_gap(&mut self, gap: &Gap, closed: Closed) {
        if gap.side == Side::Above {
            self.raise(gap.target);
        }
        if gap.side == Side::Below || self.from.is_none() {
            self.from = Some(closed.reached);
            self.bottom = closed.bottom;
        }
    }

    /// Moves the watermark up. A lagging replica's top may lie below it, and moves nothing.
    pub(crate) fn raise(&mut self, mark: Mark) {
        self.through = self.through.max(Some(mark));
    }

    /// The latest time that reading has relied on so far: whatever is stamped before it is not looked for.
    pub fn latest_claim(&self) -> Option<Mark> {
        let gap = self.gap.as_ref().map(|gap| gap.target);
        let walk = self.walk.as_ref().and_then(|walk| Some(walk.head.as_ref()?.mark()));
        let since = self.since.as_ref().and_then(|walk| walk.since.max(walk.newest));
        [self.through, gap, walk, since].into_iter().max().flatten()
    }

    /// The one way back: claims nothing above `to` any more, and says so with a gap. A lane that was never
    /// complete starts over.
    pub fn reset(mut self, to: Mark) -> Self {
        let Some(through) = self.through else { return Self::default() };
        let through = through.min(to);
        self.through = Some(through);
        self.walk = None;
        self.head = None;
        let floor = Floor::At(through.minus(OVERLAP_MS));
        self.gap = Some(Gap { side: Side::Above, target: through, floor, cursor: None });
        self
    }

    /// Whether [from, through] is all there is to say: no gap, and no walk that was left in the middle.
    pub fn is_complete(&self) -> bool {
        self.through.is_some() && self.gap.is_none() && self.walk.is_none() && self.since.is_none()
    }

    /// Whether nothing that existed at the last completed walk can still be on its way.
    ///
    /// The lists may lag by the overlap; a first page that is later than its newest item by more than
    /// that has seen everything up to it.
    pub fn is_settled(&self) -> bool {
        self.gap.is_none()
            && self.walk.is_none()
            && self.since.is_none()
            && self.head.as_ref().is_some_and(Head::is_settled)
    }

    /// Whether a probe's answer differs from what the last completed walk recorded.
    pub fn has_moved(&self, probe: &Probe) -> bool {
        let Some(head) = &self.head else { return true };
        !self.is_settled()
            || head.newest != probe.newest
            || head.total_count != Some(probe.total_count)
    }

    /// Whether the listing has fewer items than it had then, as the latest walk of either time told: some
    /// are gone, and only a sweep tells which.
    pub fn has_shrunk_since(&self, then: &Self) -> bool {
        let latest = |coverage: &Self| {
            let under_way = coverage.walk.as_ref().and_then(|walk| walk.head.clone());
            under_way.or_else(|| coverage.head.clone())
        };
        let total = |coverage: &Self| latest(coverage)?.total_count;
        total(self).zip(total(then)).is_some_and(|(now, then)| now < then)
    }
}

impl Gap {
    fn is_filled_by(&self, closed: &Closed) -> bool {
        self.side == Side::Above && self.cursor.is_none() && closed.reached <= self.floor
    }

    /// What an interrupted walk left: everything between its place and its stop.
    fn left_by(walk: Walk) -> Self {
        let target = walk.head.as_ref().map_or(Mark::BEGINNING, Head::mark);
        Self { side: Side::Above, target, floor: walk.stop, cursor: walk.cursor }
    }
}

impl Head {
    fn is_settled(&self) -> bool {
        let newest = self.newest.as_ref().map(|(_, updated_at)| updated_at.mark());
        newest.is_none_or(|newest| newest.plus(OVERLAP_MS) < self.date)
    }
}

#[cfg(test)]
#[path = "coverage_tests.rs"]
mod tests;
