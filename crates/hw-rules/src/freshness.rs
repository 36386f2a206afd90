//! Reports how fresh a result is: every interface shows this beside the result itself.

use crate::OVERLAP_MS;
use crate::plan::LaneState;
use crate::source_time::SourceInstant;

/// The freshness of a result that is drawn from some lanes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerFreshness {
    /// The time up to which the result includes every change; none when a lane was never read.
    pub fresh_through: Option<SourceInstant>,
    /// Lanes that are not complete: never read to the end, with an open gap, or with an unfinished walk.
    pub incomplete: Vec<String>,
    /// Lanes whose last turn failed.
    pub failing: Vec<String>,
}

impl AnswerFreshness {
    /// Combines the freshness of these lanes, each with its name.
    pub fn from_lanes<'a>(lanes: impl IntoIterator<Item = (String, &'a LaneState)>) -> Self {
        let mut fresh = Self::default();
        let mut earliest: Option<Option<SourceInstant>> = None;
        for (name, lane) in lanes {
            let fresh_at = lane.checked_at_ms.map(|at| SourceInstant(at).minus_ms(OVERLAP_MS));
            earliest = Some(earliest.map_or(fresh_at, |earliest| earliest.min(fresh_at)));
            if !lane.coverage.is_complete() {
                fresh.incomplete.push(name.clone());
            }
            if lane.failures > 0 {
                fresh.failing.push(name);
            }
        }
        fresh.fresh_through = earliest.flatten();
        fresh
    }

    /// Returns true if every lane was read completely and none is failing.
    pub fn is_complete(&self) -> bool {
        self.fresh_through.is_some() && self.incomplete.is_empty() && self.failing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;
    use crate::walk::{ListingFloor, NewestFirstWalk};

    #[test]
    fn freshness_is_that_of_the_oldest_lane() {
        let (early, late) = (lane(Some(100_000)), lane(Some(200_000)));
        let fresh = AnswerFreshness::from_lanes([("a".into(), &late), ("b".into(), &early)]);
        assert_eq!(fresh.fresh_through, Some(SourceInstant(40_000)));
        assert!(fresh.is_complete());
    }

    #[test]
    fn freshness_names_unread_and_failing_lanes() {
        let never = LaneState::default();
        let failing = LaneState { failures: 1, ..lane(Some(100_000)) };
        let fresh =
            AnswerFreshness::from_lanes([("never".into(), &never), ("failing".into(), &failing)]);
        assert_eq!(fresh.fresh_through, None);
        assert_eq!(
            (fresh.incomplete, fresh.failing),
            (vec!["never".into()], vec!["failing".into()])
        );
    }

    #[test]
    fn freshness_reports_an_unfinished_walk_as_incomplete() {
        let mut lane = lane(Some(100_000));
        lane.coverage.walk = Some(NewestFirstWalk::with_stop(ListingFloor::Beginning));
        assert_eq!(
            AnswerFreshness::from_lanes([("a".into(), &lane)]).incomplete,
            vec!["a".to_owned()]
        );
    }

    #[test]
    fn freshness_without_lanes_claims_nothing() {
        assert!(!AnswerFreshness::from_lanes([]).is_complete());
    }

    fn lane(checked_at_ms: Option<i64>) -> LaneState {
        let coverage =
            Coverage { through: checked_at_ms.map(SourceInstant), ..Coverage::default() };
        LaneState { coverage, checked_at_ms, ..LaneState::default() }
    }
}
