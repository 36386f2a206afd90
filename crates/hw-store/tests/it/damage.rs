//! Stored rows that are not what was written.

use hw_rules::address::ThreadAddress;
use hw_rules::item::Kind;
use hw_store::{
    CommentFilter, DamagedItem, IntegrityCheck, IntegrityReport, Lease, Place, SkippedRows, Store,
    ThreadFilter,
};

use crate::world::{
    File, Schema, comment, found, held, hits, issue, lane_of, open, raw, thread, threads,
};

both![
    sound_rows_of_every_kind_are_verified_without_a_finding,
    changed_text_is_named_with_its_item,
    changed_time_address_or_search_row_is_named,
    missing_text_and_stray_text_are_named,
    one_row_that_cannot_be_read_is_left_out_of_every_answer_and_counted,
    one_cell_that_cannot_be_read_stops_no_ingest,
    pages_count_each_unreadable_row_once_and_end,
];

fn sound_rows_of_every_kind_are_verified_without_a_finding(place: &Place) {
    let (store, _) = filled(place);
    let (checked, damaged) = verified(&store);
    assert_eq!((checked, damaged), (1 + 3 * 3 + 4, vec![]));
}

fn changed_text_is_named_with_its_item(place: &Place) {
    let (store, _) = filled(place);
    for (table, id) in [("issues", 2), ("pull_requests", 12), ("discussions", 22), ("reviews", 101)]
    {
        raw(place, &format!("update {table} set body = {} where id = {id}", bytes("body LEAKS")));
    }
    raw(place, "update repositories set node_id = 'R_x'");
    let (_, damaged) = verified(&store);
    let told: Vec<_> = damaged.iter().map(|it| (it.kind.name(), it.id, it.number)).collect();
    let expected = [
        ("repository", Some(1), None),
        ("discussion", Some(22), Some(22)),
        ("issue", Some(2), Some(2)),
        ("pull_request", Some(12), Some(12)),
        ("review", Some(101), Some(12)),
    ];
    assert_eq!(told, expected);
    let issue = &damaged[2];
    assert_eq!(issue.url.as_deref(), Some("https://github.com/acme/pump/issues/2"));
    assert_eq!(issue.repository.as_deref(), Some("acme/pump"));
    assert_eq!(issue.reason, "its text is not the one that was read");
}

fn changed_time_address_or_search_row_is_named(place: &Place) {
    let (store, _) = filled(place);
    raw(place, "update issues set updated_at = '1999-01-01T00:00:00Z' where id = 1");
    raw(place, "update issues set url = 'https://github.com/acme/pumq/issues/2' where id = 2");
    raw(
        place,
        "delete from search_places
          where rowid = (select search_rowid from cells where kind = 'issue' and id = 3)",
    );
    let (_, damaged) = verified(&store);
    let reasons: Vec<_> = damaged.iter().map(|it| it.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "its time of update is not the one that was read",
            "its address is not the one it should have",
            "its search row is missing"
        ]
    );
}

fn missing_text_and_stray_text_are_named(place: &Place) {
    let (store, lease) = filled(place);
    raw(place, "update issues set id = 77 where id = 2");
    let (_, damaged) = verified(&store);
    let told: Vec<_> = damaged.iter().map(|it| (it.id, it.reason.as_str())).collect();
    let stray = (Some(77), "nothing records that it was read");
    assert_eq!(told, [stray, (Some(2), "its text is missing")]);
    store.mark_damaged(&lease, &damaged, 5).unwrap();
    assert_eq!(held(&store).len(), 2, "what nothing claims is removed");
    assert_eq!(store.count_waiting_repairs().unwrap(), 1);
    assert_eq!(store.lane_state(&lane_of(Kind::Issue)).unwrap().sweep_due_ms, Some(5));
}

fn one_row_that_cannot_be_read_is_left_out_of_every_answer_and_counted(place: &Place) {
    let (store, _) = filled(place);
    spoil(place, "issues", 2);
    spoil(place, "issue_comments", 101);
    let mut numbers = Vec::new();
    let skipped = store.each_thread(Kind::Issue, &ThreadFilter::default(), &mut |row| {
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
    assert_eq!(found(&store, "leaks").len(), 8, "nine threads, and one cannot be read");
    let view = store.thread(&ThreadAddress::parse("acme/pump#1").unwrap()).unwrap().unwrap();
    assert_eq!((view.comments.len(), view.skipped), (0, SkippedRows(1)));
    assert!(store.behind_thread(&view).unwrap().missing.iter().any(|it| it.contains("damaged")));
    assert!(store.thread(&ThreadAddress::parse("acme/pump#2").unwrap()).is_err());
    let (_, damaged) = verified(&store);
    assert_eq!(damaged.iter().map(|it| it.id).collect::<Vec<_>>(), [Some(2), Some(101)]);
}

fn one_cell_that_cannot_be_read_stops_no_ingest(place: &Place) {
    let (store, lease) = filled(place);
    raw(
        place,
        &format!("update cells set digest = {} where kind = 'issue' and id = 2", bytes("x")),
    );
    let (_, damaged) = verified(&store);
    assert_eq!(damaged.iter().map(|it| it.id).collect::<Vec<_>>(), [Some(2)]);
    store
        .ingest(&lease, &threads(Kind::Issue, vec![thread(Kind::Issue, 2, 11, "mended")]))
        .unwrap();
    assert_eq!(verified(&store).1, []);
    assert_eq!(hits(&store, "mended", 5).len(), 1);
}

fn pages_count_each_unreadable_row_once_and_end(place: &Place) {
    let (store, _) = filled(place);
    for bad in [&[1][..], &[2], &[3], &[1, 2], &[2, 3], &[1, 2, 3], &[1, 3]] {
        bad.iter().for_each(|id| spoil(place, "issues", *id));
        for (size, limit) in [(1, None), (2, None), (9, None), (1, Some(1)), (2, Some(2))] {
            let filter = ThreadFilter { limit, ..ThreadFilter::default() };
            let mut read = 0;
            let mut each = |_| -> Result<(), hw_store::Error> {
                read += 1;
                Ok(())
            };
            let skipped =
                store.each_thread_in_pages(Kind::Issue, &filter, size, &mut each).unwrap();
            let readable = 3 - bad.len() as u64;
            assert_eq!(read, limit.map_or(readable, |limit| readable.min(limit)), "{bad:?} {size}");
            let all = SkippedRows(bad.len() as u64);
            assert!(limit.is_some() || skipped == all, "{bad:?} {size}: {skipped:?}");
        }
        raw(place, "update issues set body = 'body leaks'");
    }
}

#[test]
fn file_whose_index_disagrees_with_its_table_is_found_by_the_full_check_and_mended() {
    let file = File::new();
    let (store, lease) = filled(&file.place);
    raw(
        &file.place,
        "pragma writable_schema = on;
         update sqlite_master set sql = 'create index issues_author on issues (title)'
          where name = 'issues_author';",
    );
    drop(store);
    let store = Store::open(&file.place).unwrap();
    assert_eq!(store.check_integrity(IntegrityCheck::Quick).unwrap(), IntegrityReport::Sound);
    let full = store.check_integrity(IntegrityCheck::Full).unwrap();
    assert!(matches!(full, IntegrityReport::Damaged(_)), "{full:?}");
    store.rebuild_indexes(&lease).unwrap();
    assert_eq!(store.check_integrity(IntegrityCheck::Full).unwrap(), IntegrityReport::Sound);
}

/// The table of cells is its own index, and another index cannot be built from it while it is out of order.
#[test]
fn file_whose_cells_are_out_of_order_is_mended_and_keeps_them() {
    let file = File::new();
    let (store, lease) = filled(&file.place);
    raw(
        &file.place,
        "delete from cells where kind = 'review';
         pragma writable_schema = on;
         update sqlite_master
            set sql = replace(sql, '(host, kind, id)', '(host, kind desc, id)') where name = 'cells';
         update sqlite_master set sql = 'create index cells_lane on cells (lane, seen_request)'
          where name = 'cells_lane';",
    );
    drop(store);
    let store = Store::open(&file.place).unwrap();
    let full = store.check_integrity(IntegrityCheck::Full).unwrap();
    assert!(matches!(full, IntegrityReport::Damaged(_)), "{full:?}");
    store.rebuild_indexes(&lease).unwrap();
    assert_eq!(store.check_integrity(IntegrityCheck::Full).unwrap(), IntegrityReport::Sound);
    let damaged = verified(&store).1;
    let kinds: Vec<Kind> = damaged.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, [Kind::Review], "every other text still has its cell");
    store.mark_damaged(&lease, &damaged, 5).unwrap();
    let state = store.lane_state(&lane_of(Kind::Review)).unwrap();
    assert_eq!(state.sweep_due_ms, Some(5), "what nothing claims is read again");
}

/// A connection that met a broken search index keeps a part of it in memory, and must not be asked again.
#[test]
fn file_whose_search_index_is_broken_is_mended_by_one_repair() {
    let file = File::new();
    let (store, lease) = filled(&file.place);
    for damage in [
        "update search_data set block = zeroblob(length(block)) where id > 10",
        "delete from search_data where id = (select max(id) from search_data)",
    ] {
        raw(&file.place, damage);
        let full = store.check_integrity(IntegrityCheck::Full).unwrap();
        assert!(matches!(full, IntegrityReport::Damaged(_)), "{damage}: {full:?}");
        store.rebuild_indexes(&lease).unwrap();
        let full = store.check_integrity(IntegrityCheck::Full).unwrap();
        assert_eq!(full, IntegrityReport::Sound, "{damage}");
    }
}

#[test]
fn postgres_is_not_said_to_be_sound() {
    let (store, _) = filled(&Schema::new().place);
    let report = store.check_integrity(IntegrityCheck::Full).unwrap();
    assert!(matches!(report, IntegrityReport::NotChecked { .. }), "{report:?}");
}

/// A copy is of one moment: every page that it has is whole, with its watermark.
#[test]
fn copy_made_while_others_write_is_consistent() {
    let file = File::new();
    let (store, lease) = filled(&file.place);
    let Place::File(path) = &file.place else { panic!("it is a file") };
    let copy = path.with_extension("copy");
    std::thread::scope(|scope| {
        let writes = scope.spawn(|| {
            for id in 100..400 {
                let page = threads(
                    Kind::Issue,
                    vec![issue(id, id, "more"), issue(id + 1_000, id, "more")],
                );
                store.ingest(&lease, &page).unwrap();
            }
        });
        store.copy_into(&copy).unwrap();
        writes.join().unwrap();
    });
    let copied = Store::open_reader(&Place::File(copy)).unwrap();
    assert_eq!(copied.check_integrity(IntegrityCheck::Full).unwrap(), IntegrityReport::Sound);
    assert_eq!(verified(&copied).1, []);
    let more = held(&copied).len() - 3;
    assert!(more.is_multiple_of(2) && more <= 600, "{more}");
}

/// Nine threads and a comment of each sort, in `acme/pump`.
fn filled(place: &Place) -> (Store, Lease) {
    let (store, lease) = open(place);
    for (kind, first) in [(Kind::Issue, 1), (Kind::PullRequest, 11), (Kind::Discussion, 21)] {
        let some = (first..first + 3).map(|id| thread(kind, id, 10, "leaks")).collect();
        store.ingest(&lease, &threads(kind, some)).unwrap();
    }
    for (kind, number) in Kind::COMMENTS.into_iter().zip([1, 12, 12, 22]) {
        let said = comment(kind, 101, number, 10, "so");
        store.ingest(&lease, &threads(kind, vec![said])).unwrap();
    }
    (store, lease)
}

fn verified(store: &Store) -> (u64, Vec<DamagedItem>) {
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

/// Makes a row that cannot be decoded.
fn spoil(place: &Place, table: &str, id: i64) {
    let body = match place {
        Place::Postgres { .. } => "decode('ff', 'hex')",
        Place::Memory | Place::File(_) => "cast(x'ff' as text)",
    };
    raw(place, &format!("update {table} set body = {body} where id = {id}"));
}

/// Bytes that both databases take.
fn bytes(text: &str) -> String {
    format!("'{text}'")
}
