use hw_rules::item::{CommentKind, ObjectKind, ThreadKind};
use hw_rules::source_time::SourceInstant;
use hw_store::{
    DatabaseLocation, ItemTally, LeasedStore, ObjectCounts, RemovalReason, RemovedItem,
    RemovedQuery, StoreError, StoreReader, StoreWriter,
};

use crate::fixture::{
    HOST, PUMP_ID, as_thread_mut, comment, count_search_rows, crash_at, execute_raw, finish_chores,
    issue, issue_bodies, issue_key, issue_lane, issues_page, lane_for_kind, observed_at,
    open_store, organization_lane, pull_duty, query_raw, repositories_page, repository, search_ids,
    threads_page, with_observed_at, with_older_lease,
};
use crate::removals::{LATE_SECOND, fill_lanes, inventory_page};

both![
    removed_thread_is_restored_with_its_comments,
    removed_repository_is_restored_with_all_its_content,
    removed_comment_is_restored_with_its_removed_thread,
    restore_that_was_interrupted_is_completed_by_the_next,
    restore_does_not_touch_an_item_that_returned,
    restore_works_after_clearing_a_lane_and_changing_the_guid,
    removed_items_are_purged_when_old,
    removal_tally_counts_threads_and_comments_until_the_run_ends,
    brake_message_names_the_items,
];

fn removed_thread_is_restored_with_its_comments(location: &DatabaseLocation) {
    let store = open_store(location);
    let mut hostile = issue(5, 10, "leaks");
    as_thread_mut(&mut hostile).body = "leaks \u{0} \u{202e} 'quoted'".to_owned();
    store.ingest_page(&issues_page(vec![hostile.clone(), issue(6, 10, "holds")])).unwrap();
    let comments = [9, 10].map(|id| comment(CommentKind::Conversation, id, 5, 10, "leaks"));
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.to_vec())).unwrap();
    let (before, texts, rows) =
        (store.object_counts().unwrap(), issue_bodies(&store), count_search_rows(location));
    confirm_gone(&store, &[5]);
    assert_eq!((search_ids(&store, "leaks"), issue_bodies(&store).len()), (vec![], 1));
    assert_eq!(store.count_removed_items().unwrap(), 3);
    let removed = only_removed(&store);
    assert_eq!((removed.key, removed.dependents), (issue_key(5), 2));
    assert_eq!((removed.repository.as_str(), removed.number), ("acme/pump", Some(5)));
    assert_eq!(removed.reason, RemovalReason::NotListed);
    assert_eq!(removed.removed_at, SourceInstant(LATE_SECOND * 1_000));
    assert_eq!(removed.restorable_until(), SourceInstant(LATE_SECOND * 1_000 + 30 * 86_400_000));

    assert_eq!(restore_item(&store, &removed), 3);
    assert_eq!((store.object_counts().unwrap(), issue_bodies(&store)), (before, texts));
    assert_eq!((search_ids(&store, "leaks"), count_search_rows(location)), (vec![5], rows));
    assert_eq!(store.count_removed_items().unwrap(), 0);
    let cell = store.cell(HOST, issue_key(5)).unwrap();
    assert_eq!((cell.is_present(), cell.tombstone), (true, None));
    for lane in [issue_lane(), lane_for_kind(CommentKind::Conversation)] {
        assert_eq!(store.lane_state(&lane).unwrap().sweep_due_ms, Some(0), "{lane}");
    }
    let same = with_observed_at(hostile, LATE_SECOND + 1);
    assert_eq!(store.ingest_page(&issues_page(vec![same])).unwrap().unchanged, 1);
    store.stage_sweep_page(&issue_lane(), &inventory_page(&[])).unwrap();
    store.finish_sweep(&issue_lane(), &[(5, observed_at(LATE_SECOND + 2))], false).unwrap();
    assert_eq!(only_removed(&store).dependents, 2, "another confirmed absence");
}

fn removed_repository_is_restored_with_all_its_content(location: &DatabaseLocation) {
    let store = open_store(location);
    fill_lanes(&store);
    let many =
        (0..1_100).map(|id| comment(CommentKind::Conversation, id, 5, 10, "leaks")).collect();
    store.ingest_page(&threads_page(CommentKind::Conversation, many)).unwrap();
    let before = store.object_counts().unwrap();
    let gone = [(PUMP_ID, observed_at(LATE_SECOND))];
    store.remove_repositories(&organization_lane(), &gone, false).unwrap();
    finish_chores(&store);
    let removed = only_removed(&store);
    assert_eq!((removed.key.kind, removed.dependents), (ObjectKind::Repository, 1_106));
    assert_eq!(removed.reason, RemovalReason::RepositoryGone);
    // another repository takes its name
    store.ingest_page(&repositories_page(vec![repository(2, "pump", LATE_SECOND)])).unwrap();
    assert_eq!(restore_item(&store, &removed), 1_107);
    let after = store.object_counts().unwrap();
    assert_eq!((after.repositories, after.issues), (2, before.issues));
    assert_eq!((after.comments, after.tombstones), (before.comments, 0));
    let names: Vec<_> = store.repositories(HOST).unwrap().into_iter().map(|row| row.name).collect();
    assert_eq!(names, ["pump", "pump~1"], "the repository that was observed last keeps the name");
}

fn removed_comment_is_restored_with_its_removed_thread(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let comments = [9, 10].map(|id| comment(CommentKind::Conversation, id, 5, 10, "leaks"));
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.to_vec())).unwrap();
    let lane_of_comments = lane_for_kind(CommentKind::Conversation);
    store.stage_sweep_page(&lane_of_comments, &inventory_page(&[10])).unwrap();
    store.finish_sweep(&lane_of_comments, &[(9, observed_at(LATE_SECOND))], false).unwrap();
    confirm_gone(&store, &[5]);
    assert_eq!(store.removed_items(9).unwrap().len(), 2);
    let url = "https://github.com/acme/pump/issues/5#issuecomment-9".to_owned();
    let found = store.find_removed_items(&RemovedQuery::Url(url)).unwrap();
    assert_eq!(
        restore_item(&store, &found[0]),
        3,
        "the comment, its thread and the thread's other comment"
    );
    assert_eq!(
        (store.object_counts().unwrap().issues, store.object_counts().unwrap().comments),
        (1, 2)
    );
}

fn restore_that_was_interrupted_is_completed_by_the_next(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let many = (0..600).map(|id| comment(CommentKind::Conversation, id, 5, 10, "leaks")).collect();
    store.ingest_page(&threads_page(CommentKind::Conversation, many)).unwrap();
    confirm_gone(&store, &[5]);
    let removed = only_removed(&store);
    let crashing = crash_at(&store, "restore: after commit");
    for _ in 0..3 {
        crashing.restore_removed(&removed, &|| Ok(())).unwrap_err();
    }
    let never = crash_at(&store, "restore: before commit");
    never.restore_removed(&removed, &|| Ok(())).unwrap_err();
    restore_item(&store, &removed);
    assert_eq!(
        (store.object_counts().unwrap().issues, store.object_counts().unwrap().comments),
        (1, 600)
    );
    assert_eq!(store.count_removed_items().unwrap(), 0);
    assert_eq!(query_raw(location, "select url from removed_items"), Vec::<Vec<String>>::new());
    let refused = with_older_lease(&store).restore_removed(&removed, &|| Ok(()));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
}

fn restore_does_not_touch_an_item_that_returned(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "old")])).unwrap();
    confirm_gone(&store, &[5]);
    let removed = only_removed(&store);
    store
        .ingest_page(&issues_page(vec![with_observed_at(issue(5, 20, "new"), LATE_SECOND + 1)]))
        .unwrap();
    assert_eq!(store.removed_items(9).unwrap(), [], "it has returned");
    assert_eq!(restore_item(&store, &removed), 0);
    assert_eq!(issue_bodies(&store), ["body new"]);
}

fn restore_works_after_clearing_a_lane_and_changing_the_guid(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    confirm_gone(&store, &[5]);
    store.clear_lane(&issue_lane()).unwrap();
    finish_chores(&store);
    assert_eq!(restore_item(&store, &only_removed(&store)), 1);
    assert_eq!((issue_bodies(&store).len(), search_ids(&store, "leaks")), (1, vec![5]));
    confirm_gone(&store, &[5]);
    drop(store);
    execute_raw(location, "update schema_version set guid = 'another'");
    let store = StoreWriter::open(location).unwrap();
    let store = store.claim_duty(&pull_duty(), "me", 9_000_000).unwrap().unwrap();
    finish_chores(&store);
    assert_eq!(store.object_counts().unwrap(), ObjectCounts::default());
    assert_eq!(restore_item(&store, &only_removed(&store)), 1);
    assert_eq!((issue_bodies(&store).len(), search_ids(&store, "leaks")), (1, vec![5]));
}

fn removed_items_are_purged_when_old(location: &DatabaseLocation) {
    let store = open_store(location);
    let all: Vec<i64> = (1..=1_201).collect();
    store.ingest_page(&issues_page(all.iter().map(|id| issue(*id, 10, "x")).collect())).unwrap();
    store.stage_sweep_page(&issue_lane(), &inventory_page(&[1])).unwrap();
    let gone: Vec<_> = all[1..].iter().map(|id| (*id, observed_at(LATE_SECOND))).collect();
    store.finish_sweep(&issue_lane(), &gone, true).unwrap();
    assert_eq!(store.removed_items(7).unwrap().len(), 7);
    assert_eq!(store.purge_removed(SourceInstant(LATE_SECOND * 1_000)).unwrap(), 0);
    assert_eq!(store.purge_removed(SourceInstant(LATE_SECOND * 1_000 + 1)).unwrap(), 1_200);
    assert_eq!(
        (store.count_removed_items().unwrap(), store.object_counts().unwrap().tombstones),
        (0, 1_200)
    );
}

fn removal_tally_counts_threads_and_comments_until_the_run_ends(location: &DatabaseLocation) {
    let store = open_store(location);
    fill_lanes(&store);
    let comments = [9, 10].map(|id| comment(CommentKind::Conversation, id, 5, 10, "leaks"));
    store.ingest_page(&threads_page(CommentKind::Conversation, comments.to_vec())).unwrap();
    let kinds: [ObjectKind; 3] = [
        ThreadKind::Issue.into(),
        ThreadKind::PullRequest.into(),
        CommentKind::Conversation.into(),
    ];
    let stored = store.count_items(HOST, &[PUMP_ID, 404], &kinds).unwrap();
    assert_eq!(stored, ItemTally { threads: 4, comments: 2 });
    assert_eq!(
        store
            .check_removal(
                &issue_lane(),
                &[(5, observed_at(LATE_SECOND)), (404, observed_at(LATE_SECOND))],
                false
            )
            .unwrap(),
        [5]
    );
    confirm_gone(&store, &[5]);
    let tally = store.removal_tally(HOST).unwrap();
    assert_eq!(tally, ItemTally { threads: 1, comments: 0 }, "its two comments do not count");
    let crashing = crash_at(&store, "sweep: before commit");
    store.stage_sweep_page(&issue_lane(), &inventory_page(&[])).unwrap();
    crashing.finish_sweep(&issue_lane(), &[(6, observed_at(LATE_SECOND))], false).unwrap_err();
    assert_eq!(store.removal_tally(HOST).unwrap(), tally);
    store.reset_removal_tally(HOST).unwrap();
    assert_eq!(store.removal_tally(HOST).unwrap(), ItemTally::default());
}

fn brake_message_names_the_items(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page((1..=30).map(|id| issue(id, 10, "x")).collect())).unwrap();
    let gone: Vec<_> = (1..=21).map(|id| (id, observed_at(LATE_SECOND))).collect();
    let stopped = store.check_removal(&issue_lane(), &gone, false).unwrap_err().to_string();
    let expected = "21 of 30 issues would be removed at once: acme/pump#1 (title x), acme/pump#2";
    assert!(stopped.starts_with(expected), "{stopped}");
    assert!(stopped.ends_with("acme/pump#10 (title x) and 11 more"), "{stopped}");
    let comments =
        (1..=30).map(|id| comment(CommentKind::Conversation, id, 5, 10, "leaks")).collect();
    store.ingest_page(&threads_page(CommentKind::Conversation, comments)).unwrap();
    let lane = lane_for_kind(CommentKind::Conversation);
    let stopped = store.check_removal(&lane, &gone, false).unwrap_err().to_string();
    let expected =
        "21 of 30 comments would be removed at once: https://github.com/acme/pump/issues/5#";
    assert!(stopped.starts_with(expected), "{stopped}");
}

/// Sweeps the lane of issues and confirms these ids gone.
fn confirm_gone(store: &LeasedStore, ids: &[i64]) {
    store.stage_sweep_page(&issue_lane(), &inventory_page(&[])).unwrap();
    let gone: Vec<_> = ids.iter().map(|id| (*id, observed_at(LATE_SECOND))).collect();
    store.finish_sweep(&issue_lane(), &gone, false).unwrap();
}

fn only_removed(store: &StoreReader) -> RemovedItem {
    let mut removed = store.removed_items(9).unwrap();
    assert_eq!(removed.len(), 1, "{removed:?}");
    removed.remove(0)
}

fn restore_item(store: &LeasedStore, item: &RemovedItem) -> u64 {
    store.restore_removed(item, &|| Ok(())).unwrap().items
}
