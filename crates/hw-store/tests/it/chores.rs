//! Work on many rows: short transactions, any of which may be the last one of its process.

use hw_rules::chunk_size::MAX_CHUNK_ROWS;
use hw_rules::item::{CommentKind, ThreadKind};
use hw_store::{
    ChoreChunk, DatabaseLocation, LeasedStore, ObjectCounts, StoreError, StoreReader, StoreWriter,
    ThreadFilter,
};

use crate::fixture::{
    PUMP_ID, comment, count_search_rows, crash_at, execute_raw, finish_chores, issue, issue_bodies,
    issue_lane, issues_page, lane_for_kind, observed_at, open_store, organization_lane, pull_duty,
    pump_repository, query_raw, refusals_to_open, repositories_page, search_hits, search_ids,
    stored_issues, threads_page,
};

both![
    rename_of_many_texts_takes_small_transactions_and_shows_at_once,
    rename_that_follows_another_starts_over,
    removal_of_many_texts_takes_small_transactions_and_shows_at_once,
    clearing_of_many_texts_takes_small_transactions,
    search_index_of_an_older_version_is_rebuilt_from_the_stored_texts,
    search_index_of_a_newer_version_is_rejected,
    mirror_in_another_format_is_emptied_in_small_transactions,
    mirror_in_another_format_stays_with_writers_that_do_not_fetch,
];

const ISSUES: i64 = 2_000;
const COMMENTS: i64 = 400;
/// Each text is at most five rows.
const MAX_TEXTS: i64 = 200;

fn rename_of_many_texts_takes_small_transactions_and_shows_at_once(location: &DatabaseLocation) {
    const RENAMED: &str = "select cast(count(*) as text) from
        (select repository from issues union all select repository from comments) as texts
        where repository = 'valve'";
    let store = fill_repository(location);
    store.ingest_page(&repositories_page(vec![pump_repository("valve", 20)])).unwrap();
    let transactions = run_with_crashes(&store, location, RENAMED, || {
        let issues = stored_issues(&store);
        assert_eq!(issues.len() as i64, ISSUES);
        assert!(issues.iter().all(|row| row.repository == "valve"));
        assert!(issues.iter().all(|row| row.thread.url.contains("/acme/valve/issues/")));
        let hits = search_hits(&store, "leaks", 20);
        assert!(hits.iter().all(|hit| hit.repository == "valve"), "{:?}", hits.first());
        for (name, count) in [("valve", ISSUES as u64), ("pump", 0)] {
            let filter = ThreadFilter {
                repository: Some(name.to_owned()),
                limit: Some(1),
                ..ThreadFilter::default()
            };
            let totals = store.each_thread_with_total(ThreadKind::Issue, &filter, &mut |_| {
                std::ops::ControlFlow::Continue(())
            });
            assert_eq!(totals.unwrap().total, count, "{name}");
        }
        assert_eq!(store.verify_page(None).unwrap().damaged, []);
    });
    assert_eq!(transactions, 13);
    assert_eq!(count(location, RENAMED), ISSUES + COMMENTS);
    assert_eq!(search_ids(&store, "pump"), Vec::<i64>::new());
    assert_eq!(search_hits(&store, "valve title", 5_000).len() as i64, ISSUES);
    assert_eq!(count_search_rows(location), ISSUES + COMMENTS);
}

fn rename_that_follows_another_starts_over(location: &DatabaseLocation) {
    let store = open_store(location);
    let issues = (1..=30).map(|id| issue(id, 10, "leaks")).collect();
    store.ingest_page(&issues_page(issues)).unwrap();
    for (name, second) in [("valve", 20), ("nozzle", 21)] {
        let page = repositories_page(vec![pump_repository(name, second)]);
        store.ingest_page(&page).unwrap();
        assert_eq!(store.run_chore(50).unwrap(), ChoreChunk::Done);
    }
    finish_chores(&store);
    let names = query_raw(location, "select distinct repository from issues");
    assert_eq!(names, [["nozzle"]]);
    assert_eq!(search_hits(&store, "nozzle", 50).len(), 30);
}

fn removal_of_many_texts_takes_small_transactions_and_shows_at_once(location: &DatabaseLocation) {
    const REMOVED: &str =
        "select cast(count(*) as text) from removed_items where kind <> 'repository'";
    let store = fill_repository(location);
    let gone = [(PUMP_ID, observed_at(900))];
    store.remove_repositories(&organization_lane(), &gone, false).unwrap();
    let transactions = run_with_crashes(&store, location, REMOVED, || {
        let counts = store.object_counts().unwrap();
        assert_eq!((counts.repositories, counts.issues, counts.comments), (0, 0, 0));
        assert_eq!((issue_bodies(&store), search_ids(&store, "leaks")), (vec![], vec![]));
    });
    assert_eq!(transactions, 13);
    assert_eq!(count(location, REMOVED), ISSUES + COMMENTS);
    let left =
        "select cast((select count(*) from issues) + (select count(*) from comments) as text)";
    assert_eq!((count(location, left), count_search_rows(location)), (0, 0));
    let tombstones = store.object_counts().unwrap().tombstones;
    assert_eq!(tombstones as i64, ISSUES + COMMENTS + 1);
    let names = query_raw(location, "select distinct repository from removed_items");
    assert_eq!(names, [["acme/pump"]], "each still names its repository");
    let counts = query_raw(
        location,
        "select distinct cast(object_count as text) from lanes where repository_id is not null",
    );
    assert_eq!(counts, [["0"]], "a repository that returns is counted from zero");
}

fn clearing_of_many_texts_takes_small_transactions(location: &DatabaseLocation) {
    const CLEARED: &str = "select cast(2000 - count(*) as text) from issues";
    let store = fill_repository(location);
    store.clear_lane(&issue_lane()).unwrap();
    assert_eq!(store.lane_state(&issue_lane()).unwrap().coverage.through, None);
    let transactions = run_with_crashes(&store, location, CLEARED, || {});
    assert_eq!(transactions, 11);
    let left =
        ObjectCounts { repositories: 1, comments: COMMENTS as u64, ..ObjectCounts::default() };
    assert_eq!(store.object_counts().unwrap(), left);
    assert_eq!(count_search_rows(location), COMMENTS);
}

fn search_index_of_an_older_version_is_rebuilt_from_the_stored_texts(location: &DatabaseLocation) {
    let store = open_store(location);
    let issues = (1..=450).map(|id| issue(id, 10, "leaks")).collect();
    store.ingest_page(&issues_page(issues)).unwrap();
    execute_raw(
        location,
        "update schema_version set search_index = 0; delete from search;
         delete from search_documents",
    );
    assert!(StoreReader::open(location).is_ok(), "search goes on");
    let newer = StoreWriter::open(location).unwrap();
    let refused = store.ingest_page(&issues_page(vec![]));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    store.release_duty().unwrap();
    let newer = newer.claim_duty(&pull_duty(), "me", 9_000_000).unwrap().unwrap();
    let rows = "select cast(count(*) as text) from search_documents";
    let transactions = run_with_crashes(&newer, location, rows, || {
        assert_eq!(newer.object_counts().unwrap().issues, 450, "nothing is fetched again");
    });
    assert_eq!((transactions, count_search_rows(location)), (3, 450));
    drop(StoreWriter::open(location).unwrap());
    assert_eq!(newer.count_chores().unwrap(), 0, "once is enough");
}

fn search_index_of_a_newer_version_is_rejected(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    drop(store);
    execute_raw(location, "update schema_version set search_index = 99");
    for refused in refusals_to_open(location) {
        assert!(matches!(refused, StoreError::NewerIndex { found: 99, .. }), "{refused:?}");
    }
    assert_eq!(count_search_rows(location), 1);
    assert_eq!(
        query_raw(location, "select cast(search_index as text) from schema_version"),
        [["99"]]
    );
}

fn mirror_in_another_format_is_emptied_in_small_transactions(location: &DatabaseLocation) {
    let store = fill_repository(location);
    drop(store);
    execute_raw(location, "update schema_version set guid = 'another'");
    let store = StoreWriter::open(location).unwrap();
    let store = store.claim_duty(&pull_duty(), "me", 9_000_000).unwrap().unwrap();
    let mut transactions = 0;
    while store.run_chore(MAX_CHUNK_ROWS).unwrap() == ChoreChunk::Done {
        transactions += 1;
        assert_eq!((issue_bodies(&store), search_ids(&store, "leaks")), (vec![], vec![]));
        assert!(transactions < 50);
    }
    // two rows of the search index, the text and its cell
    assert!(transactions >= 4 * (ISSUES + COMMENTS) / i64::from(MAX_CHUNK_ROWS), "{transactions}");
    assert_eq!(store.object_counts().unwrap(), ObjectCounts::default());
    assert_eq!((store.lanes().unwrap(), count_search_rows(location)), (vec![], 0));
}

fn mirror_in_another_format_stays_with_writers_that_do_not_fetch(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    drop(store);
    execute_raw(location, "update schema_version set guid = 'another'");
    let refused = StoreWriter::open_without_refetch(location).err().unwrap();
    assert!(matches!(refused, StoreError::RefetchNeeded), "{refused:?}");
    assert!(refused.to_string().contains("`highwater pull`"), "{refused}");
    assert_eq!(count(location, "select cast(count(*) as text) from issues"), 1);
    assert_eq!(count(location, "select cast(count(*) as text) from chores"), 0);
}

/// Opens a store whose repository has thousands of texts.
fn fill_repository(location: &DatabaseLocation) -> LeasedStore {
    let store = open_store(location);
    for first in (1..=ISSUES).step_by(500) {
        let issues = (first..first + 500).map(|id| issue(id, 10, "leaks")).collect();
        store.ingest_page(&issues_page(issues)).unwrap();
    }
    let comments =
        (1..=COMMENTS).map(|id| comment(CommentKind::Conversation, 9_000 + id, id, 10, "drips"));
    let page = threads_page(CommentKind::Conversation, comments.collect());
    assert_eq!(page.lane, lane_for_kind(CommentKind::Conversation));
    store.ingest_page(&page).unwrap();
    store
}

/// Runs the pending chores. Each transaction is tried twice: the process crashes before its commit, and after it.
/// Returns the number of transactions; `changed` counts the texts that are done.
fn run_with_crashes(
    store: &LeasedStore,
    location: &DatabaseLocation,
    changed: &str,
    mut check: impl FnMut(),
) -> u32 {
    let mut transactions = 0;
    loop {
        check();
        let before = count(location, changed);
        let crashed = crash_at(store, "chore: before commit").run_chore(MAX_CHUNK_ROWS);
        if let Ok(ChoreChunk::NothingLeft) = crashed {
            return transactions;
        }
        assert!(matches!(crashed, Err(StoreError::Interrupted(_))), "{crashed:?}");
        assert_eq!(count(location, changed), before, "nothing is half done");
        let crashed = crash_at(store, "chore: after commit").run_chore(MAX_CHUNK_ROWS);
        assert!(matches!(crashed, Err(StoreError::Interrupted(_))), "{crashed:?}");
        transactions += 1;
        let texts = count(location, changed) - before;
        assert!((0..=MAX_TEXTS).contains(&texts), "{texts} texts in one transaction");
        assert!(transactions < 50, "a chore does not end");
    }
}

fn count(location: &DatabaseLocation, sql: &str) -> i64 {
    query_raw(location, sql).concat().concat().parse().unwrap()
}
