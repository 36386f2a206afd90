//! Tests of the one path of changes: everything derived from them sees each of them, whichever way it comes.

use std::sync::{Arc, Mutex};

use hw_rules::item::{CommentKind, ThreadKind};
use hw_rules::repository_key::RepositoryKey;
use hw_store::{DatabaseLocation, ItemChange, LeasedStore, RemovalResult, SweepPage};

use crate::fixture::{
    HOST, PUMP_ID, comment, finish_chores, issue, issue_lane, issues_page, lane_for_kind,
    observed_at, open_store, organization_lane, pump_repository, repositories_page, threads_page,
    with_observed_at,
};

/// Later than anything the tests observe.
const LATE_SECOND: i64 = 1_000;

both![
    changes_of_an_ingest_are_published,
    changes_of_a_removed_thread_include_its_comments,
    changes_of_a_removed_repository_include_its_texts,
    changes_of_a_restore_revive_everything_removed_with_the_item,
    changes_of_a_rename_are_published_for_each_text,
    changes_of_a_cleared_lane_are_no_removals,
    changes_of_a_forgotten_repository_are_no_removals,
];

fn changes_of_an_ingest_are_published(location: &DatabaseLocation) {
    let observed = ObservedStore::open(location);
    let store = &observed.store;
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks"), issue(6, 10, "drips")])).unwrap();
    assert_eq!(observed.take_changes(), ["issue 5 Created", "issue 6 Created"]);
    store
        .ingest_page(&issues_page(vec![issue(5, 11, "leaks more"), issue(6, 10, "drips")]))
        .unwrap();
    assert_eq!(observed.take_changes(), ["issue 5 Edited"], "6 is unchanged");
    store.ingest_page(&issues_page(vec![issue(6, 12, "drips")])).unwrap();
    assert_eq!(observed.take_changes(), ["issue 6 Bumped"]);
    observed.remove_issue(5, 20);
    observed.take_changes();
    store.ingest_page(&issues_page(vec![issue(5, 30, "leaks again")])).unwrap();
    assert_eq!(observed.take_changes(), ["issue 5 Revived"]);
}

fn changes_of_a_removed_thread_include_its_comments(location: &DatabaseLocation) {
    let observed = ObservedStore::with_a_thread(location);
    assert_eq!(observed.remove_issue(5, LATE_SECOND), RemovalResult { removed: 1 });
    assert_eq!(observed.take_changes(), ["issue 5 Removed", "issue_comment 7 Removed"]);
    observed.remove_issue(5, LATE_SECOND + 1);
    assert_eq!(observed.take_changes(), [""; 0], "it is gone already");
}

fn changes_of_a_removed_repository_include_its_texts(location: &DatabaseLocation) {
    let observed = ObservedStore::with_a_thread(location);
    let gone = [(PUMP_ID, observed_at(LATE_SECOND))];
    observed.store.remove_repositories(&organization_lane(), &gone, true).unwrap();
    assert_eq!(observed.take_changes(), ["repository 1 Removed"], "its texts are a chore");
    finish_chores(&observed.store);
    assert_eq!(observed.take_changes(), ["issue 5 Removed", "issue_comment 7 Removed"]);
}

fn changes_of_a_restore_revive_everything_removed_with_the_item(location: &DatabaseLocation) {
    let observed = ObservedStore::with_a_thread(location);
    observed.remove_issue(5, LATE_SECOND);
    observed.take_changes();
    let removed = observed.store.removed_items(10).unwrap();
    let item = removed.iter().find(|item| item.key.kind == ThreadKind::Issue.into()).unwrap();
    observed.store.restore_removed(item, &|| Ok(())).unwrap();
    assert_eq!(observed.take_changes(), ["issue 5 Revived", "issue_comment 7 Revived"]);
}

fn changes_of_a_rename_are_published_for_each_text(location: &DatabaseLocation) {
    let observed = ObservedStore::with_a_thread(location);
    let renamed = with_observed_at(pump_repository("valve", 5), 50);
    observed.store.ingest_page(&repositories_page(vec![renamed])).unwrap();
    assert_eq!(observed.take_changes(), ["repository 1 Edited"], "its texts are a chore");
    finish_chores(&observed.store);
    assert_eq!(observed.take_changes(), ["issue 5 Renamed", "issue_comment 7 Renamed"]);
}

fn changes_of_a_cleared_lane_are_no_removals(location: &DatabaseLocation) {
    let observed = ObservedStore::with_a_thread(location);
    observed.store.ingest_page(&issues_page(vec![issue(6, 10, "drips")])).unwrap();
    observed.remove_issue(6, LATE_SECOND);
    observed.take_changes();
    observed.store.clear_lane(&issue_lane()).unwrap();
    finish_chores(&observed.store);
    assert_eq!(observed.take_changes(), ["issue 5 Cleared"], "6 was gone already");
}

fn changes_of_a_forgotten_repository_are_no_removals(location: &DatabaseLocation) {
    let observed = ObservedStore::open(location);
    observed.store.forget_repository(&RepositoryKey::new(HOST, PUMP_ID)).unwrap();
    assert_eq!(observed.take_changes(), ["repository 1 Cleared"]);
}

/// A store whose changes are recorded.
struct ObservedStore {
    store: LeasedStore,
    seen: Arc<Mutex<Vec<ItemChange>>>,
}

impl ObservedStore {
    /// Opens a store that contains `acme/pump`, before anything else changes.
    fn open(location: &DatabaseLocation) -> Self {
        let (store, seen) = (open_store(location), Arc::<Mutex<Vec<ItemChange>>>::default());
        let recorder = Arc::clone(&seen);
        let writer = store.writer().with_change_observer(Arc::new(move |changes| {
            assert!(changes.iter().all(|change| *HOST == *change.key.host));
            recorder.lock().unwrap().extend_from_slice(changes);
        }));
        Self { store: writer.with_lease(store.lease().clone()), seen }
    }

    /// Opens a store that contains the issue 5 and its comment 7.
    fn with_a_thread(location: &DatabaseLocation) -> Self {
        let observed = Self::open(location);
        observed.store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
        let kind = CommentKind::Conversation;
        let page = threads_page(kind, vec![comment(kind, 7, 5, 10, "leaks")]);
        observed.store.ingest_page(&page).unwrap();
        assert_eq!(observed.take_changes(), ["issue 5 Created", "issue_comment 7 Created"]);
        observed
    }

    /// Removes an issue as a sweep does.
    fn remove_issue(&self, id: i64, second: i64) -> RemovalResult {
        let lane = lane_for_kind(ThreadKind::Issue);
        let began_at = observed_at(second);
        let page = SweepPage { began_at, rows: vec![], next: None, complete: true };
        self.store.stage_sweep_page(&lane, &page).unwrap();
        self.store.finish_sweep(&lane, &[(id, observed_at(second))], true).unwrap()
    }

    /// Returns the changes since the last call, ordered by item.
    fn take_changes(&self) -> Vec<String> {
        let mut changes = std::mem::take(&mut *self.seen.lock().unwrap());
        changes.sort_unstable_by(|a, b| (&a.key, a.kind).cmp(&(&b.key, b.kind)));
        changes
            .iter()
            .map(|change| format!("{} {:?}", change.key.object_id(), change.kind))
            .collect()
    }
}
