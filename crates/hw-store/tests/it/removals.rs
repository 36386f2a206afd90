use hw_rules::item::{ObjectId, ObjectKind, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::LaneState;
use hw_rules::row_subject::RowSubject;
use hw_store::{
    DatabaseLocation, LeasedStore, ObjectCounts, RemovalResult, StoreError, SweepPage, TurnFailure,
    UnreadableItem,
};

use crate::fixture::{
    HOST, PUMP_ID, count_search_rows, crash_at, finish_chores, issue, issue_lane, issues_page,
    issues_page_through, lane_for_kind, observed_at, open_store, organization_lane,
    pump_repository, repositories_page, repository, search_ids, source_time, thread,
    thread_in_repository, threads_page, with_observed_at, with_older_lease,
};

both![
    repository_is_removed_with_all_its_content,
    brake_stops_the_removal_of_two_repositories_and_counts_them,
    repository_removal_is_atomic_when_it_crashes,
    lane_that_is_cleared_is_as_if_never_read,
    lane_is_cleared_completely_or_not_at_all,
    repositories_survive_clearing_and_are_rewritten,
    lane_that_is_unknown_is_cleared_without_being_created,
];

pub(crate) const LATE_SECOND: i64 = 1_000;

fn repository_is_removed_with_all_its_content(location: &DatabaseLocation) {
    let store = open_store(location);
    fill_lanes(&store);
    let valve = thread_in_repository(ThreadKind::PullRequest, 2, "valve", 50, 10, "leaks");
    let mut page = threads_page(ThreadKind::PullRequest, vec![valve]);
    page.lane = Lane::for_repository(HOST, 2, Surface::Threads(ThreadKind::PullRequest));
    store.ingest_pages(&[repositories_page(vec![repository(2, "valve", 0)]), page]).unwrap();
    let mut unreadable = repositories_page(vec![]);
    unreadable.quarantined = vec![unreadable_item("R_1"), unreadable_item("R_2")];
    store.ingest_page(&unreadable).unwrap();
    let gone = [(PUMP_ID, observed_at(LATE_SECOND))];
    let done = store.remove_repositories(&organization_lane(), &gone, false).unwrap();
    finish_chores(&store);
    assert_eq!(done, RemovalResult { removed: 1 });
    let left = ObjectCounts {
        repositories: 1,
        pull_requests: 1,
        quarantined: 1,
        tombstones: 7,
        ..ObjectCounts::default()
    };
    assert_eq!(store.object_counts().unwrap(), left, "the content of valve stays");
    assert_eq!((search_ids(&store, "leaks"), count_search_rows(location)), (vec![50], 1));
    for kind in ThreadKind::ALL {
        assert_eq!(
            store.cell(HOST, ObjectId { kind: kind.into(), id: 5 }).unwrap().tombstone,
            Some(observed_at(LATE_SECOND))
        );
        assert_eq!(store.lane_state(&lane_for_kind(kind)).unwrap(), fresh_lane_state());
    }
    let back =
        repositories_page(vec![with_observed_at(pump_repository("pump", 0), LATE_SECOND + 1)]);
    assert_eq!(store.ingest_page(&back).unwrap().revived, 1);
    let again = store.remove_repositories(&organization_lane(), &gone, false).unwrap();
    finish_chores(&store);
    assert_eq!(again, RemovalResult { removed: 0 }, "an old observation");
}

fn brake_stops_the_removal_of_two_repositories_and_counts_them(location: &DatabaseLocation) {
    let store = open_store(location);
    let others = (2..=50).map(|id| repository(id, &format!("r{id}"), 0)).collect();
    store.ingest_page(&repositories_page(others)).unwrap();
    let gone = [(2, observed_at(LATE_SECOND)), (3, observed_at(LATE_SECOND))];
    let stopped = store.remove_repositories(&organization_lane(), &gone, false).unwrap_err();
    assert!(
        matches!(&stopped, StoreError::Brake { kind: ObjectKind::Repository, .. }),
        "{stopped:?}"
    );
    let expected = "2 of 50 repositories would be removed at once: acme/r2, acme/r3";
    assert_eq!(stopped.to_string(), expected);
    assert_eq!(
        (store.object_counts().unwrap().repositories, store.object_counts().unwrap().tombstones),
        (50, 0)
    );
    let done = store.remove_repositories(&organization_lane(), &gone, true).unwrap();
    finish_chores(&store);
    assert_eq!((done.removed, store.object_counts().unwrap().repositories), (2, 48));
}

fn repository_removal_is_atomic_when_it_crashes(location: &DatabaseLocation) {
    let store = open_store(location);
    fill_lanes(&store);
    let gone = [(PUMP_ID, observed_at(LATE_SECOND))];
    let before = store.object_counts().unwrap();
    let after = ObjectCounts { tombstones: 7, ..ObjectCounts::default() };
    for (point, expected) in [
        ("remove repositories: before commit", before),
        ("remove repositories: after commit", after),
    ] {
        crash_at(&store, point)
            .remove_repositories(&organization_lane(), &gone, false)
            .unwrap_err();
        finish_chores(&store);
        assert_eq!(store.object_counts().unwrap(), expected);
    }
    let refused = with_older_lease(&store).remove_repositories(&organization_lane(), &gone, false);
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
}

fn lane_that_is_cleared_is_as_if_never_read(location: &DatabaseLocation) {
    let store = open_store(location);
    fill_lanes(&store);
    store.finish_sweep(&issue_lane(), &[(6, observed_at(LATE_SECOND))], false).unwrap();
    store.stage_sweep_page(&issue_lane(), &inventory_page(&[5])).unwrap();
    let failure = TurnFailure { due_ms: 9, failures: 3, page_size: 25, message: "no".to_owned() };
    store.postpone_lane(&issue_lane(), failure).unwrap();
    store.clear_lane(&issue_lane()).unwrap();
    finish_chores(&store);
    assert_eq!(store.lane_state(&issue_lane()).unwrap(), fresh_lane_state());
    assert_eq!(store.sweep_state(&issue_lane()).unwrap(), None);
    let left = ObjectCounts {
        repositories: 1,
        discussions: 2,
        pull_requests: 2,
        quarantined: 2,
        ..ObjectCounts::default()
    };
    assert_eq!(store.object_counts().unwrap(), left, "other lanes keep their items");
    assert_eq!((search_ids(&store, "leaks").len(), count_search_rows(location)), (4, 4));
    let errors: Vec<_> = store.lanes().unwrap().into_iter().filter_map(|(.., e)| e).collect();
    assert_eq!(errors, Vec::<String>::new());
    let page = issues_page_through(vec![issue(6, 10, "leaks")], 1);
    assert_eq!(store.ingest_page(&page).unwrap().created, 1, "no tombstone, no watermark");
    let refused = with_older_lease(&store).clear_lane(&issue_lane());
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
}

fn lane_is_cleared_completely_or_not_at_all(location: &DatabaseLocation) {
    let store = open_store(location);
    for page in 0..12 {
        let ids = page * 100..page * 100 + 100;
        store.ingest_page(&issues_page(ids.map(|id| issue(id, 10, "leaks")).collect())).unwrap();
    }
    assert!(crash_at(&store, "clear: before commit").clear_lane(&issue_lane()).is_err());
    assert_eq!(
        (store.object_counts().unwrap().issues, count_search_rows(location)),
        (1_200, 1_200)
    );
    store.clear_lane(&issue_lane()).unwrap();
    finish_chores(&store);
    assert_eq!((store.object_counts().unwrap().issues, count_search_rows(location)), (0, 0));
}

fn repositories_survive_clearing_and_are_rewritten(location: &DatabaseLocation) {
    let store = open_store(location);
    fill_lanes(&store);
    let before = store.object_counts().unwrap();
    let page = repositories_page(vec![repository(PUMP_ID, "pump", LATE_SECOND)]);
    store.ingest_page(&page).unwrap();
    assert_eq!(store.ingest_page(&page).unwrap().edited, 0);
    store.clear_lane(&organization_lane()).unwrap();
    finish_chores(&store);
    assert_eq!(store.object_counts().unwrap(), before);
    assert_eq!(store.ingest_page(&page).unwrap().edited, 1);
}

fn lane_that_is_unknown_is_cleared_without_being_created(location: &DatabaseLocation) {
    let store = open_store(location);
    store.clear_lane(&issue_lane()).unwrap();
    assert_eq!(store.count_chores().unwrap(), 0);
    assert_eq!(store.lanes().unwrap().len(), 1, "it is not created");
}

/// Fills each lane with two threads, an unreadable item and a complete sweep.
pub(crate) fn fill_lanes(store: &LeasedStore) {
    for kind in ThreadKind::ALL {
        let page = vec![thread(kind, 5, 10, "leaks"), thread(kind, 6, 10, "leaks")];
        let mut page = threads_page(kind, page);
        page.coverage = Some(crate::fixture::coverage_through(10));
        page.quarantined = vec![unreadable_item("x")];
        page.page_size = 50;
        store.ingest_page(&page).unwrap();
        store.request_sweep(&lane_for_kind(kind), 7).unwrap();
        store.stage_sweep_page(&lane_for_kind(kind), &inventory_page(&[5])).unwrap();
    }
}

pub(crate) fn inventory_page(ids: &[i64]) -> SweepPage {
    let rows = ids.iter().map(|id| (*id, "x".to_owned(), source_time(10))).collect();
    SweepPage { began_at: observed_at(LATE_SECOND), rows, next: None, complete: true }
}

fn fresh_lane_state() -> LaneState {
    LaneState { page_size: 100, ..LaneState::default() }
}

fn unreadable_item(subject: &str) -> UnreadableItem {
    UnreadableItem {
        subject: RowSubject::parse(subject),
        reason: "no title".to_owned(),
        raw: "{}".to_owned(),
        updated_at: None,
        seen: observed_at(10),
    }
}
