use hw_rules::source_time::SourceInstant;
use hw_store::{
    DatabaseLocation, LeaseHolder, LeasedStore, StoreError, StoreReader, StoreWriter, TurnFailure,
};

use crate::fixture::{issue, issue_bodies, issue_lane, issues_page, observed_at, open_store};

both![
    lease_that_is_held_is_refused_with_its_holder,
    lease_that_expired_can_be_taken_and_its_old_owner_cannot_write,
    lease_that_is_renewed_does_not_expire,
    lease_that_is_released_is_free_at_once_and_its_owner_cannot_write,
    lease_epoch_rises_each_time_it_is_taken,
    lease_taken_under_a_wrong_clock_is_ignored,
    lease_holder_is_visible_to_readers,
    leases_of_one_open_database_are_independent,
];

fn lease_that_is_held_is_refused_with_its_holder(location: &DatabaseLocation) {
    let store = open_store(location);
    let other = StoreWriter::open(location).unwrap();
    let refused = other.take_lease("pull", "you", 4_999, 5_000).unwrap().unwrap_err();
    assert_eq!(refused, LeaseHolder { owner: "me".to_owned(), since_ms: 0, expires_ms: 5_000 });
    let again = store.take_lease("pull", "me", 4_999, 5_000).unwrap();
    assert!(again.is_err(), "even under the same name: it may be another process");
    assert!(other.take_lease("another", "you", 0, 5_000).unwrap().is_ok());
}

fn lease_that_expired_can_be_taken_and_its_old_owner_cannot_write(location: &DatabaseLocation) {
    let old = open_store(location);
    let other = other_owner_store(location, &old);
    let new = other.take_lease("pull", "you", 5_000, 5_000).unwrap().unwrap();
    let page = issues_page(vec![issue(5, 10, "x")]);
    let failure = TurnFailure { due_ms: 0, failures: 1, page_size: 1, message: String::new() };
    let lost = [
        old.ingest_page(&page).map(drop),
        old.postpone_lane(&issue_lane(), failure),
        old.reset_lane(&issue_lane(), SourceInstant(0), "no"),
        old.finish_sweep(&issue_lane(), &[(5, observed_at(1))], false).map(drop),
        old.ingest_pages(&[]).map(drop),
        old.renew_lease(5_001, 5_000),
    ];
    for refused in lost {
        assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    }
    assert_eq!(issue_bodies(&old), Vec::<String>::new());
    new.ingest_page(&page).unwrap();
    assert_eq!(issue_bodies(&old), ["body x"]);
}

fn lease_that_is_renewed_does_not_expire(location: &DatabaseLocation) {
    let store = open_store(location);
    store.renew_lease(4_000, 5_000).unwrap();
    let refused = store.take_lease("pull", "you", 6_000, 5_000).unwrap().unwrap_err();
    assert_eq!(refused, LeaseHolder { owner: "me".to_owned(), since_ms: 0, expires_ms: 9_000 });
}

fn lease_that_is_released_is_free_at_once_and_its_owner_cannot_write(location: &DatabaseLocation) {
    let store = open_store(location);
    store.release_lease().unwrap();
    let refused = store.ingest_page(&issues_page(vec![]));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    let next = store.take_lease("pull", "you", 1, 5_000).unwrap().unwrap();
    store.release_lease().unwrap();
    next.renew_lease(2, 5_000).expect("an old owner cannot release the new lease");
}

fn lease_epoch_rises_each_time_it_is_taken(location: &DatabaseLocation) {
    let first = open_store(location);
    let second = first.take_lease("pull", "me", 5_000, 5_000).unwrap().unwrap();
    assert!(second.lease().epoch > first.lease().epoch);
    let refused = first.ingest_page(&issues_page(vec![]));
    assert!(
        matches!(refused, Err(StoreError::LeaseLost { .. })),
        "the owner's name proves nothing"
    );
}

fn lease_taken_under_a_wrong_clock_is_ignored(location: &DatabaseLocation) {
    let store = open_store(location);
    let year_2030 = 1_900_000_000_000;
    store.renew_lease(55_000, 5_000).unwrap();
    assert!(store.take_lease("pull", "you", 10_000, 5_000).unwrap().is_err(), "clocks may differ");
    store.renew_lease(year_2030, 5_000).unwrap();
    assert!(store.take_lease("pull", "you", 10_000, 5_000).unwrap().is_ok());
}

fn lease_holder_is_visible_to_readers(location: &DatabaseLocation) {
    let store = open_store(location);
    let reader = StoreReader::open(location).unwrap();
    let me = LeaseHolder { owner: "me".to_owned(), since_ms: 0, expires_ms: 5_000 };
    assert_eq!(reader.lease_holder("pull").unwrap(), Some(me));
    assert_eq!(reader.lease_holder("another").unwrap(), None);
    store.release_lease().unwrap();
    assert_eq!(reader.lease_holder("pull").unwrap(), None);
}

fn leases_of_one_open_database_are_independent(location: &DatabaseLocation) {
    let pull = open_store(location);
    let chores = pull.take_lease("chores", "me", 0, 5_000).unwrap().unwrap();
    pull.release_lease().unwrap();
    let refused = pull.ingest_page(&issues_page(vec![]));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    chores.ingest_page(&issues_page(vec![issue(5, 10, "x")])).unwrap();
    let pull = chores.take_lease("pull", "you", 1, 5_000).unwrap().unwrap();
    chores.release_lease().unwrap();
    pull.ingest_page(&issues_page(vec![issue(5, 11, "y")])).unwrap();
    assert_eq!(issue_bodies(&chores), ["body y"]);
}

/// Returns a store for another owner. For a file it is a clone, because the owner's lock would keep another store out.
fn other_owner_store(location: &DatabaseLocation, store: &LeasedStore) -> StoreWriter {
    match location {
        DatabaseLocation::File(_) | DatabaseLocation::Memory => store.writer(),
        DatabaseLocation::Postgres { .. } => StoreWriter::open(location).unwrap(),
    }
}
