use hw_rules::coverage::{CoverageGap, GapSide};
use hw_rules::followed_source::FollowedSource;
use hw_rules::lane::Lane;
use hw_rules::login::Login;
use hw_rules::plan::LaneState;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_clock::SAFE_BACKFILL_MS;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;
use hw_store::{DatabaseLocation, IngestPage, StoreReader, TurnFailure};

use crate::fixture::{
    HOST, coverage_through, crash_at, issue, issue_lane, issues_page, issues_page_through,
    open_store, organization_lane, repositories_page,
};

both![
    lane_that_is_unknown_claims_nothing_and_is_not_created_by_reading,
    turn_failure_is_recorded_until_a_turn_succeeds,
    lane_reset_opens_a_gap,
    sweep_request_keeps_the_earlier_due_time,
    lane_check_time_never_moves_back,
    listing_page_records_checks_of_all_unchanged_lanes,
    lane_of_an_owner_is_the_same_in_any_case,
];

fn lane_that_is_unknown_claims_nothing_and_is_not_created_by_reading(location: &DatabaseLocation) {
    let store = open_store(location);
    let state = store.lane_state(&issue_lane()).unwrap();
    assert_eq!(state, LaneState { page_size: 100, ..LaneState::default() });
    let lanes: Vec<_> = store.lanes().unwrap().into_iter().map(|(lane, ..)| lane).collect();
    assert_eq!(lanes, [organization_lane()]);
}

fn turn_failure_is_recorded_until_a_turn_succeeds(location: &DatabaseLocation) {
    let store = open_store(location);
    let message = "bad gateway\0".to_owned();
    let failure = TurnFailure { due_ms: 9_000, failures: 3, page_size: 25, message };
    store.postpone_lane(&issue_lane(), failure).unwrap();
    let state = store.lane_state(&issue_lane()).unwrap();
    assert_eq!((state.due_ms, state.failures, state.page_size), (9_000, 3, 25));
    assert_eq!(lane_errors(&store), [Some("bad gateway\u{fffd}".to_owned()), None]);
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let state = store.lane_state(&issue_lane()).unwrap();
    assert_eq!((state.failures, state.page_size), (3, 100), "a page does not end the turn");
    store.finish_turn(&issue_lane()).unwrap();
    assert_eq!(store.lane_state(&issue_lane()).unwrap().failures, 0);
    assert_eq!(lane_errors(&store), [None, None]);
}

fn lane_reset_opens_a_gap(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page_through(vec![], 600)).unwrap();
    let base = SourceInstant(300_000).plus_ms(SAFE_BACKFILL_MS);
    store.reset_lane(&issue_lane(), base, "the source's clock was wrong").unwrap();
    assert!(store.lane_state(&issue_lane()).unwrap().sweep_due_ms.is_some());
    let coverage = store.lane_state(&issue_lane()).unwrap().coverage;
    assert_eq!(coverage.through, Some(SourceInstant(300_000)));
    let floor = ListingFloor::At(SourceInstant(240_000));
    let gap = CoverageGap {
        side: GapSide::Above,
        target: SourceInstant(300_000),
        floor,
        cursor: None,
        is_settled: false,
    };
    assert_eq!(coverage.gap, Some(gap));
    store.ingest_page(&issues_page_through(vec![], 400)).unwrap();
    assert_eq!(store.lane_state(&issue_lane()).unwrap().coverage, coverage_through(400));
}

fn sweep_request_keeps_the_earlier_due_time(location: &DatabaseLocation) {
    let store = open_store(location);
    for due_ms in [700, 900, 500] {
        store.request_sweep(&issue_lane(), due_ms).unwrap();
    }
    assert_eq!(store.lane_state(&issue_lane()).unwrap().sweep_due_ms, Some(500));
}

fn lane_check_time_never_moves_back(location: &DatabaseLocation) {
    let store = open_store(location);
    let checks = [(Some(5_000), 5_000), (Some(4_000), 5_000), (None, 5_000), (Some(6_000), 6_000)];
    for (checked_at_ms, expected) in checks {
        let mut page = issues_page(vec![]);
        page.checked_lanes = checked_at_ms.map(|at_ms| (issue_lane(), at_ms)).into_iter().collect();
        store.ingest_page(&page).unwrap();
        assert_eq!(checked_at(&store, &issue_lane()), Some(expected));
    }
}

fn listing_page_records_checks_of_all_unchanged_lanes(location: &DatabaseLocation) {
    let store = open_store(location);
    let lanes: Vec<_> =
        (1..=99).map(|id| Lane::repository_issues(RepositoryKey::new(HOST, id))).collect();
    for lane in lanes.iter().skip(1) {
        store.make_lane_due(lane).unwrap();
    }
    let mut listing = repositories_page(vec![]);
    listing.checked_lanes = lanes.iter().map(|lane| (lane.clone(), 7_000)).collect();
    store.ingest_page(&listing).unwrap();
    assert!(lanes.iter().skip(1).all(|lane| checked_at(&store, lane) == Some(7_000)));
    assert_eq!(checked_at(&store, &lanes[0]), None);
    assert_eq!(store.lanes().unwrap().len(), 99, "an unknown lane is not created");
    assert_eq!(checked_at(&store, &organization_lane()), Some(1_000), "its walk is incomplete");
    listing.lane = Lane::owner_repositories("elsewhere", Login::from_known("acme"));
    listing.checked_lanes = vec![(lanes[1].clone(), 6_000)];
    let crashed = crash_at(&store, "ingest: before commit").ingest_page(&listing);
    assert!(crashed.is_err());
    assert_eq!(checked_at(&store, &lanes[1]), Some(7_000));
}

fn lane_of_an_owner_is_the_same_in_any_case(location: &DatabaseLocation) {
    let store = open_store(location);
    let lane = Lane::owner_repositories(HOST, Login::from_known("ACME"));
    assert_eq!((&lane, lane.to_string()), (&organization_lane(), organization_lane().to_string()));
    let listing = IngestPage {
        checked_lanes: vec![(lane.clone(), 7_000)],
        ..IngestPage::new(lane.clone(), 100)
    };
    store.ingest_page(&listing).unwrap();
    assert_eq!(checked_at(&store, &organization_lane()), Some(7_000));
    assert_eq!(store.lanes().unwrap().len(), 1);
    store.forget_source(HOST, &FollowedSource::from_stored("Acme")).unwrap();
    let left: Vec<_> = store.lanes().unwrap().into_iter().map(|(lane, ..)| lane).collect();
    assert_eq!(left, [Lane::single_repositories(HOST)]);
}

fn checked_at(store: &StoreReader, lane: &Lane) -> Option<i64> {
    store.lane_state(lane).unwrap().checked_at_ms
}

fn lane_errors(store: &StoreReader) -> Vec<Option<String>> {
    let mut lanes = store.lanes().unwrap();
    lanes.sort_by_key(|(lane, ..)| *lane != issue_lane());
    lanes.into_iter().map(|(_, _, error)| error).collect()
}
