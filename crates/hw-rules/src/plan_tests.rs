use proptest::prelude::*;

use super::*;
use crate::source_time::{SourceInstant, SourceTime};
use crate::walk::{ListingHead, NewestFirstWalk};

const ALL: ListingFloor = ListingFloor::Beginning;
const NOW_MS: i64 = 50;
const SCAN_AND_SWEEP: LanePlan = LanePlan::Sweep { scan_first: true };
const SWEEP_ONLY: LanePlan = LanePlan::Sweep { scan_first: false };
const REQUEST: LaneRequest = LaneRequest {
    window: ALL,
    has_quarantined: false,
    sweep: SweepRequest::WhenDue,
    timing: TurnTiming::AtOnce,
};

#[test]
fn plan_skips_a_settled_lane_that_did_not_move() {
    assert_eq!(plan_by_probe(&settled_lane(5), &probe(5, 3)), LanePlan::Skip);
}

#[test]
fn plan_reads_a_first_page_on_a_new_item_or_another_count() {
    let few = LanePlan::FirstPage { rows: 3 };
    assert_eq!(plan_by_probe(&settled_lane(5), &probe(6, 3)), few);
    let other = ListingProbe { newest: Some((2, source_time(5))), total_count: 3 };
    assert_eq!(plan_by_probe(&settled_lane(5), &other), few);
    let fewer = LanePlan::FirstPage { rows: 2 };
    assert_eq!(plan_by_probe(&settled_lane(5), &probe(5, 2)), fewer);
}

#[test]
fn plan_rereads_an_unsettled_lane() {
    let first_page_came_too_early = settled_lane(99);
    let again = plan_by_probe(&first_page_came_too_early, &probe(99, 3));
    assert_eq!(again, LanePlan::FirstPage { rows: 3 });
}

#[test]
fn plan_reads_changes_before_it_sweeps() {
    let due = LaneState { sweep_due_ms: Some(NOW_MS), ..settled_lane(5) };
    let begun = LaneState { is_sweeping: true, ..settled_lane(5) };
    for state in [due, begun] {
        assert_eq!(plan_by_probe(&state, &probe(5, 3)), SWEEP_ONLY);
        let few = LanePlan::FirstPage { rows: 3 };
        assert_eq!(plan_by_probe(&state, &probe(6, 3)), few, "changes are read first");
        assert_eq!(plan(&state, ChangeSign::Unchanged, &REQUEST), SWEEP_ONLY, "and then it sweeps");
        assert_eq!(plan(&state, ChangeSign::Unknown, &REQUEST), SCAN_AND_SWEEP);
    }
}

#[test]
fn plan_sweeps_when_a_sweep_is_due_or_requested_and_never_where_absence_means_nothing() {
    let later = LaneState { sweep_due_ms: Some(NOW_MS + 1), ..settled_lane(5) };
    let due = LaneState { sweep_due_ms: Some(NOW_MS), ..settled_lane(5) };
    for (state, sweep, unknown, unchanged) in [
        (&later, SweepRequest::WhenDue, LanePlan::Scan, LanePlan::Skip),
        (&due, SweepRequest::WhenDue, SCAN_AND_SWEEP, SWEEP_ONLY),
        (&later, SweepRequest::Now, SCAN_AND_SWEEP, SWEEP_ONLY),
        (&due, SweepRequest::Never, LanePlan::Scan, LanePlan::Skip),
    ] {
        let request = LaneRequest { sweep, ..REQUEST };
        assert_eq!(plan(state, ChangeSign::Unknown, &request), unknown, "{sweep:?}");
        assert_eq!(plan(state, ChangeSign::Unchanged, &request), unchanged, "{sweep:?}");
    }
}

#[test]
fn plan_is_a_turn_after_unfinished_work() {
    let mut walking = settled_lane(5);
    walking.coverage.walk = Some(NewestFirstWalk::with_stop(ALL));
    let failing = LaneState { failures: 1, ..settled_lane(5) };
    for state in [walking, failing] {
        assert_eq!(plan_by_probe(&state, &probe(5, 3)), LanePlan::Scan);
    }
    let request = LaneRequest { has_quarantined: true, ..REQUEST };
    let waiting = plan(&settled_lane(5), ChangeSign::Probe(&probe(5, 3)), &request);
    assert_eq!(waiting, LanePlan::Scan, "quarantined rows wait for a retry");
}

#[test]
fn plan_is_a_turn_after_the_window_widened() {
    let mut state = settled_lane(5);
    state.coverage.from = Some(ListingFloor::At(SourceInstant(4_000)));
    for (window_ms, expected) in [(4_500, LanePlan::Skip), (3_000, LanePlan::Scan)] {
        let request = LaneRequest { window: ListingFloor::At(SourceInstant(window_ms)), ..REQUEST };
        assert_eq!(plan(&state, ChangeSign::Probe(&probe(5, 3)), &request), expected);
    }
}

#[test]
fn plan_shares_a_request_for_a_small_new_lane() {
    let new = LaneState { page_size: 100, ..LaneState::default() };
    for (total, expected) in [
        (0, LanePlan::FirstPage { rows: 1 }),
        (50, LanePlan::FirstPage { rows: 50 }),
        (51, LanePlan::Scan),
    ] {
        assert_eq!(plan_by_probe(&new, &probe(5, total)), expected);
    }
    let heavy = LaneState { page_size: 6, ..LaneState::default() };
    let expected = LanePlan::Scan;
    assert_eq!(plan_by_probe(&heavy, &probe(5, 7)), expected, "too much for the server before");
}

#[test]
fn plan_waits_for_a_lane_that_is_not_due_unless_a_person_asks() {
    let when_due = LaneRequest { timing: TurnTiming::WhenDue, ..REQUEST };
    for (failures, reason) in [(2, SleepReason::BackingOff), (0, SleepReason::NotDue)] {
        let state = LaneState { due_ms: NOW_MS + 4, failures, ..LaneState::default() };
        let sleep = LanePlan::Sleep { until_ms: NOW_MS + 4, reason };
        assert_eq!(plan_lane(&state, ChangeSign::Unknown, &when_due, NOW_MS), sleep);
        assert_eq!(plan_lane(&state, ChangeSign::Unknown, &when_due, NOW_MS + 4), LanePlan::Scan);
        assert_eq!(plan(&state, ChangeSign::Unknown, &REQUEST), LanePlan::Scan);
    }
}

proptest! {
    #[test]
    fn plan_never_leaves_work_behind_and_never_does_what_nobody_requested(
        state in any_state(),
        request in any_request(),
        total_count in 0..200i64,
        newest_second in 1..120i64,
        sign_kind in 0..3u8,
    ) {
        let probe = probe(newest_second, total_count);
        let sign = match sign_kind {
            0 => ChangeSign::Unknown,
            1 => ChangeSign::Unchanged,
            _ => ChangeSign::Probe(&probe),
        };
        let must_sweep = request.sweep == SweepRequest::Now
            || request.sweep == SweepRequest::WhenDue
                && (state.is_sweeping || state.is_sweep_due(NOW_MS));
        match plan_lane(&state, sign, &request, NOW_MS) {
            LanePlan::Sleep { until_ms, .. } => {
                prop_assert!(request.timing == TurnTiming::WhenDue && until_ms > NOW_MS);
            }
            LanePlan::Sweep { scan_first } => {
                prop_assert!(must_sweep);
                prop_assert!(scan_first || sign != ChangeSign::Unknown);
            }
            LanePlan::Scan => prop_assert!(!must_sweep && sign != ChangeSign::Unchanged),
            LanePlan::FirstPage { rows } => {
                prop_assert!(matches!(sign, ChangeSign::Probe(_)));
                prop_assert!(!request.has_quarantined && state.failures == 0);
                prop_assert!((1..=MAX_SHARED_ROWS.min(state.page_size)).contains(&rows));
            }
            LanePlan::Skip => {
                prop_assert!(!must_sweep && sign != ChangeSign::Unknown);
                if let ChangeSign::Probe(_) = sign {
                    prop_assert!(state.failures == 0 && !request.has_quarantined);
                    prop_assert!(state.coverage.is_complete());
                }
            }
        }
    }
}

fn any_state() -> impl Strategy<Value = LaneState> {
    let lane = (prop::bool::ANY, prop::bool::ANY, 1..120i64);
    let turn = (0..100i64, 0..2u32, prop::option::of(0..100i64), prop::bool::ANY, 1..=100u32);
    (lane, turn).prop_map(|((is_read, is_walking, second), turn)| {
        let (due_ms, failures, sweep_due_ms, is_sweeping, page_size) = turn;
        let mut coverage =
            if is_read { settled_lane(second).coverage } else { Coverage::default() };
        coverage.walk = is_walking.then(|| NewestFirstWalk::with_stop(ALL));
        let state = LaneState { coverage, due_ms, failures, sweep_due_ms, ..LaneState::default() };
        LaneState { is_sweeping, page_size, ..state }
    })
}

fn any_request() -> impl Strategy<Value = LaneRequest> {
    let sweep = [SweepRequest::Never, SweepRequest::WhenDue, SweepRequest::Now];
    let timing = [TurnTiming::AtOnce, TurnTiming::WhenDue];
    (prop::bool::ANY, 0..3usize, 0..2usize).prop_map(move |(has_quarantined, at, when)| {
        LaneRequest { window: ALL, has_quarantined, sweep: sweep[at], timing: timing[when] }
    })
}

fn plan(state: &LaneState, sign: ChangeSign<'_>, request: &LaneRequest) -> LanePlan {
    plan_lane(state, sign, request, NOW_MS)
}

fn plan_by_probe(state: &LaneState, probe: &ListingProbe) -> LanePlan {
    plan(state, ChangeSign::Probe(probe), &REQUEST)
}

/// A lane of three items, the newest updated in this second, and read in the hundredth.
fn settled_lane(second: i64) -> LaneState {
    let head = ListingHead {
        date: SourceInstant(100_000),
        newest: Some((1, source_time(second))),
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
