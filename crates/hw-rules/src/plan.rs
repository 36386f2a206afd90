//! Decides what a lane does now: nothing, a first page that may share a request, a turn of its own, or waiting.
//!
//! This is the one place that decides whether a lane is read and whether it is swept. Everything else follows the plan.

use crate::coverage::Coverage;
use crate::page_size;
use crate::probe::{CHANGED_LANE_ROWS, ListingProbe};
use crate::walk::ListingFloor;

/// The largest first page that gains anything from sharing a request.
const MAX_SHARED_ROWS: u32 = page_size::MAX_PAGE_SIZE / 2;

/// The stored state of one lane, as far as the rules need it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneState {
    pub coverage: Coverage,
    /// The earliest time of the next turn, by our own clock: the lane failed, or was read a moment ago.
    pub due_ms: i64,
    /// The number of turns that failed in a row.
    pub failures: u32,
    /// The time at which a sweep is due; none when no sweep was requested.
    pub sweep_due_ms: Option<i64>,
    /// A sweep has started and not finished; it stays due until it has.
    pub is_sweeping: bool,
    /// The number of rows to request per page; smaller after a page that the source could not serve.
    pub page_size: u32,
    /// The time of the last successful check, by the source's own clock.
    pub checked_at_ms: Option<i64>,
}

impl LaneState {
    /// Creates the state of an unknown lane: nothing is complete, and the largest page is worth a try.
    pub fn new() -> Self {
        Self { page_size: page_size::MAX_PAGE_SIZE, ..Self::default() }
    }

    /// Returns true if a sweep was requested for now, or earlier.
    pub fn is_sweep_due(&self, now_ms: i64) -> bool {
        self.sweep_due_ms.is_some_and(|due_ms| due_ms <= now_ms)
    }

    /// Returns the state as it counts at `now_ms`: a sweep that is due later counts as not requested.
    #[must_use]
    pub fn without_later_sweep(self, now_ms: i64) -> Self {
        let sweep_due_ms = self.sweep_due_ms.filter(|due_ms| *due_ms <= now_ms);
        Self { sweep_due_ms, ..self }
    }

    /// Returns true if the lane was read before, and nothing is known of it any more: its stored coverage is damaged.
    pub fn has_lost_cursor(&self) -> bool {
        self.checked_at_ms.is_some() && self.coverage == Coverage::default()
    }

    /// Returns true if an earlier turn left work to do, even if nothing changed at the source.
    pub fn has_leftovers(&self) -> bool {
        !self.coverage.is_complete()
            || self.failures > 0
            || self.sweep_due_ms.is_some()
            || self.is_sweeping
    }
}

/// What is requested of a lane, and what is known about it besides its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneRequest {
    /// The lane is mirrored down to this.
    pub window: ListingFloor,
    /// Unreadable rows of the lane wait for a retry.
    pub has_quarantined: bool,
    pub sweep: SweepRequest,
    pub timing: TurnTiming,
}

/// When a lane is swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepRequest {
    /// Not now: an absence from its listing does not mean a deletion.
    Never,
    /// When a sweep is due.
    WhenDue,
    /// In this turn.
    Now,
}

/// Whether a lane that failed waits for its retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnTiming {
    /// It is read now, because a person asked for it.
    AtOnce,
    /// It waits until it is due.
    WhenDue,
}

/// What is known about changes of a lane without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeSign<'a> {
    /// Nothing: the lane has to be read.
    Unknown,
    /// The summary of its listing.
    Probe(&'a ListingProbe),
    /// Nothing moved, or what moved was read already.
    Unchanged,
}

/// The next step of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LanePlan {
    /// Nothing to do: nothing moved, and no sweep is due.
    Skip,
    /// Read its first page, which may share a request with others; this many rows will probably end the walk.
    FirstPage { rows: u32 },
    /// Read the changes in a turn of its own.
    Scan,
    /// Read the whole listing in order to reconcile, and before that the changes, if there may be any.
    Sweep { scan_first: bool },
    /// Do nothing before this time.
    Sleep { until_ms: i64, reason: SleepReason },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SleepReason {
    /// The lane failed, and its retry is delayed.
    BackingOff,
    /// Nothing is due yet.
    NotDue,
}

/// Decides what a lane does now.
pub fn plan_lane(
    state: &LaneState,
    sign: ChangeSign<'_>,
    request: &LaneRequest,
    now_ms: i64,
) -> LanePlan {
    if request.timing == TurnTiming::WhenDue && now_ms < state.due_ms {
        let reason = if state.failures > 0 { SleepReason::BackingOff } else { SleepReason::NotDue };
        return LanePlan::Sleep { until_ms: state.due_ms, reason };
    }
    let is_swept = match request.sweep {
        SweepRequest::Never => false,
        SweepRequest::WhenDue => state.is_sweep_due(now_ms) || state.is_sweeping,
        SweepRequest::Now => true,
    };
    let own_turn = if is_swept { LanePlan::Sweep { scan_first: true } } else { LanePlan::Scan };
    let unchanged = if is_swept { LanePlan::Sweep { scan_first: false } } else { LanePlan::Skip };
    match sign {
        ChangeSign::Unknown => own_turn,
        ChangeSign::Unchanged => unchanged,
        ChangeSign::Probe(probe) => {
            let coverage = state.coverage.clone().open_turn(request.window);
            let has_leftovers = coverage.gap.is_some()
                || coverage.walk.is_some()
                || state.failures > 0
                || request.has_quarantined;
            if has_leftovers {
                return own_turn;
            }
            if !coverage.has_moved(probe) {
                return unchanged;
            }
            shared_rows(state, &coverage, probe)
                .map_or(own_turn, |rows| LanePlan::FirstPage { rows })
        }
    }
}

/// Returns the rows of a first page that is worth sharing a request.
fn shared_rows(state: &LaneState, coverage: &Coverage, probe: &ListingProbe) -> Option<u32> {
    let total = u32::try_from(probe.total_count).unwrap_or(u32::MAX).max(1);
    let rows = if coverage.through.is_some() { total.min(CHANGED_LANE_ROWS) } else { total };
    (rows <= MAX_SHARED_ROWS.min(state.page_size)).then_some(rows)
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
