//! A probe: the newest item and the item count of a listing. One response carries the probes of many lanes.
//!
//! It is compared only with the head that a walk recorded, never with another probe.

use serde::{Deserialize, Serialize};

use crate::plan::LaneState;
use crate::source_time::SourceTime;
use crate::walk::ListingFloor;

/// The summary of a listing that is known without reading it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingProbe {
    /// The newest item: its id and its `updated_at`.
    pub newest: Option<(i64, SourceTime)>,
    pub total_count: i64,
}

/// The first page of a lane that was read before. It usually changed by a few rows: those, the rows within the
/// overlap, and one below them.
pub(crate) const CHANGED_LANE_ROWS: u32 = 10;

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
