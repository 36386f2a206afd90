use hw_rules::coverage::{Gap, Side};
use hw_rules::plan::LaneState;
use hw_rules::time::Mark;
use hw_rules::walk::Floor;
use hw_store::{Failure, Place};

use crate::world::{issue, issues, issues_through, lane, open, organization, through};

both![
    a_lane_never_seen_claims_nothing_and_reading_creates_nothing,
    a_failed_turn_is_remembered_until_a_turn_ends_well,
    a_reset_opens_a_gap,
    the_earlier_request_for_a_sweep_stays,
    the_last_look_at_the_source_never_moves_back,
];

fn a_lane_never_seen_claims_nothing_and_reading_creates_nothing(place: &Place) {
    let (store, _) = open(place);
    let state = store.lane_state(&lane()).unwrap();
    assert_eq!(state, LaneState { page_size: 100, ..LaneState::default() });
    let lanes: Vec<_> = store.lanes().unwrap().into_iter().map(|(lane, ..)| lane).collect();
    assert_eq!(lanes, [organization()]);
}

fn a_failed_turn_is_remembered_until_a_turn_ends_well(place: &Place) {
    let (store, lease) = open(place);
    let message = "bad gateway\0".to_owned();
    let failure = Failure { due_ms: 9_000, failures: 3, page_size: 25, message };
    store.postpone(&lease, &lane(), failure).unwrap();
    let state = store.lane_state(&lane()).unwrap();
    assert_eq!((state.due_ms, state.failures, state.page_size), (9_000, 3, 25));
    assert_eq!(errors(&store), [Some("bad gateway\u{fffd}".to_owned()), None]);
    store.ingest(&lease, &issues(vec![issue(5, 10, "x")])).unwrap();
    let state = store.lane_state(&lane()).unwrap();
    assert_eq!((state.failures, state.page_size), (3, 100), "one page is not a turn");
    store.finish_turn(&lease, &lane()).unwrap();
    assert_eq!(store.lane_state(&lane()).unwrap().failures, 0);
    assert_eq!(errors(&store), [None, None]);
}

fn a_reset_opens_a_gap(place: &Place) {
    let (store, lease) = open(place);
    store.ingest(&lease, &issues_through(vec![], 600)).unwrap();
    store.reset_lane(&lease, &lane(), Mark(300_000), "the source's clock was wrong").unwrap();
    let coverage = store.lane_state(&lane()).unwrap().coverage;
    assert_eq!(coverage.through, Some(Mark(300_000)));
    let floor = Floor::At(Mark(240_000));
    let gap = Gap { side: Side::Above, target: Mark(300_000), floor, cursor: None };
    assert_eq!(coverage.gap, Some(gap));
    store.ingest(&lease, &issues_through(vec![], 400)).unwrap();
    assert_eq!(store.lane_state(&lane()).unwrap().coverage, through(400));
}

fn the_earlier_request_for_a_sweep_stays(place: &Place) {
    let (store, _) = open(place);
    for due_ms in [700, 900, 500] {
        store.request_sweep(&lane(), due_ms).unwrap();
    }
    assert_eq!(store.lane_state(&lane()).unwrap().sweep_due_ms, Some(500));
}

fn the_last_look_at_the_source_never_moves_back(place: &Place) {
    let (store, lease) = open(place);
    let looks = [(Some(5_000), 5_000), (Some(4_000), 5_000), (None, 5_000), (Some(6_000), 6_000)];
    for (checked_at_ms, known) in looks {
        let mut page = issues(vec![]);
        page.checked_at_ms = checked_at_ms;
        store.ingest(&lease, &page).unwrap();
        assert_eq!(store.lane_state(&lane()).unwrap().checked_at_ms, Some(known));
    }
}

fn errors(store: &hw_store::Store) -> Vec<Option<String>> {
    let mut lanes = store.lanes().unwrap();
    lanes.sort_by_key(|(found, ..)| *found != lane());
    lanes.into_iter().map(|(_, _, error)| error).collect()
}
