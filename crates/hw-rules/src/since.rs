//! Lists that take `since`: the newest page tells whether anything changed, and how much; what does not
//! fit on it is walked, oldest change first.
//!
//! Page numbers over a moving order skip rows, so the walk re-anchors: each full page moves `since` up to
//! the second before its last row. `since` is documented as "after" and observed as "at or after"; one second
//! earlier is right either way. Only a page that brings the walk no further than that is followed by the next
//! page number.

use serde::{Deserialize, Serialize};

use crate::OVERLAP_MS;
use crate::coverage::{Coverage, Refused};
use crate::plan::LaneState;
use crate::time::{Mark, SourceTime};
use crate::walk::{Floor, Head};

/// How long a list is believed to stand still without a sign: an edited comment moves nothing else.
pub const DUE_AFTER_MS: i64 = 3_600_000;

/// Where the walk is: rows updated after `since`, or at it as well, and which page of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinceWalk {
    /// How far down it began.
    pub floor: Floor,
    /// None asks without a filter: below the first mark there is nothing to leave out.
    pub since: Option<Mark>,
    /// Within two seconds. A walk that was interrupted there reads them from their first page: what left
    /// them meanwhile has shifted the others.
    #[serde(skip, default = "first_page")]
    pub page: u32,
    /// The latest change read so far.
    pub newest: Option<Mark>,
    /// The `Date` of the first page that came as close to it as the lists may lag: what is older than that
    /// by the overlap was all there, and nothing later may be claimed.
    pub fresh: Option<Mark>,
}

/// What one page said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SincePage {
    /// The answer's `Date`.
    pub date: Mark,
    /// Id and time of change of each row.
    pub rows: Vec<(i64, SourceTime)>,
    /// Whether the list says that there is more.
    pub has_next: bool,
}

impl SincePage {
    fn marks(&self) -> impl Iterator<Item = Mark> {
        self.rows.iter().map(|(_, updated_at)| updated_at.mark())
    }

    /// Whether a newest page shows whatever may still be on its way: it is the whole list, or it reaches
    /// further down than the lists may lag. One that does not may stay as it is while something comes below it.
    pub fn reaches_the_settled(&self) -> bool {
        !self.has_next || self.marks().any(|mark| mark.plus(OVERLAP_MS) < self.date)
    }

    fn head(&self) -> Head {
        let newest = self.rows.iter().max_by_key(|(id, updated_at)| (updated_at.mark(), *id));
        Head {
            date: self.date,
            newest: newest.cloned(),
            total_count: None,
            excess: None,
            short_since: None,
        }
    }
}

impl SinceWalk {
    /// A walk from there on.
    pub fn from(floor: Floor) -> Self {
        let since = match floor {
            Floor::Beginning => None,
            // asked for everything since the epoch, GitHub answers with nothing at all
            Floor::At(mark) => Some(second_before(mark)).filter(|since| since.0 > 0),
        };
        Self { floor, since, page: first_page(), newest: None, fresh: None }
    }

    /// What the walk is after one more page; none when that was the last one.
    fn step(&self, page: &SincePage) -> (Option<Self>, Self) {
        let last = page.marks().max();
        let is_fresh = last.is_some_and(|last| page.date < last.plus(OVERLAP_MS));
        let fresh = self.fresh.or_else(|| is_fresh.then_some(page.date));
        let read = Self { newest: self.newest.max(last), fresh, ..self.clone() };
        if !page.has_next {
            return (None, read);
        }
        let anchor = last.map(second_before);
        let next = if self.since < anchor {
            Self { since: anchor, page: first_page(), ..read.clone() }
        } else {
            Self { page: self.page.saturating_add(1), ..read.clone() }
        };
        (Some(next), read)
    }

    /// What may be claimed once it has reached the end.
    fn claim(&self, date: Mark) -> Mark {
        let newest = self.newest.unwrap_or(Mark::BEGINNING).min(date);
        self.fresh.map_or(newest, |fresh| newest.min(fresh))
    }
}

impl Coverage {
    /// At the start of a turn: a wider window has the list walked from there.
    pub fn open_since(mut self, window: Floor) -> Self {
        if self.since.is_none() && self.from.is_some_and(|from| window < from) {
            self.since = Some(SinceWalk::from(window));
        }
        self
    }

    /// The coverage after the newest page. What does not fit on it is left to a walk.
    pub fn step_newest(mut self, page: &SincePage, window: Floor) -> Result<Self, Refused> {
        self.check_time(page.date)?;
        let stop = self.through.map_or(window, |mark| Floor::At(mark.minus(OVERLAP_MS)));
        let is_reached = !page.has_next || page.marks().any(|mark| stop.is_above(mark));
        if !is_reached {
            self.since = Some(SinceWalk::from(stop));
            return Ok(self);
        }
        let reached = if page.has_next { stop } else { Floor::Beginning };
        self.from = self.from.or(Some(reached));
        let head = page.head();
        self.raise(head.mark());
        self.head = Some(head);
        Ok(self)
    }

    /// The coverage after one page of the walk.
    pub fn step_since(mut self, page: &SincePage) -> Result<Self, Refused> {
        self.check_time(page.date)?;
        let walk = self.since.take().ok_or(Refused::NotOpen)?;
        let (next, read) = walk.step(page);
        self.since = next;
        if self.since.is_none() {
            self.from = Some(self.from.map_or(read.floor, |from| from.min(read.floor)));
            self.raise(read.claim(page.date));
            self.head = Some(page.head());
        }
        Ok(self)
    }

    /// The coverage after the newest page was found unchanged.
    pub fn still(mut self, date: Mark) -> Self {
        if let Some(head) = &mut self.head {
            head.date = head.date.max(date);
        }
        self
    }

    /// The coverage of a lane of talks from the moment all its threads wait to be read.
    pub fn followed(mut self) -> Self {
        self.from = Some(Floor::Beginning);
        self
    }

    /// The coverage of a lane of talks after everything due was read, as the listing of its threads stood then.
    pub fn talked(mut self, date: Mark) -> Self {
        self.from = Some(Floor::Beginning);
        self.raise(date);
        self.head =
            Some(Head { date, newest: None, total_count: None, excess: None, short_since: None });
        self
    }

    /// The one way back at such a lane: everything since then is read again.
    pub fn reset_since(mut self, to: Mark) -> Self {
        let Some(through) = self.through else { return Self::default() };
        let through = through.min(to);
        self.through = Some(through);
        self.head = None;
        self.since = Some(SinceWalk::from(Floor::At(through.minus(OVERLAP_MS))));
        self
    }

    /// The one way back at a lane of talks. A sweep reads them all again.
    pub fn reset_talks(mut self, to: Mark) -> Self {
        self.through = self.through.map(|through| through.min(to));
        self.head = None;
        self
    }

    /// How far down rows are kept: to the window, but never less than what is claimed, or will be once the
    /// walk that is under way has reached its end.
    pub fn keeps_since(&self, window: Floor) -> Floor {
        let begun = self.since.as_ref().map(|walk| walk.floor);
        self.from.into_iter().chain(begun).fold(window, Floor::min)
    }
}

/// Whether a list is to be looked at: its threads moved, something is unfinished, or it is an hour ago.
pub fn is_due(state: &LaneState, window: Floor, has_moved: bool, date: Option<Mark>) -> bool {
    let coverage = state.coverage.clone().open_since(window);
    let is_settled = coverage.is_complete() && coverage.is_settled();
    has_moved || !is_settled || state.has_leftovers() || !is_recent(state, date)
}

/// The same for a list that may not be there at all: nothing is unfinished where nothing was begun.
pub fn is_due_in_doubt(state: &LaneState, has_moved: bool, date: Option<Mark>) -> bool {
    let is_begun = state.coverage.since.is_some() || 0 < state.failures;
    has_moved || is_begun || !is_recent(state, date)
}

fn is_recent(state: &LaneState, date: Option<Mark>) -> bool {
    let checked = state.checked_at_ms.zip(date);
    checked.is_some_and(|(at, date)| date.0 < at.saturating_add(DUE_AFTER_MS))
}

/// Whether a list was last looked at before all that moved its threads could be seen there: that look may be
/// one of another day, or of a pull that was cut off.
pub fn is_behind(state: &LaneState, threads: &LaneState) -> bool {
    let moved = threads.coverage.head.as_ref().map(|head| head.mark().plus(OVERLAP_MS));
    state.checked_at_ms.map(Mark) <= moved
}

fn first_page() -> u32 {
    1
}

/// The whole second before the one that a time lies in: a list "after" it begins with that time's second.
fn second_before(mark: Mark) -> Mark {
    mark.minus(mark.0.rem_euclid(1_000)).minus(1_000)
}

#[cfg(test)]
#[path = "since_tests.rs"]
mod tests;
