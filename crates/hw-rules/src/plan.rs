//! Plans a lane's next turn, or the reason for waiting.

use crate::coverage::Coverage;
use crate::page_size;

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

    /// Returns true if an earlier turn left work to do, even if nothing changed at the source.
    pub fn has_leftovers(&self) -> bool {
        !self.coverage.is_complete()
            || self.failures > 0
            || self.sweep_due_ms.is_some()
            || self.is_sweeping
    }
}

/// The next step of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnPlan {
    /// Read the changes, newest first.
    Scan,
    /// Read the changes, and then the whole listing, in order to reconcile.
    Sweep,
    Sleep {
        until_ms: i64,
        reason: SleepReason,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SleepReason {
    /// The lane failed, and its retry is delayed.
    BackingOff,
    /// Nothing is due yet.
    NotDue,
}

/// Decides what a lane does now.
pub fn plan_turn(state: &LaneState, now_ms: i64) -> TurnPlan {
    if now_ms < state.due_ms {
        let reason = if state.failures > 0 { SleepReason::BackingOff } else { SleepReason::NotDue };
        return TurnPlan::Sleep { until_ms: state.due_ms, reason };
    }
    if state.is_sweep_due(now_ms) {
        return TurnPlan::Sweep;
    }
    TurnPlan::Scan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_backs_off_after_a_failed_turn() {
        let state = LaneState { due_ms: 9, failures: 2, ..LaneState::default() };
        assert_eq!(
            plan_turn(&state, 5),
            TurnPlan::Sleep { until_ms: 9, reason: SleepReason::BackingOff }
        );
        assert_eq!(plan_turn(&state, 9), TurnPlan::Scan);
    }

    #[test]
    fn plan_sweeps_when_a_sweep_is_due() {
        let due = LaneState { sweep_due_ms: Some(7), ..LaneState::default() };
        assert_eq!(plan_turn(&due, 6), TurnPlan::Scan);
        assert_eq!(plan_turn(&due, 7), TurnPlan::Sweep);
    }
}
