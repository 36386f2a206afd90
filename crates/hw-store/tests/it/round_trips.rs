//! Counts the round trips to PostgreSQL: each costs milliseconds if the server runs on another machine.

use std::ops::RangeInclusive;

use hw_rules::follow_reason::LaneUse;
use hw_rules::item::{CommentKind, ItemObservation, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::repository_key::RepositoryKey;
use hw_store::{EventFilter, IngestPage, LeasedStore, StoreError, StoreWriter, SweepPage};

use crate::fixture::{
    HOST, SchemaDatabase, comment, coverage_through, execute_raw, finish_chores, issue,
    issue_bodies, issue_in, issue_lane, issues_page_through, lane_for_kind, observed_at,
    open_store, pump_repository, repositories_page, threads_page,
};
use crate::watches::{add_watch, repository_watch};

#[test]
fn round_trips_of_an_ingest_do_not_grow_with_its_page() {
    let database = WarmDatabase::new();
    for issues in [10..=10, 101..=200] {
        let page = issues_page_through(issue_observations(issues), 300);
        let trips = database.count_trips(|store| store.ingest_page(&page).map(drop));
        assert_eq!(trips, 2, "lease and stored state, commit");
    }
    assert_eq!(issue_bodies(&database.store).len(), 102);
}

#[test]
fn round_trips_of_an_ingest_do_not_grow_with_its_pages() {
    let database = WarmDatabase::new();
    let pages: Vec<_> = (10..20)
        .map(|repository| {
            let name = format!("r{repository}");
            let issues =
                (1..=9).map(|n| issue_in(repository, &name, repository * 10 + n, n, "text"));
            let lane = Lane::repository_issues(RepositoryKey::new(HOST, repository));
            IngestPage {
                observations: issues.collect(),
                coverage: Some(coverage_through(300)),
                ..IngestPage::new(lane, 100)
            }
        })
        .collect();
    let lanes: Vec<_> = pages.iter().map(|page| &page.lane).collect();
    database.store.follow_lanes(&lanes, LaneUse::Mirror).unwrap();
    let trips = database.count_trips(|store| store.ingest_pages(&pages).map(drop));
    assert_eq!(trips, 2, "lease and stored state of all pages, commit");
    let trips = database.count_trips(|store| store.ingest_pages(&pages).map(drop));
    assert_eq!(trips, 2, "nothing changed");
    assert_eq!(issue_bodies(&database.store).len(), 90 + 1);
}

#[test]
fn round_trips_of_an_ingest_with_watches_do_not_grow_with_its_events() {
    let database = WarmDatabase::new();
    let watch = add_watch(&database.store, &repository_watch());
    while !database.store.derive_stored_events(watch, 200).unwrap() {}
    let kind = CommentKind::Conversation;
    database.store.ingest_page(&threads_page(kind, vec![comment(kind, 1, 1, 10, "x")])).unwrap();
    for ids in [11..=11, 101..=200] {
        let comments: Vec<_> = ids.map(|id| comment(kind, id, id % 7 + 1, 10, "leaks")).collect();
        for _ in 0..2 {
            let page = threads_page(kind, comments.clone());
            let trips = database.count_trips(|store| store.ingest_page(&page).map(drop));
            assert!(trips <= 3, "{trips}: lease and stored state, watches, commit");
        }
    }
    let filter = EventFilter { limit: 1_000, ..EventFilter::default() };
    assert_eq!(database.store.list_events(&filter).unwrap().len(), 1 + 102);
}

#[test]
fn round_trips_of_edits_are_those_of_new_items() {
    let database = WarmDatabase::new();
    let issues = |text| (1..=9).map(|id| issue(id, text, &format!("text {text}"))).collect();
    database.store.ingest_page(&issues_page_through(issues(20), 300)).unwrap();
    let page = issues_page_through(issues(30), 300);
    let trips = database.count_trips(|store| store.ingest_page(&page).map(drop));
    assert_eq!(trips, 2, "lease and stored state, commit");
    assert!(issue_bodies(&database.store).iter().all(|body| body == "body text 30"));
}

/// The types of a statement's parameters are not asked for, and nothing waits until it is prepared.
#[test]
fn round_trips_of_a_new_connection_are_those_of_a_used_one() {
    let database = WarmDatabase::new();
    let page = issues_page_through(issue_observations(10..=10), 300);
    let opened = database.open_again();
    assert_eq!(count_trips(&opened, |store| store.ingest_page(&page).map(drop)), 2);
    assert_eq!(count_trips(&opened, |store| store.lane_state(&issue_lane()).map(drop)), 1);
    assert_eq!(issue_bodies(&database.store).len(), 2);
}

#[test]
fn round_trips_of_a_view_are_one_per_question() {
    let database = WarmDatabase::new();
    let trips = database.count_trips(|store| store.lane_state(&issue_lane()).map(drop));
    assert_eq!(trips, 1, "its transaction begins and ends with the question");
}

#[test]
fn round_trips_of_a_removal_do_not_grow_with_its_comments() {
    let (database, kind) = (WarmDatabase::new(), CommentKind::Conversation);
    let lane = lane_for_kind(kind);
    let remove = |ids: RangeInclusive<i64>| {
        let comments = ids.clone().map(|id| comment(kind, id, 1, 10, "leaks")).collect();
        database.store.ingest_page(&threads_page(kind, comments)).unwrap();
        let began_at = observed_at(1_000);
        let page = SweepPage { began_at, rows: vec![], next: None, complete: true };
        database.store.stage_sweep_page(&lane, &page).unwrap();
        let gone: Vec<_> = ids.map(|id| (id, began_at)).collect();
        database.count_trips(|store| store.finish_sweep(&lane, &gone, true).map(drop))
    };
    remove(1..=1);
    assert_eq!([remove(11..=20), remove(101..=200)], [12, 12]);
}

#[test]
fn round_trips_of_a_rename_do_not_grow_with_its_texts() {
    let database = WarmDatabase::new();
    let rename = |name: &str, issues: RangeInclusive<i64>| {
        let second = 1_000 + *issues.end();
        database.store.ingest_page(&issues_page_through(issue_observations(issues), 300)).unwrap();
        let page = repositories_page(vec![pump_repository(name, second)]);
        database.store.ingest_page(&page).unwrap();
        let trips = database.count_trips(|store| store.run_chore(1_000).map(drop));
        finish_chores(&database.store);
        trips
    };
    rename("valve", 1..=1);
    assert_eq!([rename("nozzle", 2..=20), rename("gauge", 21..=100)], [18, 18]);
}

#[test]
fn round_trips_of_clearing_do_not_grow_with_the_texts() {
    let database = WarmDatabase::new();
    let clear = |issues| {
        database.store.ingest_page(&issues_page_through(issue_observations(issues), 300)).unwrap();
        database.store.clear_lane(&issue_lane()).unwrap();
        let trips = database.count_trips(|store| store.run_chore(1_000).map(drop));
        finish_chores(&database.store);
        trips
    };
    clear(1..=1);
    assert_eq!([clear(1..=20), clear(1..=100)], [11, 11]);
}

#[test]
fn round_trips_of_following_lanes_do_not_grow_with_their_number() {
    let database = WarmDatabase::new();
    let lanes: Vec<_> = (100..400)
        .map(|id| {
            Lane::for_repository(RepositoryKey::new(HOST, id), Surface::Threads(ThreadKind::Issue))
        })
        .collect();
    let lanes: Vec<_> = lanes.iter().collect();
    let trips = database.count_trips(|store| store.follow_lanes(&lanes, LaneUse::Mirror));
    assert_eq!(trips, 2, "begin and lease, commit");
    assert_eq!(database.store.lanes().unwrap().len(), 300 + 2);
}

/// The last statements of a transaction travel with its commit. The server rolls back if one of them fails, and
/// reports the commit itself as successful.
#[test]
fn statement_that_fails_on_its_way_to_the_commit_fails_the_transaction() {
    let database = WarmDatabase::new();
    execute_raw(
        &database.schema.location,
        "create function refuse() returns trigger language plpgsql as
            'begin raise exception ''refused''; end';
         create trigger refuse before update on counters for each row execute function refuse()",
    );
    let page = issues_page_through(issue_observations(20..=29), 300);
    let refused = database.store.ingest_page(&page);
    assert!(refused.is_err(), "nothing is stored, so nothing may be claimed");
    assert_eq!(issue_bodies(&database.store).len(), 1);
    execute_raw(&database.schema.location, "drop trigger refuse on counters");
    database.store.ingest_page(&page).unwrap();
    assert_eq!(issue_bodies(&database.store).len(), 11);
}

/// A connection prepares its statements while rows that were requested before are on their way, and nothing reads
/// from the server while such rows wait.
#[test]
fn pages_with_many_stored_items_are_stored_on_a_new_connection() {
    let database = WarmDatabase::new();
    let lanes: Vec<_> = (100..1_100)
        .map(|id| {
            Lane::for_repository(RepositoryKey::new(HOST, id), Surface::Threads(ThreadKind::Issue))
        })
        .collect();
    database.store.follow_lanes(&lanes.iter().collect::<Vec<_>>(), LaneUse::Mirror).unwrap();
    let mut page = issues_page_through(issue_observations(1..=2_000), 3_000);
    page.checked_lanes = lanes.into_iter().map(|lane| (lane, 1)).collect();
    database.store.ingest_page(&page).unwrap();
    let store = database.open_again();
    store.ingest_page(&page).unwrap();
    assert_eq!(issue_bodies(&store).len(), 2_000);
}

/// A database whose connection has prepared its statements.
struct WarmDatabase {
    store: LeasedStore,
    schema: SchemaDatabase,
}

impl WarmDatabase {
    fn new() -> Self {
        let schema = SchemaDatabase::new();
        let store = open_store(&schema.location);
        store.ingest_page(&issues_page_through(issue_observations(1..=1), 1)).unwrap();
        store.follow_lanes(&[&issue_lane()], LaneUse::Mirror).unwrap();
        store.lane_state(&issue_lane()).unwrap();
        Self { store, schema }
    }

    fn count_trips(&self, job: impl FnOnce(&LeasedStore) -> Result<(), StoreError>) -> u64 {
        count_trips(&self.store, job)
    }

    /// Opens the database once more, with connections that have prepared nothing.
    fn open_again(&self) -> LeasedStore {
        let store = StoreWriter::open(&self.schema.location).unwrap();
        store.with_lease(self.store.lease().clone())
    }
}

fn count_trips(
    store: &LeasedStore,
    job: impl FnOnce(&LeasedStore) -> Result<(), StoreError>,
) -> u64 {
    let before = store.round_trips();
    job(store).unwrap();
    store.round_trips() - before
}

fn issue_observations(ids: RangeInclusive<i64>) -> Vec<ItemObservation> {
    ids.map(|id| issue(id, id, &format!("text {id}"))).collect()
}
