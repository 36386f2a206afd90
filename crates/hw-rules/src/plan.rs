//! What a lane does next, and why.

use crate::coverage::Coverage;
use crate::page_size;

/// Everything the decision needs to know of one lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneState {
    pub coverage: Coverage,
    /// Not before this (our own clock): the lane failed, or was read a moment ago.
    pub due_ms: i64,
    /// Turns that failed in a row.
    pub failures: u32,
    /// When a sweep is due; none when nobody asked for one.
    pub sweep_due_ms: Option<i64>,
    /// Whether a sweep was begun and not finished; it stays due until it is.
    pub sweeping: bool,
    /// How many rows a page may have at this lane; what the source could not serve is remembered.
    pub page_size: u32,
    /// When the source was last looked at successfully, in the source's own time.
    pub checked_at_ms: Option<i64>,
}

impl LaneState {
    /// A lane that was never seen: nothing is complete, and the largest page is worth a try.
    pub fn new() -> Self {
        Self { page_size: page_size::LARGEST, ..Self::default() }
    }

    /// Whether an earlier turn left something to do, whatever the source says now.
    pub fn has_leftovers(&self) -> bool {
        !self.coverage.is_complete()
            || 0 < self.failures
            || self.sweep_due_ms.is_some()
            || self.sweeping
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Read what changed, newest first.
    Scan,
    /// Read what changed, and then the whole listing, in order to reconcile.
    Sweep,
    Sleep {
        until_ms: i64,
        why: Why,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The source asked us to wait.
    Paused,
    /// The lane failed and is given time.
    BackingOff,
    /// Nothing is due yet.
    NotDue,
}

/// Decides what a lane does now.
pub fn next(state: &LaneState, paused_until_ms: Option<i64>, now_ms: i64) -> Plan {
    if let Some(until_ms) = paused_until_ms.filter(|until| now_ms < *until) {
        return Plan::Sleep { until_ms, why: Why::Paused };
    }
    if now_ms < state.due_ms {
        let why = if 0 < state.failures { Why::BackingOff } else { Why::NotDue };
        return Plan::Sleep { until_ms: state.due_ms, why };
    }
    if state.sweep_due_ms.is_some_and(|due| due <= now_ms) {
        return Plan::Sweep;
    }
    Plan::Scan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_comes_before_everything() {
        let state = LaneState { sweep_due_ms: Some(0), due_ms: 9, ..LaneState::default() };
        assert_eq!(next(&state, Some(8), 5), Plan::Sleep { until_ms: 8, why: Why::Paused });
        assert_eq!(next(&state, Some(8), 8), Plan::Sleep { until_ms: 9, why: Why::NotDue });
        assert_eq!(next(&state, Some(8), 9), Plan::Sweep);
    }

    #[test]
    fn a_failed_lane_is_given_time() {
        let state = LaneState { due_ms: 9, failures: 2, ..LaneState::default() };
        assert_eq!(next(&state, None, 5), Plan::Sleep { until_ms: 9, why: Why::BackingOff });
        assert_eq!(next(&state, None, 9), Plan::Scan);
    }

    #[test]
    fn a_sweep_runs_when_it_is_due() {
        let due = LaneState { sweep_due_ms: Some(7), ..LaneState::default() };
        assert_eq!(next(&due, None, 6), Plan::Scan);
        assert_eq!(next(&due, None, 7), Plan::Sweep);
    }
}
