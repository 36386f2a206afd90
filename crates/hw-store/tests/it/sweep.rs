use hw_rules::item::{CommentKind, ObjectId, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::LaneState;
use hw_rules::reconcile::ReconcileFindings;
use hw_rules::removal_brake::RemovalBrake;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_store::{
    DatabaseLocation, IngestPage, LeasedStore, RemovalResult, StoreError, StoreReader, SweepPage,
    SweepState,
};

use crate::fixture::{
    HOST, PUMP_ID, as_thread_mut, comment, count_search_rows, crash_at, finish_chores, issue,
    issue_key, issue_lane, issues_page, issues_page_through, observed_at, open_store,
    organization_lane, pump_repository, repositories_page, repository, search_ids, source_time,
    stored_issues, thread_in_repository, threads_page, with_observed_at,
};

both![
    sweep_is_staged_page_by_page_and_keeps_its_start_time,
    sweep_finds_missing_newer_and_absent_items,
    sweep_that_is_unfinished_finds_and_removes_nothing,
    sweep_removes_text_and_search_row_and_keeps_a_tombstone,
    tombstone_is_revived_only_by_a_later_observation,
    brake_stops_a_mass_removal_and_changes_nothing,
    brake_stops_a_sweep_that_removes_two_repositories,
    sweep_siblings_are_spread_over_the_inventory,
    sweep_of_many_items_is_compared_range_by_range,
    url_of_a_thread_returns_to_the_row_that_was_observed_last,
    sweep_is_due_when_a_thread_has_two_ids,
    sweep_ignores_items_below_the_coverage,
    sweep_that_restarts_stays_due,
    sweep_that_is_requested_during_another_stays_due_after_it,
    sweep_that_crashes_before_the_commit_removes_nothing,
    repository_is_removed_with_its_issues_and_read_again_when_it_returns,
    sweep_keeps_items_that_another_lane_has_read_since,
    url_returns_to_its_thread_when_a_wrong_id_is_removed,
    url_returns_to_its_thread_when_a_wrong_id_gets_its_own_node,
];

const LATE_SECOND: i64 = 1_000;

fn sweep_is_staged_page_by_page_and_keeps_its_start_time(location: &DatabaseLocation) {
    let store = open_store(location);
    store.request_sweep(&issue_lane(), 7).unwrap();
    assert_eq!(store.sweep_state(&issue_lane()).unwrap(), None);
    let mut page = sweep_page(LATE_SECOND, &[5, 6], false);
    page.next = Some(PageCursor("after 6".to_owned()));
    store.stage_sweep_page(&issue_lane(), &page).unwrap();
    let started = SweepState {
        began_at: observed_at(LATE_SECOND),
        cursor: page.next,
        listed: 2,
        complete: false,
    };
    assert_eq!(store.sweep_state(&issue_lane()).unwrap(), Some(started.clone()));
    assert!(store.lane_state(&issue_lane()).unwrap().is_sweeping);
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND + 1, &[6, 7], true)).unwrap();
    let complete = SweepState { cursor: None, listed: 3, complete: true, ..started };
    assert_eq!(store.sweep_state(&issue_lane()).unwrap(), Some(complete));
    store.finish_sweep(&issue_lane(), &[], false).unwrap();
    assert_eq!(store.sweep_state(&issue_lane()).unwrap(), None);
    let LaneState { is_sweeping, sweep_due_ms, .. } = store.lane_state(&issue_lane()).unwrap();
    assert_eq!((is_sweeping, sweep_due_ms), (false, None));
}

/// A transferred issue is gone from its old list, but was read from another one in the meantime.
fn sweep_keeps_items_that_another_lane_has_read_since(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "a")])).unwrap();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &[6], true)).unwrap();
    let elsewhere = Lane::for_repository(HOST, 2, Surface::Threads(ThreadKind::Issue));
    let moved = thread_in_repository(ThreadKind::Issue, 2, "pipe", 5, 10, "a");
    let page = IngestPage::new(elsewhere, 100);
    let page = IngestPage { observations: vec![with_observed_at(moved, LATE_SECOND)], ..page };
    store.ingest_page(&page).unwrap();
    let gone = [(5, observed_at(LATE_SECOND + 1))];
    assert!(store.check_removal(&issue_lane(), &gone, false).unwrap().is_empty());
    assert_eq!(
        store.finish_sweep(&issue_lane(), &gone, false).unwrap(),
        RemovalResult { removed: 0 }
    );
    assert_eq!(store.object_counts().unwrap().issues, 1);
}

fn url_returns_to_its_thread_when_a_wrong_id_is_removed(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_under_wrong_id(&store);
    let comment = comment(CommentKind::Conversation, 50, 5, 10, "a word");
    store.ingest_page(&threads_page(CommentKind::Conversation, vec![comment])).unwrap();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &[5], true)).unwrap();
    store.finish_sweep(&issue_lane(), &[(9, observed_at(LATE_SECOND))], false).unwrap();
    assert_eq!(store.object_counts().unwrap().comments, 1, "its comments stay");
    assert_eq!(issue_urls(&store), ["https://github.com/acme/pump/issues/5"]);
}

fn url_returns_to_its_thread_when_a_wrong_id_gets_its_own_node(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_under_wrong_id(&store);
    let truth =
        vec![with_observed_at(issue(5, 10, "a"), 30), with_observed_at(issue(9, 8, "b"), 30)];
    store.ingest_page(&issues_page(truth)).unwrap();
    let own = [5, 9].map(|number| format!("https://github.com/acme/pump/issues/{number}"));
    assert_eq!(issue_urls(&store), own);
}

fn url_of_a_thread_returns_to_the_row_that_was_observed_last(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest_under_wrong_id(&store);
    let again = with_observed_at(issue(5, 10, "a"), 30);
    store.ingest_page(&issues_page(vec![again])).unwrap();
    let urls = ["5", "5~9"].map(|tail| format!("https://github.com/acme/pump/issues/{tail}"));
    assert_eq!(issue_urls(&store), urls);
}

fn sweep_is_due_when_a_thread_has_two_ids(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "a")])).unwrap();
    assert_eq!(store.lane_state(&issue_lane()).unwrap().sweep_due_ms, None);
    ingest_under_wrong_id(&store);
    assert_eq!(store.lane_state(&issue_lane()).unwrap().sweep_due_ms, Some(0));
}

/// Ingests issue 5 under the id 9 as well, which takes its URL.
fn ingest_under_wrong_id(store: &LeasedStore) {
    let mut wrong = with_observed_at(issue(5, 10, "a"), 20);
    as_thread_mut(&mut wrong).id = 9;
    store.ingest_page(&issues_page(vec![issue(5, 10, "a")])).unwrap();
    store.ingest_page(&issues_page(vec![wrong])).unwrap();
    assert!(issue_urls(store)[0].ends_with("/5~5"), "{:?}", issue_urls(store));
}

fn issue_urls(store: &StoreReader) -> Vec<String> {
    let mut rows = stored_issues(store);
    rows.sort_by_key(|row| row.thread.id);
    rows.into_iter().map(|row| row.thread.url).collect()
}

fn sweep_finds_missing_newer_and_absent_items(location: &DatabaseLocation) {
    let store = open_store(location);
    let page = vec![issue(5, 10, "a"), issue(6, 10, "b"), issue(7, 10, "c"), issue(8, 999, "d")];
    store.ingest_page(&issues_page(page)).unwrap();
    let mut page = sweep_page(LATE_SECOND, &[6, 7, 9], true);
    page.rows[1].2 = source_time(11);
    store.stage_sweep_page(&issue_lane(), &page).unwrap();
    let found = store.sweep_findings(&issue_lane()).unwrap();
    assert_eq!(found.findings, ReconcileFindings { fetch: vec![7, 9], suspects: vec![5] });
    assert_eq!(found.node_ids, [5, 7, 9].map(|id| (id, format!("I_{id}"))).into());
    assert_eq!(found.siblings, [6, 7].map(|id| (id, format!("I_{id}"))));
}

fn sweep_that_is_unfinished_finds_and_removes_nothing(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "a")])).unwrap();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &[6], false)).unwrap();
    let refused = store.sweep_findings(&issue_lane());
    assert!(matches!(refused, Err(StoreError::NoCompleteSweep { .. })), "{refused:?}");
    let refused = store.finish_sweep(&issue_lane(), &[(5, observed_at(LATE_SECOND))], true);
    assert!(matches!(refused, Err(StoreError::NoCompleteSweep { .. })), "{refused:?}");
    assert_eq!(stored_issues(&store).len(), 1);
}

fn sweep_removes_text_and_search_row_and_keeps_a_tombstone(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks"), issue(6, 10, "leaks")])).unwrap();
    assert_eq!(confirm_gone(&store, &[5, 404], LATE_SECOND), RemovalResult { removed: 1 });
    assert_eq!((search_ids(&store, "leaks"), count_search_rows(location)), (vec![6], 1));
    assert_eq!(stored_issues(&store).into_iter().map(|row| row.thread.id).collect::<Vec<_>>(), [6]);
    let counts = store.object_counts().unwrap();
    assert_eq!((counts.repositories, counts.issues, counts.tombstones), (1, 1, 2));
    let cell = store.cell(HOST, issue_key(404)).unwrap();
    assert_eq!((cell.version, cell.tombstone), (None, Some(observed_at(LATE_SECOND))));
}

fn tombstone_is_revived_only_by_a_later_observation(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    confirm_gone(&store, &[5], LATE_SECOND);
    let earlier = with_observed_at(issue(5, 11, "leaks"), LATE_SECOND - 1);
    assert_eq!(store.ingest_page(&issues_page(vec![earlier])).unwrap().unchanged, 1);
    assert_eq!((stored_issues(&store), search_ids(&store, "leaks")), (vec![], vec![]));
    let later = with_observed_at(issue(5, 11, "leaks"), LATE_SECOND + 1);
    assert_eq!(store.ingest_page(&issues_page(vec![later])).unwrap().revived, 1);
    assert_eq!((stored_issues(&store).len(), search_ids(&store, "leaks")), (1, vec![5]));
    assert_eq!(
        confirm_gone(&store, &[5], LATE_SECOND),
        RemovalResult { removed: 0 },
        "an old observation"
    );
    assert_eq!(search_ids(&store, "leaks"), [5]);
}

fn brake_stops_a_mass_removal_and_changes_nothing(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page((1..=30).map(|id| issue(id, 10, "leaks")).collect())).unwrap();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &[30], true)).unwrap();
    let gone: Vec<_> = (1..=21).map(|id| (id, observed_at(LATE_SECOND))).collect();
    let stopped = store.finish_sweep(&issue_lane(), &gone, false);
    let brake = RemovalBrake { removals: 21, stored: 30 };
    assert!(
        matches!(&stopped, Err(StoreError::Brake { brake: b, .. }) if *b == brake),
        "{stopped:?}"
    );
    assert_eq!((stored_issues(&store).len(), store.object_counts().unwrap().tombstones), (30, 0));
    assert!(store.sweep_state(&issue_lane()).unwrap().is_some(), "the sweep waits for the user");
    let done = store.finish_sweep(&issue_lane(), &gone, true).unwrap();
    assert_eq!((done, stored_issues(&store).len()), (RemovalResult { removed: 21 }, 9));
}

fn brake_stops_a_sweep_that_removes_two_repositories(location: &DatabaseLocation) {
    let store = open_store(location);
    let others = (2..=50).map(|id| repository(id, &format!("r{id}"), 0)).collect();
    store.ingest_page(&repositories_page(others)).unwrap();
    store.stage_sweep_page(&organization_lane(), &sweep_page(LATE_SECOND, &[50], true)).unwrap();
    let gone = [(2, observed_at(LATE_SECOND)), (3, observed_at(LATE_SECOND))];
    let stopped = store.finish_sweep(&organization_lane(), &gone, false);
    let brake = RemovalBrake { removals: 2, stored: 50 };
    assert!(
        matches!(&stopped, Err(StoreError::Brake { brake: b, .. }) if *b == brake),
        "{stopped:?}"
    );
    assert_eq!(store.object_counts().unwrap().repositories, 50);
    let done = store.finish_sweep(&organization_lane(), &gone, true).unwrap();
    assert_eq!((done.removed, store.object_counts().unwrap().repositories), (2, 48));
}

fn sweep_siblings_are_spread_over_the_inventory(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page((2..=8).map(|id| issue(id, 10, "x")).collect())).unwrap();
    let ids: Vec<_> = (1..=9).collect();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &ids, true)).unwrap();
    let siblings = store.sweep_findings(&issue_lane()).unwrap().siblings;
    assert_eq!(siblings, [2, 5, 8].map(|id| (id, format!("I_{id}"))));
}

fn sweep_of_many_items_is_compared_range_by_range(location: &DatabaseLocation) {
    let store = open_store(location);
    // ids with gaps: 1,200 are stored, every third of them is gone, and there are 600 unknown ones at both ends
    let stored: Vec<i64> = (0..1_200).map(|number| 10_000 + 7 * number).collect();
    let (gone, kept): (Vec<i64>, Vec<i64>) = stored.iter().partition(|id| *id % 3 == 0);
    let unknown: Vec<i64> = (1..=300).chain(90_000..90_300).collect();
    for ids in stored.chunks(100) {
        let items = ids.iter().map(|id| issue(*id, 10, "x")).collect();
        store.ingest_page(&issues_page(items)).unwrap();
    }
    let mut listed: Vec<i64> = unknown.iter().chain(&kept).copied().collect();
    listed.sort_unstable();
    for ids in listed.chunks(100) {
        let is_last = ids.last() == listed.last();
        let page = sweep_page(LATE_SECOND, ids, is_last);
        store.stage_sweep_page(&issue_lane(), &page).unwrap();
    }
    let found = store.sweep_findings(&issue_lane()).unwrap();
    assert_eq!(
        found.findings,
        ReconcileFindings { fetch: unknown.clone(), suspects: gone.clone() }
    );
    let named: Vec<i64> = found.node_ids.keys().copied().collect();
    let mut expected: Vec<i64> = unknown.into_iter().chain(gone).collect();
    expected.sort_unstable();
    assert_eq!(named, expected);
    assert_eq!(found.siblings.len(), 3);
    assert!(found.siblings.iter().all(|(id, _)| kept.contains(id)));
}

fn sweep_ignores_items_below_the_coverage(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut page = issues_page_through(vec![issue(5, 100, "x")], 100);
    page.coverage.as_mut().unwrap().from = Some(ListingFloor::At(SourceInstant(50_000)));
    store.ingest_page(&page).unwrap();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &[6], true)).unwrap();
    let findings = store.sweep_findings(&issue_lane()).unwrap().findings;
    assert_eq!(findings.fetch, Vec::<i64>::new(), "6 was updated at second 10");
}

fn sweep_that_restarts_stays_due(location: &DatabaseLocation) {
    let store = open_store(location);
    store.request_sweep(&issue_lane(), 7).unwrap();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &[5, 6], false)).unwrap();
    store.restart_sweep(&issue_lane()).unwrap();
    assert_eq!(store.sweep_state(&issue_lane()).unwrap(), None);
    let LaneState { is_sweeping, sweep_due_ms, .. } = store.lane_state(&issue_lane()).unwrap();
    assert_eq!((is_sweeping, sweep_due_ms), (false, Some(7)));
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND + 9, &[7], true)).unwrap();
    let sweep = store.sweep_state(&issue_lane()).unwrap().unwrap();
    assert_eq!((sweep.began_at, sweep.listed), (observed_at(LATE_SECOND + 9), 1));
}

fn sweep_that_is_requested_during_another_stays_due_after_it(location: &DatabaseLocation) {
    let store = open_store(location);
    store.request_sweep(&issue_lane(), 7).unwrap();
    let first = sweep_page(LATE_SECOND, &[5, 6], false);
    store.stage_sweep_page(&issue_lane(), &first).unwrap();
    assert_eq!(store.lane_state(&issue_lane()).unwrap().sweep_due_ms, Some(7), "it is under way");
    store.request_sweep(&issue_lane(), 9).unwrap();
    for (due_ms, listed) in [(Some(9), 3), (None, 1)] {
        let last = sweep_page(LATE_SECOND + 1, &[7], true);
        store.stage_sweep_page(&issue_lane(), &last).unwrap();
        assert_eq!(store.sweep_state(&issue_lane()).unwrap().unwrap().listed, listed);
        store.finish_sweep(&issue_lane(), &[], false).unwrap();
        assert_eq!(store.lane_state(&issue_lane()).unwrap().sweep_due_ms, due_ms);
    }
}

fn sweep_that_crashes_before_the_commit_removes_nothing(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    store.stage_sweep_page(&issue_lane(), &sweep_page(LATE_SECOND, &[], true)).unwrap();
    let crashing = crash_at(&store, "sweep: before commit");
    let crashed = crashing.finish_sweep(&issue_lane(), &[(5, observed_at(LATE_SECOND))], false);
    assert!(matches!(crashed, Err(StoreError::Interrupted("sweep: before commit"))), "{crashed:?}");
    assert_eq!(search_ids(&store, "leaks"), [5]);
    assert!(store.sweep_state(&issue_lane()).unwrap().is_some());
}

fn repository_is_removed_with_its_issues_and_read_again_when_it_returns(
    location: &DatabaseLocation,
) {
    let store = open_store(location);
    store.ingest_page(&issues_page_through(vec![issue(5, 10, "leaks")], 10)).unwrap();
    store.ingest_page(&repositories_page(vec![repository(2, "valve", 0)])).unwrap();
    store.stage_sweep_page(&organization_lane(), &sweep_page(LATE_SECOND, &[2], true)).unwrap();
    let gone = [(PUMP_ID, observed_at(LATE_SECOND))];
    let done = store.finish_sweep(&organization_lane(), &gone, false).unwrap();
    assert_eq!(done, RemovalResult { removed: 1 });
    assert_eq!((stored_issues(&store), search_ids(&store, "leaks")), (vec![], vec![]));
    finish_chores(&store);
    assert_eq!((stored_issues(&store), search_ids(&store, "leaks")), (vec![], vec![]));
    assert_eq!(store.repositories(HOST).unwrap().len(), 1);
    assert!(
        !store.cell(HOST, ObjectId { kind: ThreadKind::Issue.into(), id: 5 }).unwrap().is_present()
    );
    assert_eq!(store.lane_state(&issue_lane()).unwrap().coverage.through, None);
    let back =
        repositories_page(vec![with_observed_at(pump_repository("pump", 0), LATE_SECOND + 1)]);
    assert_eq!(store.ingest_page(&back).unwrap().revived, 1);
    let back = issues_page(vec![with_observed_at(issue(5, 10, "leaks"), LATE_SECOND + 2)]);
    assert_eq!(store.ingest_page(&back).unwrap().revived, 1);
    assert_eq!(search_ids(&store, "leaks"), [5]);
}

/// Sweeps the lane of issues and confirms these ids gone.
fn confirm_gone(store: &LeasedStore, ids: &[i64], second: i64) -> RemovalResult {
    store.stage_sweep_page(&issue_lane(), &sweep_page(second, &[], true)).unwrap();
    let gone: Vec<_> = ids.iter().map(|id| (*id, observed_at(second))).collect();
    store.finish_sweep(&issue_lane(), &gone, false).unwrap()
}

/// Builds a page that lists these ids, all updated at second 10.
fn sweep_page(second: i64, ids: &[i64], complete: bool) -> SweepPage {
    SweepPage {
        began_at: observed_at(second),
        rows: ids.iter().map(|id| (*id, format!("I_{id}"), source_time(10))).collect(),
        next: None,
        complete,
    }
}
