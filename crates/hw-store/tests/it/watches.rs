//! Tests of watches: adding, resolving, pausing and removing them.

use hw_rules::follow_reason::{FollowReason, LaneUse};
use hw_rules::followed_source::RepositoryName;
use hw_rules::item::ThreadKind;
use hw_rules::moved_thread::MovedThread;
use hw_rules::repository_key::{Host, RepositoryId, RepositoryKey};
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::{WatchId, WatchMode, WatchStart, WatchState, WatchSubject};
use hw_store::{
    DatabaseLocation, IngestPage, LeasedStore, MovedThreadStep, NewWatch, ResolvedThread,
    ThreadScanStep, WatchResolution, WatchedThread,
};

use crate::fixture::{
    HOST, PUMP_ID, issue, issue_lane, open_store, query_raw, source_time, threads_page,
};

both![
    watch_is_added_once_per_subject_in_any_case,
    watch_that_is_resolved_follows_its_repository_until_it_is_removed,
    watch_that_is_resolved_again_is_only_renamed,
    watch_is_paused_and_resumed_only_where_its_state_allows_it,
    watch_ids_are_never_used_again,
    watched_thread_is_bootstrapped_before_its_watch_is_active,
    moved_threads_commit_with_their_page_and_stay_if_they_move_on,
    watch_that_is_removed_leaves_no_rows_behind,
];

fn watch_is_added_once_per_subject_in_any_case(location: &DatabaseLocation) {
    let store = open_store(location);
    let first = store.add_watch(&new_watch("acme/pump#5"), 7).unwrap();
    assert!(first.is_new);
    assert_eq!((first.watch.state, first.watch.created_ms), (WatchState::Unresolved, 7));
    let again = store.add_watch(&new_watch("ACME/Pump#5"), 9).unwrap();
    assert_eq!((again.is_new, &again.watch), (false, &first.watch));
    let labeled = |label: &str| {
        let subject = WatchSubject { label: Some(label.to_owned()), ..subject("acme/pump") };
        store.add_watch(&NewWatch { subject, ..new_watch("acme/pump") }, 9).unwrap().is_new
    };
    assert_eq!([labeled("bug"), labeled("Bug"), labeled("docs")], [true, false, true]);
    let source = |number: i64| {
        let new = NewWatch { source_issue: Some(number), ..new_watch("acme/pump") };
        store.add_watch(&new, 9).unwrap().is_new
    };
    assert_eq!([source(3), source(3), source(4)], [true, false, true]);
    assert!(store.add_watch(&new_watch("acme/pump"), 9).unwrap().is_new, "the whole repository");
    let start = Some(WatchStart::At(SourceInstant(5_000)));
    let mode = WatchMode::CommandsOnly;
    let commands = NewWatch { start, mode, ..new_watch("acme/pump#6") };
    let added = store.add_watch(&commands, 9).unwrap().watch;
    assert_eq!((added.start, added.mode), (start, mode));
    assert_eq!(store.watches().unwrap().len(), 7);
    assert_eq!(store.watch(added.id).unwrap(), Some(added));
}

fn watch_that_is_resolved_follows_its_repository_until_it_is_removed(location: &DatabaseLocation) {
    let store = open_store(location);
    let first = add_watch(&store, &thread_watch(5, ThreadKind::Issue));
    let second = add_watch(&store, &thread_watch(6, ThreadKind::Issue));
    assert_eq!(reasons(&store), ["mirror", "watch"]);
    assert_eq!(numbers(&store, first), [5]);
    assert!(store.remove_watch(first).unwrap() && !store.remove_watch(first).unwrap());
    assert_eq!(reasons(&store), ["mirror", "watch"], "the other one is left");
    assert_eq!(numbers(&store, first), [0; 0]);
    store.remove_watch(second).unwrap();
    assert_eq!(reasons(&store), ["mirror"]);
}

fn watch_that_is_resolved_again_is_only_renamed(location: &DatabaseLocation) {
    let store = open_store(location);
    let id = add_watch(&store, &thread_watch(5, ThreadKind::PullRequest));
    finish_scan(&store, 5);
    while !store.derive_stored_events(id, 10).unwrap() {}
    let spec = thread_watch(5, ThreadKind::PullRequest);
    let name = RepositoryName::from_known("acme", "valve");
    store.resolve_watch(id, &WatchResolution { repository: name, ..spec.resolution() }).unwrap();
    let watch = store.watch(id).unwrap().unwrap();
    assert_eq!(
        (watch.subject.to_string().as_str(), watch.state),
        ("acme/valve#5", WatchState::Active)
    );
    assert!(store.watched_threads(id).unwrap()[0].is_bootstrapped, "nothing is read again");
}

fn watch_is_paused_and_resumed_only_where_its_state_allows_it(location: &DatabaseLocation) {
    let store = open_store(location);
    let unresolved = store.add_watch(&new_watch("acme/pump#9"), 0).unwrap().watch.id;
    assert!(!store.set_watch_paused(unresolved, true).unwrap());
    assert!(!store.set_watch_paused(WatchId(999), true).unwrap());
    let id = add_watch(&store, &thread_watch(5, ThreadKind::Issue));
    assert!(
        store.set_watch_paused(id, true).unwrap() && !store.set_watch_paused(id, true).unwrap()
    );
    store.set_watch_state(id, WatchState::Active, None).unwrap();
    assert_eq!(state(&store, id), WatchState::Paused, "a person decided so");
    assert!(store.set_watch_paused(id, false).unwrap());
    assert_eq!(store.watches_to_derive().unwrap(), [id], "what was said meanwhile");
    store.set_watch_state(id, WatchState::Gone, Some("404")).unwrap();
    let watch = store.watch(id).unwrap().unwrap();
    assert_eq!((watch.state, watch.problem.as_deref()), (WatchState::Gone, Some("404")));
    store.set_watch_problem(id, None).unwrap();
    assert_eq!(store.watch(id).unwrap().unwrap().problem, None);
}

fn watch_ids_are_never_used_again(location: &DatabaseLocation) {
    let store = open_store(location);
    let first = store.add_watch(&new_watch("acme/pump#9"), 0).unwrap().watch.id;
    store.remove_watch(first).unwrap();
    let second = store.add_watch(&new_watch("acme/pump#9"), 0).unwrap().watch.id;
    assert!(first < second);
}

fn watched_thread_is_bootstrapped_before_its_watch_is_active(location: &DatabaseLocation) {
    let store = open_store(location);
    let pull = add_watch(&store, &thread_watch(5, ThreadKind::PullRequest));
    let from_now = WatchSpec { floor: SourceInstant(9_000), ..thread_watch(6, ThreadKind::Issue) };
    let issue = add_watch(&store, &from_now);
    assert_eq!(to_bootstrap(&store), [5], "the other one has no past");
    for id in [pull, issue] {
        while !store.derive_stored_events(id, 10).unwrap() {}
    }
    assert_eq!(state(&store, issue), WatchState::Active);
    assert_eq!(state(&store, pull), WatchState::Bootstrapping);
    scan(&store, ThreadScanStep { number: 5, cursor: Some("Y3Vy".to_owned()), finished_at: None });
    let thread = &store.threads_to_bootstrap(5).unwrap()[0];
    assert_eq!(thread.bootstrap_cursor.as_deref(), Some("Y3Vy"));
    finish_scan(&store, 5);
    assert_eq!((state(&store, pull), to_bootstrap(&store)), (WatchState::Active, vec![]));
    assert_eq!(store.watched_threads(pull).unwrap()[0].swept_ms, Some(77_000));
}

fn finish_scan(store: &LeasedStore, number: i64) {
    let finished_at = Some(SourceInstant(77_000));
    scan(store, ThreadScanStep { number, cursor: None, finished_at });
}

fn scan(store: &LeasedStore, step: ThreadScanStep) {
    let page = IngestPage {
        lane_use: LaneUse::Watch,
        thread_scans: vec![step],
        ..IngestPage::new(issue_lane(), 100)
    };
    store.ingest_page(&page).unwrap();
}

fn watch_that_is_removed_leaves_no_rows_behind(location: &DatabaseLocation) {
    let store = open_store(location);
    let kind = ThreadKind::Issue;
    let issues = (1..=3).map(|id| issue(id, 10, "x")).collect();
    store.ingest_page(&threads_page(kind, issues)).unwrap();
    let id = add_watch(&store, &repository_watch());
    while !store.derive_stored_events(id, 2).unwrap() {}
    assert_eq!(numbers(&store, id), [1, 2, 3]);
    store.remove_watch(id).unwrap();
    while store.purge_events(0, 100).unwrap() > 0 {}
    for table in ["watches", "watched_threads", "moved_threads"] {
        let rows = query_raw(location, &format!("select cast(count(*) as text) from {table}"));
        assert_eq!(rows, [["0"]], "{table}");
    }
}

fn moved_threads_commit_with_their_page_and_stay_if_they_move_on(location: &DatabaseLocation) {
    let store = open_store(location);
    add_watch(&store, &thread_watch(5, ThreadKind::Issue));
    let repository = RepositoryKey::new(HOST, PUMP_ID);
    let ingest = |threads: &[(i64, i64)]| {
        let moved = threads.iter().map(|(number, second)| moved(*number, *second));
        let page =
            IngestPage { moved_threads: moved.collect(), ..IngestPage::new(issue_lane(), 100) };
        store.ingest_page(&page).unwrap();
    };
    let rows = || {
        let rows = store.moved_threads(&repository).unwrap();
        rows.iter().map(|row| (row.number, row.moved_at.0 / 1_000)).collect::<Vec<_>>()
    };
    ingest(&[(5, 20), (6, 10), (5, 19)]);
    assert_eq!(rows(), [(6, 10), (5, 20)]);
    let done: Vec<_> = store
        .moved_threads(&repository)
        .unwrap()
        .iter()
        .map(|row| MovedThreadStep {
            number: row.number,
            moved_at: row.moved_at,
            before: row.reads,
            reads: None,
        })
        .collect();
    ingest(&[(5, 30), (6, 9)]);
    store.record_moved_threads(&repository, &done).unwrap();
    assert_eq!(rows(), [(5, 30)]);
}

fn moved(number: i64, second: i64) -> MovedThread {
    MovedThread {
        number,
        kind: ThreadKind::Issue,
        node_id: format!("I_{number}"),
        updated_at: source_time(second),
    }
}

/// A watch to add and to resolve.
#[derive(Clone)]
pub(crate) struct WatchSpec {
    pub(crate) subject: WatchSubject,
    pub(crate) mode: WatchMode,
    pub(crate) thread: Option<ResolvedThread>,
    pub(crate) source_issue: Option<i64>,
    pub(crate) floor: SourceInstant,
}

impl WatchSpec {
    pub(crate) fn resolution(&self) -> WatchResolution {
        WatchResolution {
            repository_id: RepositoryId(PUMP_ID),
            repository: RepositoryName::from_known("acme", "pump"),
            thread: self.thread.clone(),
            source_issue: self.source_issue.map(|number| resolved(number, ThreadKind::Issue)),
            floor: self.floor,
        }
    }
}

/// Returns a watch on all threads of `acme/pump`, from the beginning.
pub(crate) fn repository_watch() -> WatchSpec {
    WatchSpec {
        subject: subject("acme/pump"),
        mode: WatchMode::Feedback,
        thread: None,
        source_issue: None,
        floor: SourceInstant::BEGINNING,
    }
}

/// Returns a watch on a thread of `acme/pump`, from its beginning.
pub(crate) fn thread_watch(number: i64, kind: ThreadKind) -> WatchSpec {
    WatchSpec {
        subject: subject(&format!("acme/pump#{number}")),
        thread: Some(resolved(number, kind)),
        ..repository_watch()
    }
}

/// Adds and resolves a watch.
pub(crate) fn add_watch(store: &LeasedStore, spec: &WatchSpec) -> WatchId {
    let WatchSpec { subject, mode, source_issue, floor, .. } = spec.clone();
    let is_whole = floor == SourceInstant::BEGINNING;
    let start = Some(if is_whole { WatchStart::Beginning } else { WatchStart::Now });
    let new = NewWatch { subject, mode, source_issue, start, ..new_watch("acme/pump") };
    let id = store.add_watch(&new, 0).unwrap().watch.id;
    store.resolve_watch(id, &spec.resolution()).unwrap();
    id
}

fn resolved(number: i64, kind: ThreadKind) -> ResolvedThread {
    let (node_id, title) = (format!("N_{number}"), format!("thread {number}"));
    ResolvedThread { number, kind, node_id, title }
}

fn new_watch(text: &str) -> NewWatch {
    NewWatch {
        host: Host::from(HOST),
        subject: subject(text),
        mode: WatchMode::Feedback,
        start: None,
        source_issue: None,
    }
}

fn subject(text: &str) -> WatchSubject {
    text.parse().unwrap()
}

fn reasons(store: &LeasedStore) -> Vec<&'static str> {
    let reasons = store.follow_reasons(&RepositoryKey::new(HOST, PUMP_ID)).unwrap();
    reasons.into_iter().map(FollowReason::name).collect()
}

fn numbers(store: &LeasedStore, id: WatchId) -> Vec<i64> {
    to_numbers(&store.watched_threads(id).unwrap())
}

fn to_bootstrap(store: &LeasedStore) -> Vec<i64> {
    to_numbers(&store.threads_to_bootstrap(5).unwrap())
}

fn to_numbers(threads: &[WatchedThread]) -> Vec<i64> {
    threads.iter().map(|thread| thread.number).collect()
}

fn state(store: &LeasedStore, id: WatchId) -> WatchState {
    store.watch(id).unwrap().unwrap().state
}
