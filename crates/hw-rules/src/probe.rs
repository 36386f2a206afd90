//! Decides from a probe whether a lane has to be read, and whether its first page can share a request.
//!
//! A probe is the newest item and the item count of a listing; one response carries the probes of many lanes.
//! It is compared only with the head that a walk recorded, never with another probe.

use crate::page_size;
use crate::plan::LaneState;
use crate::source_time::SourceTime;
use crate::walk::ListingFloor;

/// The summary of a listing that is known without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingProbe {
    /// The newest item: its id and its `updated_at`.
    pub newest: Option<(i64, SourceTime)>,
    pub total_count: i64,
}

/// The work that a lane needs in this pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneNeed {
    /// Nothing moved: only the time of the check is recorded.
    Nothing,
    /// Nothing moved, and a sweep is due.
    SweepOnly,
    /// Its first page, which may share a request with others; this many rows will probably end the walk.
    FirstPage { rows: u32 },
    /// A turn of its own.
    OwnTurn,
}

/// The first page of a lane that was read before. It usually changed by a few rows: those, the rows within the
/// overlap, and one below them.
const CHANGED_LANE_ROWS: u32 = 10;
/// The largest first page that gains anything from sharing a request.
const MAX_SHARED_ROWS: u32 = page_size::MAX_PAGE_SIZE / 2;

/// Decides what a lane needs. It is mirrored down to `window`; `has_quarantined` means that unreadable rows of the
/// lane wait for a retry.
pub fn assess_lane_need(
    state: &LaneState,
    window: ListingFloor,
    probe: Option<&ListingProbe>,
    has_quarantined: bool,
) -> LaneNeed {
    let coverage = state.coverage.clone().open_turn(window);
    let has_leftovers =
        coverage.gap.is_some() || coverage.walk.is_some() || state.failures > 0 || has_quarantined;
    let Some(probe) = probe.filter(|_| !has_leftovers) else { return LaneNeed::OwnTurn };
    if !coverage.has_moved(probe) {
        let needs_sweep = state.sweep_due_ms.is_some() || state.is_sweeping;
        return if needs_sweep { LaneNeed::SweepOnly } else { LaneNeed::Nothing };
    }
    let total = u32::try_from(probe.total_count).unwrap_or(u32::MAX).max(1);
    let rows = if coverage.through.is_some() { total.min(CHANGED_LANE_ROWS) } else { total };
    if rows > MAX_SHARED_ROWS.min(state.page_size) {
        return LaneNeed::OwnTurn;
    }
    LaneNeed::FirstPage { rows }
}

/// An estimate of the number of rows that reading a lane takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedRows {
    pub rows: u64,
    /// The window, or the rows that an interrupted pull has read already, may make it fewer.
    pub is_upper_bound: bool,
}

impl ExpectedRows {
    pub const NONE: Self = Self { rows: 0, is_upper_bound: false };

    /// Adds the rows of another lane.
    pub fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows.saturating_add(other.rows),
            is_upper_bound: self.is_upper_bound || other.is_upper_bound,
        }
    }
}

/// Estimates the number of rows to read in a lane that moved: all of a lane never read, a few of any other.
pub fn expected_rows(
    state: &LaneState,
    window: ListingFloor,
    probe: &ListingProbe,
) -> ExpectedRows {
    let total = u64::try_from(probe.total_count).unwrap_or(0);
    let coverage = &state.coverage;
    if coverage.through.is_some() && coverage.gap.is_none() && coverage.walk.is_none() {
        return ExpectedRows {
            rows: total.min(u64::from(CHANGED_LANE_ROWS)),
            is_upper_bound: false,
        };
    }
    let is_new = coverage.through.is_none() && coverage.walk.is_none();
    ExpectedRows { rows: total, is_upper_bound: !is_new || window != ListingFloor::Beginning }
}

/// Returns the number of first pages, in their order, that fit into one request of `max_rows`; at least one.
pub fn count_fitting_pages(rows: impl IntoIterator<Item = u32>, max_rows: u32) -> usize {
    let fitting = rows.into_iter().scan(max_rows, |left, rows| {
        *left = left.checked_sub(rows)?;
        Some(())
    });
    fitting.count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;
    use crate::source_time::SourceInstant;
    use crate::walk::{ListingHead, NewestFirstWalk};

    #[test]
    fn lane_need_is_nothing_for_a_settled_lane_that_did_not_move() {
        assert_eq!(
            assess_lane_need(&settled_lane(5), ALL, Some(&probe(5, 3)), false),
            LaneNeed::Nothing
        );
    }

    #[test]
    fn lane_need_reads_on_a_new_item_or_another_count() {
        let few = LaneNeed::FirstPage { rows: 3 };
        assert_eq!(assess_lane_need(&settled_lane(5), ALL, Some(&probe(6, 3)), false), few);
        let other = ListingProbe { newest: Some((2, source_time(5))), total_count: 3 };
        assert_eq!(assess_lane_need(&settled_lane(5), ALL, Some(&other), false), few);
        let fewer = LaneNeed::FirstPage { rows: 2 };
        assert_eq!(assess_lane_need(&settled_lane(5), ALL, Some(&probe(5, 2)), false), fewer);
    }

    #[test]
    fn lane_need_rereads_an_unsettled_lane() {
        let first_page_came_too_early = settled_lane(99);
        let again = assess_lane_need(&first_page_came_too_early, ALL, Some(&probe(99, 3)), false);
        assert_eq!(again, LaneNeed::FirstPage { rows: 3 });
    }

    #[test]
    fn lane_need_is_only_a_sweep_where_nothing_moved() {
        let due = LaneState { sweep_due_ms: Some(7), ..settled_lane(5) };
        let begun = LaneState { is_sweeping: true, ..due.clone() };
        for state in [due, begun] {
            assert_eq!(
                assess_lane_need(&state, ALL, Some(&probe(5, 3)), false),
                LaneNeed::SweepOnly
            );
            let few = LaneNeed::FirstPage { rows: 3 };
            assert_eq!(
                assess_lane_need(&state, ALL, Some(&probe(6, 3)), false),
                few,
                "changes are read first"
            );
        }
    }

    #[test]
    fn lane_need_is_a_turn_after_unfinished_work() {
        let mut walking = settled_lane(5);
        walking.coverage.walk = Some(NewestFirstWalk::with_stop(ALL));
        let failing = LaneState { failures: 1, ..settled_lane(5) };
        for state in [walking, failing] {
            assert_eq!(assess_lane_need(&state, ALL, Some(&probe(5, 3)), false), LaneNeed::OwnTurn);
        }
        assert_eq!(
            assess_lane_need(&settled_lane(5), ALL, Some(&probe(5, 3)), true),
            LaneNeed::OwnTurn,
            "quarantined rows wait for a retry"
        );
        assert_eq!(
            assess_lane_need(&settled_lane(5), ALL, None, false),
            LaneNeed::OwnTurn,
            "there is no probe"
        );
    }

    #[test]
    fn lane_need_is_a_turn_after_the_window_widened() {
        let mut state = settled_lane(5);
        state.coverage.from = Some(ListingFloor::At(SourceInstant(4_000)));
        for (window_ms, need) in [(4_500, LaneNeed::Nothing), (3_000, LaneNeed::OwnTurn)] {
            let window = ListingFloor::At(SourceInstant(window_ms));
            assert_eq!(assess_lane_need(&state, window, Some(&probe(5, 3)), false), need);
        }
    }

    #[test]
    fn lane_need_shares_a_request_for_a_small_new_lane() {
        let new = LaneState { page_size: 100, ..LaneState::default() };
        for (total, need) in [
            (0, LaneNeed::FirstPage { rows: 1 }),
            (50, LaneNeed::FirstPage { rows: 50 }),
            (51, LaneNeed::OwnTurn),
        ] {
            assert_eq!(assess_lane_need(&new, ALL, Some(&probe(5, total)), false), need);
        }
        let heavy = LaneState { page_size: 6, ..LaneState::default() };
        assert_eq!(
            assess_lane_need(&heavy, ALL, Some(&probe(5, 7)), false),
            LaneNeed::OwnTurn,
            "it was too much for the server before"
        );
    }

    #[test]
    fn expected_rows_are_all_of_a_new_lane_and_a_few_of_a_known_one() {
        let (new, probe) = (LaneState::default(), probe(5, 1_200));
        let exact = ExpectedRows { rows: 1_200, is_upper_bound: false };
        let at_most = ExpectedRows { rows: 1_200, is_upper_bound: true };
        assert_eq!(expected_rows(&new, ALL, &probe), exact);
        assert_eq!(expected_rows(&new, ListingFloor::At(SourceInstant(3_000)), &probe), at_most);
        let mut interrupted = LaneState::default();
        interrupted.coverage.walk = Some(NewestFirstWalk::with_stop(ALL));
        assert_eq!(expected_rows(&interrupted, ALL, &probe), at_most);
        let few = ExpectedRows { rows: 10, is_upper_bound: false };
        assert_eq!(expected_rows(&settled_lane(5), ALL, &probe), few);
    }

    #[test]
    fn first_pages_share_a_request_as_long_as_they_fit() {
        assert_eq!(count_fitting_pages([40, 40, 20, 1], 100), 3);
        assert_eq!(count_fitting_pages([40, 40, 21, 1], 100), 2);
        assert_eq!(count_fitting_pages([101], 100), 1, "one page always fits");
        assert_eq!(count_fitting_pages([], 100), 1);
    }

    const ALL: ListingFloor = ListingFloor::Beginning;

    /// A lane of three items, the newest updated in this second, and read in the hundredth.
    fn settled_lane(second: i64) -> LaneState {
        let newest = Some((1, source_time(second)));
        let head = ListingHead {
            date: SourceInstant(100_000),
            newest,
            total_count: Some(3),
            excess: None,
            short_since: None,
        };
        let coverage = Coverage {
            from: Some(ALL),
            through: Some(SourceInstant(second * 1_000)),
            head: Some(head),
            ..Coverage::default()
        };
        LaneState { coverage, page_size: 100, ..LaneState::default() }
    }

    fn probe(second: i64, total_count: i64) -> ListingProbe {
        ListingProbe { newest: Some((1, source_time(second))), total_count }
    }

    fn source_time(second: i64) -> SourceTime {
        SourceTime::parse(&SourceInstant(second * 1_000).to_string()).unwrap()
    }
}
