use hw_rules::coverage::{Gap, Side};
use hw_rules::lane::Lane;
use hw_rules::plan::LaneState;
use hw_rules::source_clock::SAFE_BACKFILL_MS;
use hw_rules::time::Mark;
use hw_rules::walk::Floor;
use hw_store::{Failure, Place};

use crate::world::{
    HOST, crashing_at, issue, issues, issues_through, lane, open, organization, repositories,
    through,
};

both![
    a_lane_never_seen_claims_nothing_and_reading_creates_nothing,
    a_failed_turn_is_remembered_until_a_turn_ends_well,
    a_reset_opens_a_gap,
    the_earlier_request_for_a_sweep_stays,
    the_last_look_at_the_source_never_moves_back,
    a_listing_tells_of_every_lane_that_did_not_move,
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
    let base = Mark(300_000).plus(SAFE_BACKFILL_MS);
    store.reset_lane(&lease, &lane(), base, "the source's clock was wrong").unwrap();
    assert!(store.lane_state(&lane()).unwrap().sweep_due_ms.is_some());
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
    for (look, known) in looks {
        let mut page = issues(vec![]);
        page.looked_at = look.map(|at_ms| (lane(), at_ms)).into_iter().collect();
        store.ingest(&lease, &page).unwrap();
        assert_eq!(store.lane_state(&lane()).unwrap().checked_at_ms, Some(known));
    }
}

fn a_listing_tells_of_every_lane_that_did_not_move(place: &Place) {
    let (store, lease) = open(place);
    let lanes: Vec<_> = (1..=99).map(|id| Lane::issues(HOST, id)).collect();
    for lane in lanes.iter().skip(1) {
        store.make_due(&lease, lane).unwrap();
    }
    let mut listing = repositories(vec![]);
    listing.looked_at = lanes.iter().map(|lane| (lane.clone(), 7_000)).collect();
    store.ingest(&lease, &listing).unwrap();
    let looked_at = |lane: &Lane| store.lane_state(lane).unwrap().checked_at_ms;
    assert!(lanes.iter().skip(1).all(|lane| looked_at(lane) == Some(7_000)));
    assert_eq!((looked_at(&lanes[0]), store.lanes().unwrap().len()), (None, 99), "none is made");
    assert_eq!(looked_at(&organization()), Some(1_000), "it was not closed");
    listing.lane = Lane::repositories("elsewhere", "acme");
    listing.looked_at = vec![(lanes[1].clone(), 6_000)];
    let crashed = crashing_at(&store, "ingest: before commit").ingest(&lease, &listing);
    assert!(crashed.is_err());
    assert_eq!(looked_at(&lanes[1]), Some(7_000));
}

fn errors(store: &hw_store::Store) -> Vec<Option<String>> {
    let mut lanes = store.lanes().unwrap();
    lanes.sort_by_key(|(found, ..)| *found != lane());
    lanes.into_iter().map(|(_, _, error)| error).collect()
}
