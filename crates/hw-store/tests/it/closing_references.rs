//! Closing references of pull requests: when they are due, and what an observation leaves of them.

use hw_rules::closing_references::ClosingReferences;
use hw_rules::item::{ItemObservation, ThreadKind};
use hw_rules::version::ObservedAt;
use hw_store::{
    DatabaseLocation, IngestPage, LeasedStore, OpenPullRequest, ReadReferences,
    ReferencesSelection, StoreReader, StoreWriter, ThreadFilter,
};

use crate::fixture::{
    HOST, PUMP_ID, UNDO_DUTIES, as_thread_mut, execute_raw, open_store, source_time, thread,
    threads_page, undo_author_columns, with_observed_at,
};

both![
    closing_references_are_due_from_each_change_until_they_are_read,
    closing_references_are_cleared_when_a_pull_request_closes,
    closing_references_stay_while_observations_do_not_know_them,
    closing_references_from_a_lagging_replica_change_nothing,
    closing_references_of_another_node_are_neither_kept_nor_stored,
    closing_references_are_read_for_chosen_repositories_and_after_a_reconcile_for_all_open,
    closing_references_of_an_older_version_are_kept_and_count_as_read,
];

/// A time at which everything that was updated in the first minutes is settled.
const LATER: i64 = 9_000;

fn closing_references_are_due_from_each_change_until_they_are_read(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest(&store, pull_request(10, "leaks"));
    assert_eq!(references(&store), due(&[]), "it is new");
    store_references(&store, 10, 20, &[3]);
    assert_eq!(references(&store), due(&[3]), "it may change again");
    store_references(&store, 10, LATER, &[3, 4]);
    assert_eq!(references(&store), read(&[3, 4]));
    ingest(&store, pull_request(11, "leaks"));
    assert_eq!(references(&store), due(&[3, 4]), "its time moved");
    store_references(&store, 11, LATER, &[4]);
    ingest(&store, with_observed_at(pull_request(11, "drips"), 12));
    assert_eq!(references(&store), due(&[4]), "edited within the same second");
}

fn closing_references_are_cleared_when_a_pull_request_closes(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest(&store, pull_request(10, "leaks"));
    store_references(&store, 10, LATER, &[3]);
    let mut merged = pull_request(11, "leaks");
    "MERGED".clone_into(&mut as_thread_mut(&mut merged).state);
    ingest(&store, merged);
    assert_eq!(references(&store), read(&[]));
    store_references(&store, 11, LATER, &[3]);
    assert_eq!(references(&store), read(&[]), "an answer that was on its way");
    ingest(&store, pull_request(12, "leaks"));
    assert_eq!(references(&store), due(&[]), "it is open again");
}

fn closing_references_stay_while_observations_do_not_know_them(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest(&store, pull_request(10, "leaks"));
    store_references(&store, 10, LATER, &[3]);
    for second in [20, LATER, LATER + 1] {
        let page = threads_page(
            ThreadKind::PullRequest,
            vec![with_observed_at(pull_request(10, "leaks"), second)],
        );
        let counts = store.ingest_page(&page).unwrap();
        assert_eq!((counts.edited, counts.unchanged), (0, 1), "second {second}");
    }
    assert_eq!(references(&store), read(&[3]));
    assert!(verify_all(&store).is_empty());
}

fn closing_references_from_a_lagging_replica_change_nothing(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest(&store, pull_request(10, "leaks"));
    store_references(&store, 9, LATER, &[3]);
    assert_eq!(references(&store), due(&[]));
}

fn closing_references_of_another_node_are_neither_kept_nor_stored(location: &DatabaseLocation) {
    let store = open_store(location);
    ingest(&store, pull_request(10, "leaks"));
    store_references(&store, 10, LATER, &[3]);
    execute_raw(location, "update pull_requests set node_id = 'PR_other'");
    store_references(&store, 10, LATER, &[4]);
    assert_eq!(references(&store), read(&[3]), "the answer is about the node that was requested");
    let page = threads_page(ThreadKind::PullRequest, vec![pull_request(11, "leaks")]);
    let page = IngestPage { absent_nodes: vec!["PR_other".to_owned()], ..page };
    store.ingest_page(&page).unwrap();
    assert_eq!(references(&store), due(&[]));
}

fn closing_references_are_read_for_chosen_repositories_and_after_a_reconcile_for_all_open(
    location: &DatabaseLocation,
) {
    let store = open_store(location);
    for id in 5..=7 {
        ingest(&store, thread(ThreadKind::PullRequest, id, 10, "leaks"));
    }
    store_references(&store, 10, LATER, &[3]);
    let mut closed = thread(ThreadKind::PullRequest, 7, 11, "leaks");
    "CLOSED".clone_into(&mut as_thread_mut(&mut closed).state);
    ingest(&store, closed);
    assert_eq!(due_ids(&store), [6]);
    let all_open = ReferencesSelection::AllOpen;
    assert_eq!(selected_ids(&store, all_open, &[PUMP_ID], i64::MIN), [5, 6]);
    assert_eq!(selected_ids(&store, all_open, &[PUMP_ID], 5), [6], "page by page");
    for selection in [all_open, ReferencesSelection::Due] {
        assert!(selected_ids(&store, selection, &[PUMP_ID + 1], i64::MIN).is_empty());
    }
}

/// Older versions read the references in listings, and stored them for closed pull requests as well.
fn closing_references_of_an_older_version_are_kept_and_count_as_read(location: &DatabaseLocation) {
    let store = open_store(location);
    for id in 5..=8 {
        let mut pull = thread(ThreadKind::PullRequest, id, 10, "leaks");
        if id == 6 {
            "MERGED".clone_into(&mut as_thread_mut(&mut pull).state);
        }
        ingest(&store, pull);
    }
    drop(store);
    let other_digest = match location {
        DatabaseLocation::Postgres { .. } => "decode(repeat('ab', 32), 'hex')",
        DatabaseLocation::Memory | DatabaseLocation::File(_) => "randomblob(32)",
    };
    execute_raw(
        location,
        &format!(
            "{}; {UNDO_DUTIES};
             drop index pull_requests_closes_due;
             alter table pull_requests drop column closes_due;
             update pull_requests set closes = '[3]' where id in (5, 6);
             update cells set digest = {other_digest} where id in (5, 6, 8);
             alter table lanes drop column sweep_request_ms;
             alter table schema_version drop column search_index; drop table chores;
             delete from migrations where number >= 10",
            undo_author_columns()
        ),
    );
    let store = StoreWriter::open(location).unwrap();
    assert_eq!(references(&store), read(&[3]));
    assert!(closes_of(&store, 6).is_empty(), "it is merged");
    assert_eq!(
        verify_all(&store),
        [Some(8)],
        "it has no references, so its digest is still compared"
    );
}

fn ingest(store: &LeasedStore, observation: ItemObservation) {
    store.ingest_page(&threads_page(ThreadKind::PullRequest, vec![observation])).unwrap();
}

fn pull_request(second: i64, text: &str) -> ItemObservation {
    thread(ThreadKind::PullRequest, 5, second, text)
}

/// Stores an answer about pull request 5 that was updated at one second and read at another.
fn store_references(store: &LeasedStore, updated: i64, read_at: i64, closes: &[i64]) {
    let node_id = "PR_5".to_owned();
    let pull_request = OpenPullRequest { id: 5, node_id, repository_id: PUMP_ID };
    let answer = ClosingReferences {
        is_open: true,
        updated_at: source_time(updated),
        closes: closes.to_vec(),
        observed_at: ObservedAt::new(source_time(read_at).instant().0, read_at),
    };
    let answers = [ReadReferences { pull_request, references: answer }];
    store.store_closing_references(HOST, &answers).unwrap();
}

fn due_ids(store: &StoreReader) -> Vec<i64> {
    selected_ids(store, ReferencesSelection::Due, &[PUMP_ID], i64::MIN)
}

fn selected_ids(
    store: &StoreReader,
    selection: ReferencesSelection,
    repositories: &[i64],
    after: i64,
) -> Vec<i64> {
    let found = store
        .pull_requests_to_read_references_of(selection, HOST, repositories, after, 10)
        .unwrap();
    found.into_iter().map(|pull| pull.id).collect()
}

/// The stored references of pull request 5.
#[derive(Debug, PartialEq, Eq)]
struct StoredReferences {
    is_due: bool,
    closes: Vec<i64>,
}

fn references(store: &StoreReader) -> StoredReferences {
    StoredReferences { is_due: due_ids(store).contains(&5), closes: closes_of(store, 5) }
}

fn due(closes: &[i64]) -> StoredReferences {
    StoredReferences { is_due: true, closes: closes.to_vec() }
}

fn read(closes: &[i64]) -> StoredReferences {
    StoredReferences { is_due: false, closes: closes.to_vec() }
}

fn closes_of(store: &StoreReader, id: i64) -> Vec<i64> {
    let mut closes = Vec::new();
    store
        .each_thread(ThreadKind::PullRequest, &ThreadFilter::default(), &mut |row| {
            if row.thread.id == id {
                closes = row.closes;
            }
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    closes
}

/// Returns the ids of all damaged items.
fn verify_all(store: &StoreReader) -> Vec<Option<i64>> {
    let (mut damaged, mut cursor) = (Vec::new(), None);
    loop {
        let page = store.verify_page(cursor.as_ref()).unwrap();
        damaged.extend(page.damaged.into_iter().map(|item| item.id));
        cursor = page.next;
        if cursor.is_none() {
            return damaged;
        }
    }
}
