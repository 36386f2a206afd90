//! Is anything new at a lane, without reading it; and if so, with whom its first page is read.
//!
//! A probe is the newest item and the number of items, for many lanes in one answer. It never says what is
//! held: what it is compared with was recorded by a walk.

use crate::page_size;
use crate::plan::LaneState;
use crate::time::SourceTime;
use crate::walk::Floor;

/// What a listing says of itself without being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The newest item: its id and when it was updated.
    pub newest: Option<(i64, SourceTime)>,
    pub total_count: i64,
}

/// What a lane needs in this pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing moved: that it was looked at is all there is to keep.
    Nothing,
    /// Nothing moved, and its whole roll is to be read.
    Roll,
    /// Its first page, which may share a request with others; so many rows probably end the walk.
    FirstPage { rows: u32 },
    /// A turn of its own.
    Turn,
}

/// A lane that was read before has usually changed by a few rows: those, the rows within the overlap, and
/// one below.
const FEW: u32 = 10;
/// Above this, a first page gains nothing from sharing a request.
const LARGEST_SHARE: u32 = page_size::LARGEST / 2;

/// Decides what a lane needs, held down to `window`, with unreadable rows waiting or not.
pub fn need(state: &LaneState, window: Floor, probe: Option<&Probe>, has_waiting: bool) -> Need {
    let coverage = state.coverage.clone().open_turn(window);
    let has_leftovers =
        coverage.gap.is_some() || coverage.walk.is_some() || 0 < state.failures || has_waiting;
    let Some(probe) = probe.filter(|_| !has_leftovers) else { return Need::Turn };
    if !coverage.has_moved(probe) {
        let is_to_be_swept = state.sweep_due_ms.is_some() || state.sweeping;
        return if is_to_be_swept { Need::Roll } else { Need::Nothing };
    }
    let total = u32::try_from(probe.total_count).unwrap_or(u32::MAX).max(1);
    let rows = if coverage.through.is_some() { total.min(FEW) } else { total };
    if LARGEST_SHARE.min(state.page_size) < rows {
        return Need::Turn;
    }
    Need::FirstPage { rows }
}

/// The number of rows that reading a lane will take, as far as its probe tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedRows {
    pub rows: u64,
    /// A window, or what an interrupted pull has read already, makes it fewer.
    pub is_upper_bound: bool,
}

impl ExpectedRows {
    pub const NONE: Self = Self { rows: 0, is_upper_bound: false };

    /// The rows of both lanes.
    pub fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            is_upper_bound: self.is_upper_bound || other.is_upper_bound,
        }
    }
}

/// Estimates how many rows a lane that moved has to read: all of a lane never read, a few of any other.
pub fn expected_rows(state: &LaneState, window: Floor, probe: &Probe) -> ExpectedRows {
    let total = u64::try_from(probe.total_count).unwrap_or(0);
    let coverage = &state.coverage;
    if coverage.through.is_some() && coverage.gap.is_none() && coverage.walk.is_none() {
        return ExpectedRows { rows: total.min(u64::from(FEW)), is_upper_bound: false };
    }
    let is_new = coverage.through.is_none() && coverage.walk.is_none();
    ExpectedRows { rows: total, is_upper_bound: !is_new || window != Floor::Beginning }
}

/// How many of these first pages, in their order, fit into one request of so many rows; at least one.
pub fn fitting(rows: impl IntoIterator<Item = u32>, most: u32) -> usize {
    let mut room = most;
    let mut fits = |rows: u32| {
        let left = room.checked_sub(rows);
        room = left.unwrap_or(0);
        left.is_some()
    };
    rows.into_iter().take_while(|rows| fits(*rows)).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;
    use crate::time::Mark;
    use crate::walk::{Head, Walk};

    #[test]
    fn a_settled_lane_that_did_not_move_needs_nothing() {
        assert_eq!(need(&settled(5), ALL, Some(&probe(5, 3)), false), Need::Nothing);
    }

    #[test]
    fn a_newer_item_another_item_or_another_count_is_a_move() {
        let few = Need::FirstPage { rows: 3 };
        assert_eq!(need(&settled(5), ALL, Some(&probe(6, 3)), false), few);
        let other = Probe { newest: Some((2, at(5))), total_count: 3 };
        assert_eq!(need(&settled(5), ALL, Some(&other), false), few);
        let fewer = Need::FirstPage { rows: 2 };
        assert_eq!(need(&settled(5), ALL, Some(&probe(5, 2)), false), fewer);
    }

    #[test]
    fn a_lane_that_is_not_settled_is_read_again() {
        let first_page_came_too_early = settled(99);
        let again = need(&first_page_came_too_early, ALL, Some(&probe(99, 3)), false);
        assert_eq!(again, Need::FirstPage { rows: 3 });
    }

    #[test]
    fn a_sweep_that_is_due_reads_nothing_but_the_roll_where_nothing_moved() {
        let due = LaneState { sweep_due_ms: Some(7), ..settled(5) };
        let begun = LaneState { sweeping: true, ..due.clone() };
        for state in [due, begun] {
            assert_eq!(need(&state, ALL, Some(&probe(5, 3)), false), Need::Roll);
            let few = Need::FirstPage { rows: 3 };
            assert_eq!(need(&state, ALL, Some(&probe(6, 3)), false), few, "and first what moved");
        }
    }

    #[test]
    fn whatever_was_left_behind_has_a_turn_of_its_own() {
        let mut walking = settled(5);
        walking.coverage.walk = Some(Walk::down_to(ALL));
        let failing = LaneState { failures: 1, ..settled(5) };
        for state in [walking, failing] {
            assert_eq!(need(&state, ALL, Some(&probe(5, 3)), false), Need::Turn);
        }
        assert_eq!(need(&settled(5), ALL, Some(&probe(5, 3)), true), Need::Turn, "rows wait");
        assert_eq!(need(&settled(5), ALL, None, false), Need::Turn, "nothing is known");
    }

    #[test]
    fn a_wider_window_is_a_turn() {
        let mut state = settled(5);
        state.coverage.from = Some(Floor::At(Mark(4_000)));
        let need = |window| need(&state, Floor::At(Mark(window)), Some(&probe(5, 3)), false);
        assert_eq!((need(4_500), need(3_000)), (Need::Nothing, Need::Turn));
    }

    #[test]
    fn a_lane_never_read_shares_a_request_when_it_is_small() {
        let new = LaneState { page_size: 100, ..LaneState::default() };
        let need = |state, total| need(state, ALL, Some(&probe(5, total)), false);
        assert_eq!(need(&new, 0), Need::FirstPage { rows: 1 });
        assert_eq!(need(&new, 50), Need::FirstPage { rows: 50 });
        assert_eq!(need(&new, 51), Need::Turn);
        let heavy = LaneState { page_size: 6, ..LaneState::default() };
        assert_eq!(need(&heavy, 7), Need::Turn, "it was too much for the server before");
    }

    #[test]
    fn expected_rows_are_all_of_a_new_lane_and_a_few_of_one_that_was_read() {
        let (new, probe) = (LaneState::default(), probe(5, 1_200));
        let exact = ExpectedRows { rows: 1_200, is_upper_bound: false };
        let at_most = ExpectedRows { rows: 1_200, is_upper_bound: true };
        assert_eq!(expected_rows(&new, ALL, &probe), exact);
        assert_eq!(expected_rows(&new, Floor::At(Mark(3_000)), &probe), at_most);
        let mut interrupted = LaneState::default();
        interrupted.coverage.walk = Some(Walk::down_to(ALL));
        assert_eq!(expected_rows(&interrupted, ALL, &probe), at_most);
        let few = ExpectedRows { rows: 10, is_upper_bound: false };
        assert_eq!(expected_rows(&settled(5), ALL, &probe), few);
    }

    #[test]
    fn as_many_first_pages_as_fit_share_a_request() {
        assert_eq!(fitting([40, 40, 20, 1], 100), 3);
        assert_eq!(fitting([40, 40, 21, 1], 100), 2);
        assert_eq!(fitting([101], 100), 1, "one always goes");
        assert_eq!(fitting([], 100), 1);
    }

    const ALL: Floor = Floor::Beginning;

    /// Three items, the newest of this second; read in the hundredth.
    fn settled(second: i64) -> LaneState {
        let newest = Some((1, at(second)));
        let head = Head {
            date: Mark(100_000),
            newest,
            total_count: Some(3),
            excess: None,
            short_since: None,
        };
        let coverage = Coverage {
            from: Some(ALL),
            through: Some(Mark(second * 1_000)),
            head: Some(head),
            ..Coverage::default()
        };
        LaneState { coverage, page_size: 100, ..LaneState::default() }
    }

    fn probe(second: i64, total_count: i64) -> Probe {
        Probe { newest: Some((1, at(second))), total_count }
    }

    fn at(second: i64) -> SourceTime {
        SourceTime::parse(&Mark(second * 1_000).to_string()).unwrap()
    }
}
