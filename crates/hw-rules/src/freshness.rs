//! How fresh an answer is: what every face says beside what it shows.

use crate::OVERLAP_MS;
use crate::plan::LaneState;
use crate::time::Mark;

/// What is true of an answer that rests on some lanes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Freshness {
    /// Everything that was said up to here is in the answer; none when a lane was never read.
    pub fresh_through: Option<Mark>,
    /// Lanes that are not complete: never read to the end, with an open gap, or with a walk under way.
    pub incomplete: Vec<String>,
    /// Lanes whose last turn failed.
    pub failing: Vec<String>,
}

impl Freshness {
    /// The freshness of an answer from these lanes, each with its name.
    pub fn of<'a>(lanes: impl IntoIterator<Item = (String, &'a LaneState)>) -> Self {
        let mut fresh = Self::default();
        let mut earliest: Option<Option<Mark>> = None;
        for (name, lane) in lanes {
            let looked = lane.checked_at_ms.map(|at| Mark(at).minus(OVERLAP_MS));
            earliest = Some(earliest.map_or(looked, |earliest| earliest.min(looked)));
            if !lane.coverage.is_complete() {
                fresh.incomplete.push(name.clone());
            }
            if 0 < lane.failures {
                fresh.failing.push(name);
            }
        }
        fresh.fresh_through = earliest.flatten();
        fresh
    }

    /// Whether the answer is all that can be said.
    pub fn is_whole(&self) -> bool {
        self.fresh_through.is_some() && self.incomplete.is_empty() && self.failing.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::Coverage;
    use crate::walk::{Floor, Walk};

    #[test]
    fn an_answer_is_as_fresh_as_its_oldest_lane() {
        let (early, late) = (lane(Some(100_000)), lane(Some(200_000)));
        let fresh = Freshness::of([("a".into(), &late), ("b".into(), &early)]);
        assert_eq!(fresh.fresh_through, Some(Mark(40_000)));
        assert!(fresh.is_whole());
    }

    #[test]
    fn a_lane_that_was_never_read_or_fails_is_named() {
        let never = LaneState::default();
        let failing = LaneState { failures: 1, ..lane(Some(100_000)) };
        let fresh = Freshness::of([("never".into(), &never), ("failing".into(), &failing)]);
        assert_eq!(fresh.fresh_through, None);
        assert_eq!(
            (fresh.incomplete, fresh.failing),
            (vec!["never".into()], vec!["failing".into()])
        );
    }

    #[test]
    fn a_walk_left_in_the_middle_is_not_complete() {
        let mut lane = lane(Some(100_000));
        lane.coverage.walk = Some(Walk::down_to(Floor::Beginning));
        assert_eq!(Freshness::of([("a".into(), &lane)]).incomplete, vec!["a".to_owned()]);
    }

    #[test]
    fn an_answer_from_no_lane_claims_nothing() {
        assert!(!Freshness::of([]).is_whole());
    }

    fn lane(checked_at_ms: Option<i64>) -> LaneState {
        let coverage = Coverage { through: checked_at_ms.map(Mark), ..Coverage::default() };
        LaneState { coverage, checked_at_ms, ..LaneState::default() }
    }
}
