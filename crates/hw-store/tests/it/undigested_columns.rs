//! The columns that are no part of an item's digest: the kind and the association of its author, and the head commit of
//! a pull request.

use std::ops::ControlFlow;

use hw_rules::item::{AuthorKind, ItemObservation, MirrorItem, ObjectKind, Thread, ThreadDetails};
use hw_store::{
    CommentFilter, DatabaseLocation, IngestCounts, LeasedStore, StoreReader, StoreWriter,
    SweepPage, ThreadFilter,
};

use crate::fixture::{
    comment, execute_raw, issue, issue_lane, issues_page, observed_at, open_store, pull_duty,
    source_time, stored_threads, thread, threads_page, undo_author_columns, with_observed_at,
};

both![
    undigested_columns_are_stored_with_every_kind_of_item,
    undigested_columns_follow_a_later_observation_of_the_same_text,
    undigested_columns_of_an_older_observation_are_ignored,
    undigested_columns_of_an_older_version_are_filled_when_the_item_is_observed_again,
    undigested_columns_that_are_missing_are_found_by_a_sweep,
];

const ONE_UNCHANGED: IngestCounts = IngestCounts { unchanged: 1, ..NOTHING };
const NOTHING: IngestCounts = IngestCounts {
    created: 0,
    edited: 0,
    revived: 0,
    removed: 0,
    unchanged: 0,
    quarantined: 0,
    links: 0,
};

fn undigested_columns_are_stored_with_every_kind_of_item(location: &DatabaseLocation) {
    let store = open_store(location);
    for item in every_kind(10) {
        let item = by_a_bot(item);
        ingest(&store, &item);
        assert_eq!(stored_item(&store, &item), item.item);
    }
}

/// A push in the second of the last change moves no time, and an association changes without one.
fn undigested_columns_follow_a_later_observation_of_the_same_text(location: &DatabaseLocation) {
    let store = open_store(location);
    for item in every_kind(10) {
        ingest(&store, &item);
        let later = by_a_bot(with_observed_at(item, 20));
        assert_eq!(ingest(&store, &later), ONE_UNCHANGED);
        assert_eq!(stored_item(&store, &later), later.item);
    }
}

fn undigested_columns_of_an_older_observation_are_ignored(location: &DatabaseLocation) {
    let store = open_store(location);
    for (item, older) in every_kind(10).zip(every_kind(9)) {
        ingest(&store, &item);
        for lagging in [with_observed_at(item.clone(), 9), older] {
            ingest(&store, &by_a_bot(lagging));
        }
        assert_eq!(stored_item(&store, &item), item.item);
    }
}

fn undigested_columns_of_an_older_version_are_filled_when_the_item_is_observed_again(
    location: &DatabaseLocation,
) {
    let store = open_store(location);
    every_kind(10).for_each(|item| {
        ingest(&store, &item);
    });
    let store = upgrade_from_older_version(store, location);
    for item in every_kind(10) {
        assert_eq!(stored_item(&store, &item), without_undigested(item.clone()).item);
        let item = with_observed_at(item, 20);
        assert_eq!(ingest(&store, &item), ONE_UNCHANGED);
        assert_eq!(stored_item(&store, &item), item.item);
    }
}

fn undigested_columns_that_are_missing_are_found_by_a_sweep(location: &DatabaseLocation) {
    const SWEPT: i64 = 1_000;
    let store = open_store(location);
    store.ingest_page(&issues_page(vec![issue(5, 10, "a"), issue(6, 10, "b")])).unwrap();
    let store = upgrade_from_older_version(store, location);
    let page = SweepPage {
        began_at: observed_at(SWEPT),
        rows: [5, 6, 7].map(|id| (id, format!("I_{id}"), source_time(10))).into(),
        next: None,
        complete: true,
    };
    store.stage_sweep_page(&issue_lane(), &page).unwrap();
    assert_eq!(store.sweep_findings(&issue_lane()).unwrap().findings.fetch, [5, 6, 7]);
    let again = [issue(5, 10, "a"), issue(7, 10, "c")];
    let again = again.map(|issue| with_observed_at(issue, SWEPT + 1));
    store.ingest_page(&issues_page(again.into())).unwrap();
    let found = store.sweep_findings(&issue_lane()).unwrap();
    assert_eq!((found.findings.fetch, found.findings.suspects), (vec![6], vec![]));
    assert_eq!(found.node_ids[&6], "I_6");
}

/// Undoes the migration that added the columns, and opens the database again.
fn upgrade_from_older_version(store: LeasedStore, location: &DatabaseLocation) -> LeasedStore {
    store.release_duty().unwrap();
    drop(store);
    execute_raw(location, &undo_author_columns());
    let store = StoreWriter::open(location).unwrap();
    store.claim_duty(&pull_duty(), "me", 0).unwrap().unwrap()
}

/// Builds one item of each kind that has an author.
fn every_kind(second: i64) -> impl Iterator<Item = ItemObservation> {
    ObjectKind::ALL.into_iter().filter_map(move |kind| match kind {
        ObjectKind::Repository | ObjectKind::Post => None,
        ObjectKind::Thread(kind) => Some(thread(kind, 3, second, "leaks")),
        ObjectKind::Comment(kind) => Some(comment(kind, 5, 3, second, "drips")),
    })
}

/// Returns the item with another kind of author, another association and another head commit.
fn by_a_bot(item: ItemObservation) -> ItemObservation {
    with_undigested(item, Some(AuthorKind::Bot), Some("CONTRIBUTOR"), Some("c0ffee"))
}

fn without_undigested(item: ItemObservation) -> ItemObservation {
    with_undigested(item, None, None, None)
}

fn with_undigested(
    mut observation: ItemObservation,
    kind: Option<AuthorKind>,
    association: Option<&str>,
    head_sha: Option<&str>,
) -> ItemObservation {
    let association = association.map(str::to_owned);
    match &mut observation.item {
        MirrorItem::Repository(_) | MirrorItem::Post(_) => panic!("it has no such columns"),
        MirrorItem::Comment(comment) => {
            (comment.author_kind, comment.association) = (kind, association);
        }
        MirrorItem::Thread(Thread { author_kind, association: stored, details, .. }) => {
            (*author_kind, *stored) = (kind, association);
            if let ThreadDetails::PullRequest(pull) = details {
                pull.head_sha = head_sha.map(str::to_owned);
            }
        }
    }
    observation
}

fn ingest(store: &LeasedStore, item: &ItemObservation) -> IngestCounts {
    store.ingest_page(&threads_page(item.key().kind, vec![item.clone()])).unwrap()
}

/// Returns the only stored item of the same kind.
fn stored_item(store: &StoreReader, item: &ItemObservation) -> MirrorItem {
    let items: Vec<_> = match item.key().kind {
        ObjectKind::Repository | ObjectKind::Post => panic!("it has no such columns"),
        ObjectKind::Thread(kind) => stored_threads(store, kind, &ThreadFilter::default())
            .into_iter()
            .map(|row| MirrorItem::Thread(row.thread))
            .collect(),
        ObjectKind::Comment(kind) => {
            let mut comments = Vec::new();
            store
                .each_comment(&CommentFilter::default(), &mut |row| {
                    comments.push(row.comment);
                    ControlFlow::Continue(())
                })
                .unwrap();
            comments.retain(|comment| comment.kind == kind);
            comments.into_iter().map(MirrorItem::Comment).collect()
        }
    };
    let [item] = <[MirrorItem; 1]>::try_from(items).unwrap();
    item
}
