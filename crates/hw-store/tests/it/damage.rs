//! Tests of damaged rows and database files.

use hw_rules::item::{CommentKind, ObjectKind, ThreadKind};
use hw_rules::missing::Missing;
use hw_rules::thread_address::ThreadAddress;
use hw_store::{
    CommentFilter, DamagedItem, DatabaseLocation, IntegrityCheck, IntegrityReport, LeasedStore,
    SkippedRows, StoreReader, ThreadFilter,
};

use crate::fixture::{
    FileDatabase, SchemaDatabase, comment, execute_raw, issue, lane_for_kind, open_store, reopen,
    search_hits, search_ids, stored_issues, thread, threads_page,
};

both![
    verification_accepts_sound_rows_of_every_kind,
    verification_reports_a_changed_text_with_its_item,
    verification_reports_a_changed_time_url_or_search_row,
    verification_reports_missing_and_stray_texts,
    unreadable_row_is_skipped_and_counted_by_every_view,
    unreadable_cell_does_not_stop_an_ingest,
    unreadable_rows_are_counted_once_over_all_pages,
];

fn verification_accepts_sound_rows_of_every_kind(location: &DatabaseLocation) {
    let store = open_filled_store(location);
    let (checked, damaged) = verify_all(&store);
    assert_eq!((checked, damaged), (1 + 3 * 3 + 4, vec![]));
}

fn verification_reports_a_changed_text_with_its_item(location: &DatabaseLocation) {
    let store = open_filled_store(location);
    for (table, id) in [("issues", 2), ("pull_requests", 12), ("discussions", 22), ("reviews", 101)]
    {
        execute_raw(
            location,
            &format!("update {table} set body = {} where id = {id}", quote_bytes("body LEAKS")),
        );
    }
    execute_raw(location, "update repositories set node_id = 'R_x'");
    let (_, damaged) = verify_all(&store);
    let found: Vec<_> =
        damaged.iter().map(|item| (item.kind.name(), item.id, item.number)).collect();
    let expected = [
        ("repository", Some(1), None),
        ("discussion", Some(22), Some(22)),
        ("issue", Some(2), Some(2)),
        ("pull_request", Some(12), Some(12)),
        ("review", Some(101), Some(12)),
    ];
    assert_eq!(found, expected);
    let issue = &damaged[2];
    assert_eq!(issue.url.as_deref(), Some("https://github.com/acme/pump/issues/2"));
    assert_eq!(issue.repository.as_deref(), Some("acme/pump"));
    assert_eq!(issue.reason, "its text differs from the one that was read");
}

fn verification_reports_a_changed_time_url_or_search_row(location: &DatabaseLocation) {
    let store = open_filled_store(location);
    execute_raw(location, "update issues set updated_at = '1999-01-01T00:00:00Z' where id = 1");
    execute_raw(
        location,
        "update issues set url = 'https://github.com/acme/pumq/issues/2' where id = 2",
    );
    execute_raw(
        location,
        "delete from search_documents
          where rowid = (select search_rowid from cells where kind = 'issue' and id = 3)",
    );
    execute_raw(
        location,
        "update issue_comments set url = replace(url, '#issuecomment', '#issuEcomment')
          where id = (select min(id) from issue_comments)",
    );
    let (_, damaged) = verify_all(&store);
    let reasons: Vec<_> = damaged.iter().map(|item| item.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "its update time differs from the one that was read",
            "its URL does not match its repository and number",
            "its search row is missing",
            "its URL does not match its repository and number",
        ]
    );
}

fn verification_reports_missing_and_stray_texts(location: &DatabaseLocation) {
    let store = open_filled_store(location);
    execute_raw(location, "update issues set id = 77 where id = 2");
    let (_, damaged) = verify_all(&store);
    let found: Vec<_> = damaged.iter().map(|item| (item.id, item.reason.as_str())).collect();
    let stray = (Some(77), "there is no record of its download");
    assert_eq!(found, [stray, (Some(2), "its text is missing")]);
    store.mark_damaged(&damaged, 5).unwrap();
    assert_eq!(stored_issues(&store).len(), 2, "the stray row is removed");
    assert_eq!(store.count_waiting_repairs().unwrap(), 1);
    assert_eq!(store.lane_state(&lane_for_kind(ThreadKind::Issue)).unwrap().sweep_due_ms, Some(5));
}

fn unreadable_row_is_skipped_and_counted_by_every_view(location: &DatabaseLocation) {
    let store = open_filled_store(location);
    corrupt_body(location, "issues", 2);
    corrupt_body(location, "issue_comments", 101);
    let mut numbers = Vec::new();
    let skipped = store.each_thread(ThreadKind::Issue, &ThreadFilter::default(), &mut |row| {
        numbers.push(row.thread.number);
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!((numbers, skipped.unwrap()), (vec![1, 3], SkippedRows(1)));
    let mut comments = 0;
    let skipped = store.each_comment(&CommentFilter::default(), &mut |_| {
        comments += 1;
        std::ops::ControlFlow::Continue(())
    });
    assert_eq!((comments, skipped.unwrap()), (3, SkippedRows(1)));
    assert_eq!(search_ids(&store, "leaks").len(), 8, "one of nine threads is unreadable");
    let view = store.find_thread(&ThreadAddress::parse("acme/pump#1").unwrap()).unwrap().unwrap();
    assert_eq!((view.comments.len(), view.skipped), (0, SkippedRows(1)));
    let missing = store.thread_completeness(&view).unwrap().missing;
    assert!(missing.contains(&Missing::DamagedRows { count: 1 }), "{missing:?}");
    assert!(store.find_thread(&ThreadAddress::parse("acme/pump#2").unwrap()).is_err());
    let (_, damaged) = verify_all(&store);
    assert_eq!(damaged.iter().map(|item| item.id).collect::<Vec<_>>(), [Some(2), Some(101)]);
}

fn unreadable_cell_does_not_stop_an_ingest(location: &DatabaseLocation) {
    let store = open_filled_store(location);
    execute_raw(
        location,
        &format!("update cells set digest = {} where kind = 'issue' and id = 2", quote_bytes("x")),
    );
    let (_, damaged) = verify_all(&store);
    assert_eq!(damaged.iter().map(|item| item.id).collect::<Vec<_>>(), [Some(2)]);
    store
        .ingest_page(&threads_page(
            ThreadKind::Issue,
            vec![thread(ThreadKind::Issue, 2, 11, "mended")],
        ))
        .unwrap();
    assert_eq!(verify_all(&store).1, []);
    assert_eq!(search_hits(&store, "mended", 5).len(), 1);
}

fn unreadable_rows_are_counted_once_over_all_pages(location: &DatabaseLocation) {
    let store = open_filled_store(location);
    for bad in [&[1][..], &[2], &[3], &[1, 2], &[2, 3], &[1, 2, 3], &[1, 3]] {
        bad.iter().for_each(|id| corrupt_body(location, "issues", *id));
        for (size, limit) in [(1, None), (2, None), (9, None), (1, Some(1)), (2, Some(2))] {
            let filter = ThreadFilter { limit, ..ThreadFilter::default() };
            let mut read = 0;
            let skipped = store
                .each_thread_in_pages(ThreadKind::Issue, &filter, size, &mut |_| {
                    read += 1;
                    Ok::<(), hw_store::StoreError>(())
                })
                .unwrap();
            let readable = 3 - bad.len() as u64;
            assert_eq!(read, limit.map_or(readable, |limit| readable.min(limit)), "{bad:?} {size}");
            let all = SkippedRows(bad.len() as u64);
            assert!(limit.is_some() || skipped == all, "{bad:?} {size}: {skipped:?}");
        }
        execute_raw(location, "update issues set body = 'body leaks'");
    }
}

#[test]
fn integrity_check_finds_an_inconsistent_index_and_repair_rebuilds_it() {
    let file = FileDatabase::new();
    let store = open_filled_store(&file.location);
    execute_raw(
        &file.location,
        "pragma writable_schema = on;
         update sqlite_master set sql = 'create index issues_author on issues (title)'
          where name = 'issues_author';",
    );
    let store = reopen(store, &file.location);
    assert_eq!(store.check_integrity(IntegrityCheck::Quick).unwrap(), IntegrityReport::Sound);
    let full = store.check_integrity(IntegrityCheck::Full).unwrap();
    assert!(matches!(full, IntegrityReport::Damaged(_)), "{full:?}");
    store.rebuild_indexes().unwrap();
    assert_eq!(store.check_integrity(IntegrityCheck::Full).unwrap(), IntegrityReport::Sound);
}

/// The table of cells is its own index, and SQLite cannot build another index from it while it is out of order.
#[test]
fn repair_sorts_cells_that_are_out_of_order_and_keeps_them() {
    let file = FileDatabase::new();
    let store = open_filled_store(&file.location);
    execute_raw(
        &file.location,
        "delete from cells where kind = 'review';
         pragma writable_schema = on;
         update sqlite_master
            set sql = replace(sql, '(host, kind, id)', '(host, kind desc, id)') where name = 'cells';
         update sqlite_master set sql = 'create index cells_lane on cells (lane_id, observed_request)'
          where name = 'cells_lane';",
    );
    let store = reopen(store, &file.location);
    let full = store.check_integrity(IntegrityCheck::Full).unwrap();
    assert!(matches!(full, IntegrityReport::Damaged(_)), "{full:?}");
    store.rebuild_indexes().unwrap();
    assert_eq!(store.check_integrity(IntegrityCheck::Full).unwrap(), IntegrityReport::Sound);
    let damaged = verify_all(&store).1;
    let kinds: Vec<ObjectKind> = damaged.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, [CommentKind::Review.into()], "every other text still has its cell");
    store.mark_damaged(&damaged, 5).unwrap();
    let state = store.lane_state(&lane_for_kind(CommentKind::Review)).unwrap();
    assert_eq!(state.sweep_due_ms, Some(5), "a text without a cell is read again");
}

/// A connection that read a damaged search index caches a part of it, and must not be used again.
#[test]
fn repair_rebuilds_a_damaged_search_index_at_once() {
    let file = FileDatabase::new();
    let store = open_filled_store(&file.location);
    for damage in [
        "update search_data set block = zeroblob(length(block)) where id > 10",
        "delete from search_data where id = (select max(id) from search_data)",
    ] {
        execute_raw(&file.location, damage);
        let full = store.check_integrity(IntegrityCheck::Full).unwrap();
        assert!(matches!(full, IntegrityReport::Damaged(_)), "{damage}: {full:?}");
        store.rebuild_indexes().unwrap();
        let full = store.check_integrity(IntegrityCheck::Full).unwrap();
        assert_eq!(full, IntegrityReport::Sound, "{damage}");
    }
}

#[test]
fn integrity_check_does_not_call_postgres_sound() {
    let store = open_filled_store(&SchemaDatabase::new().location);
    let report = store.check_integrity(IntegrityCheck::Full).unwrap();
    assert!(matches!(report, IntegrityReport::NotChecked { .. }), "{report:?}");
}

/// A copy is of one moment: it contains every page completely or not at all.
#[test]
fn backup_made_during_writes_is_consistent() {
    let file = FileDatabase::new();
    let store = open_filled_store(&file.location);
    let DatabaseLocation::File(path) = &file.location else { panic!("expected a file") };
    let copy = path.with_extension("copy");
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| {
            for id in 100..400 {
                let page = threads_page(
                    ThreadKind::Issue,
                    vec![issue(id, id, "more"), issue(id + 1_000, id, "more")],
                );
                store.ingest_page(&page).unwrap();
            }
        });
        store.copy_database(&copy).unwrap();
        writes.join().unwrap();
    });
    let copied = StoreReader::open(&DatabaseLocation::File(copy)).unwrap();
    assert_eq!(copied.check_integrity(IntegrityCheck::Full).unwrap(), IntegrityReport::Sound);
    assert_eq!(verify_all(&copied).1, []);
    let more = stored_issues(&copied).len() - 3;
    assert!(more.is_multiple_of(2) && more <= 600, "{more}");
}

/// Opens a store with nine threads and a comment of each kind in `acme/pump`.
fn open_filled_store(location: &DatabaseLocation) -> LeasedStore {
    let store = open_store(location);
    for (kind, first) in
        [(ThreadKind::Issue, 1), (ThreadKind::PullRequest, 11), (ThreadKind::Discussion, 21)]
    {
        let threads = (first..first + 3).map(|id| thread(kind, id, 10, "leaks")).collect();
        store.ingest_page(&threads_page(kind, threads)).unwrap();
    }
    for (kind, number) in CommentKind::ALL.into_iter().zip([1, 12, 12, 22]) {
        let comment = comment(kind, 101, number, 10, "so");
        store.ingest_page(&threads_page(kind, vec![comment])).unwrap();
    }
    store
}

fn verify_all(store: &StoreReader) -> (u64, Vec<DamagedItem>) {
    let (mut checked, mut damaged, mut next) = (0, Vec::new(), None);
    loop {
        let page = store.verify_page(next.as_ref()).unwrap();
        checked += page.checked;
        damaged.extend(page.damaged);
        match page.next {
            Some(cursor) => next = Some(cursor),
            None => return (checked, damaged),
        }
    }
}

/// Replaces the body of a row with invalid UTF-8.
fn corrupt_body(location: &DatabaseLocation, table: &str, id: i64) {
    let body = match location {
        DatabaseLocation::Postgres { .. } => "decode('ff', 'hex')",
        DatabaseLocation::Memory | DatabaseLocation::File(_) => "cast(x'ff' as text)",
    };
    execute_raw(location, &format!("update {table} set body = {body} where id = {id}"));
}

/// Quotes a text as bytes that both databases accept.
fn quote_bytes(text: &str) -> String {
    format!("'{text}'")
}
