//! Tests of several processes at once. Each thread has a store of its own.

use hw_rules::item::ThreadKind;
use hw_store::{DatabaseLocation, StoreError, StoreReader, StoreWriter, ThreadFilter};

use crate::fixture::{
    FileDatabase, SchemaDatabase, execute_raw, issue, issue_bodies, issues_page, open_store,
    search_hits, search_ids, stored_issues,
};

both![ingest_compares_versions_inside_its_transaction, reader_is_not_blocked_by_a_writer,];

/// Three threads ingest different versions of the same items at the same time. A comparison before the transaction
/// would overwrite a newer text, or create an item twice.
fn ingest_compares_versions_inside_its_transaction(location: &DatabaseLocation) {
    let store = open_store(location);
    let stores =
        [(); 3].map(|()| StoreWriter::open(location).unwrap().with_lease(store.lease().clone()));
    for round in 0..20 {
        let ids = round * 10..round * 10 + 10;
        let versions = [10, 20, 30].map(|second| {
            let text = format!("version{second}");
            issues_page(ids.clone().map(|id| issue(id, second, &text)).collect())
        });
        let created: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = stores
                .iter()
                .zip(&versions)
                .map(|(store, page)| scope.spawn(move || store.ingest_page(page).unwrap().created))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(created, 10, "round {round}: each item is new once");
    }
    assert!(issue_bodies(&store).iter().all(|body| body == "body version30"));
    assert_eq!(stored_issues(&store).len(), 200);
    assert_eq!(
        (search_ids(&store, "version10"), search_ids(&store, "version20")),
        (vec![], vec![])
    );
    assert_eq!(search_hits(&store, "version30", 1_000).len(), 200);
}

fn reader_is_not_blocked_by_a_writer(location: &DatabaseLocation) {
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "before")])).unwrap();
    let reader = StoreReader::open(location).unwrap();
    let hook_reader = reader.clone();
    let watched = store.writer().with_crash_hook(std::sync::Arc::new(move |point: &str| {
        assert!(!point.contains("before commit") || issue_bodies(&hook_reader) == ["body before"]);
        false
    }));
    let watched = watched.with_lease(store.lease().clone());
    watched.ingest_page(&issues_page(vec![issue(5, 11, "after")])).unwrap();
    assert_eq!(issue_bodies(&reader), ["body after"]);
    let mut rows = 0;
    reader
        .each_thread(ThreadKind::Issue, &ThreadFilter::default(), &mut |_| {
            rows += 1;
            std::ops::ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(rows, 1);
}

#[test]
fn memory_database_is_shared_by_the_clones_of_its_store() {
    let store = open_store(&DatabaseLocation::Memory);
    store.clone().ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    assert_eq!(
        (issue_bodies(&store), search_ids(&store, "leaks")),
        (vec!["body leaks".to_owned()], vec![5])
    );
    assert_eq!(
        stored_issues(&StoreWriter::open(&DatabaseLocation::Memory).unwrap()),
        [],
        "another store is another database"
    );
}

/// A log cannot be truncated while it is read, so it would grow as long as a reader looks at a page.
#[test]
fn paged_list_does_not_block_a_checkpoint() {
    let file = FileDatabase::new();
    let DatabaseLocation::File(path) = &file.location else { panic!("expected a file") };
    let store = open_store(&file.location);
    store.ingest_page(&issues_page((1..=3).map(|id| issue(id, 10, "x")).collect())).unwrap();
    let (other, mut checkpoints) = (rusqlite::Connection::open(path).unwrap(), 0);
    let filter = ThreadFilter { limit: Some(3), ..ThreadFilter::default() };
    StoreReader::open(&file.location)
        .unwrap()
        .each_thread_in_pages(ThreadKind::Issue, &filter, 2, &mut |_| {
            store.ingest_page(&issues_page(vec![issue(9, 10 + checkpoints, "x")])).unwrap();
            let checkpoint = "pragma wal_checkpoint(truncate)";
            let is_busy: i64 = other.query_row(checkpoint, [], |row| row.get(0)).unwrap();
            assert_eq!(is_busy, 0);
            checkpoints += 1;
            Ok::<(), StoreError>(())
        })
        .unwrap();
    assert_eq!(checkpoints, 3);
}

#[test]
fn connection_that_broke_while_idle_is_replaced() {
    let schema = SchemaDatabase::new();
    let DatabaseLocation::Postgres { url, schema: name } = &schema.location else {
        panic!("expected PostgreSQL")
    };
    let url = format!("{url}?application_name={name}");
    let store = open_store(&DatabaseLocation::Postgres { url, schema: name.clone() });
    execute_raw(
        &schema.location,
        &format!(
            "select pg_terminate_backend(pid) from pg_stat_activity
              where application_name = '{name}'"
        ),
    );
    store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
    assert_eq!(search_ids(&store, "leaks"), [5]);
}

#[test]
fn readers_beyond_the_limit_wait_for_their_turn() {
    for location in [&FileDatabase::new().location, &SchemaDatabase::new().location] {
        let store = open_store(location);
        store.ingest_page(&issues_page(vec![issue(5, 10, "leaks")])).unwrap();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..30)
                .map(|_| scope.spawn(|| (0..5).all(|_| search_ids(&store, "leaks") == [5])))
                .collect();
            assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
        });
    }
}

#[test]
fn connection_to_a_silent_server_times_out() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("postgres://me@{}/db?connect_timeout=1", silent.local_addr().unwrap());
    let failed =
        StoreWriter::open(&DatabaseLocation::Postgres { url, schema: "acme".to_owned() }).err();
    let Some(StoreError::Unreachable(reason)) = failed else { panic!("{failed:?}") };
    assert_eq!(reason, "timed out waiting for the server");
}
