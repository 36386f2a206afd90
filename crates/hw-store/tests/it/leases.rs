use hw_rules::time::Mark;
use hw_store::{Error, Failure, HeldBy, Place, Store};

use crate::world::{bodies, issue, issues, lane, open, seen};

both![
    a_held_lease_is_refused_with_who_and_since_when,
    an_expired_lease_can_be_taken_and_its_owner_cannot_write,
    a_renewed_lease_does_not_expire,
    a_released_lease_is_free_at_once_and_its_owner_cannot_write,
    every_take_raises_the_epoch,
    a_lease_from_another_year_is_no_lease,
    who_holds_a_lease_is_told_to_everybody,
];

fn a_held_lease_is_refused_with_who_and_since_when(place: &Place) {
    let (store, _) = open(place);
    let other = Store::open(place).unwrap();
    let refused = other.take_lease("pull", "you", 4_999, 5_000).unwrap().unwrap_err();
    assert_eq!(refused, HeldBy { owner: "me".to_owned(), since_ms: 0, expires_ms: 5_000 });
    let again = store.take_lease("pull", "me", 4_999, 5_000).unwrap();
    assert!(again.is_err(), "also for the same name: it may be another process");
    assert!(other.take_lease("another", "you", 0, 5_000).unwrap().is_ok());
}

fn an_expired_lease_can_be_taken_and_its_owner_cannot_write(place: &Place) {
    let (store, old) = open(place);
    let other = another(place, &store);
    let new = other.take_lease("pull", "you", 5_000, 5_000).unwrap().unwrap();
    let page = issues(vec![issue(5, 10, "x")]);
    let failure = Failure { due_ms: 0, failures: 1, page_size: 1, message: String::new() };
    let lost = [
        store.ingest(&old, &page).map(drop),
        store.postpone(&old, &lane(), failure),
        store.reset_lane(&old, &lane(), Mark(0), "no"),
        store.finish_sweep(&old, &lane(), &[(5, seen(1))], false).map(drop),
        store.ingest_all(&old, &[]).map(drop),
        store.renew_lease(&old, 5_001, 5_000),
    ];
    for refused in lost {
        assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
    }
    assert_eq!(bodies(&store), Vec::<String>::new());
    other.ingest(&new, &page).unwrap();
    assert_eq!(bodies(&store), ["body x"]);
}

fn a_renewed_lease_does_not_expire(place: &Place) {
    let (store, lease) = open(place);
    store.renew_lease(&lease, 4_000, 5_000).unwrap();
    let refused = store.take_lease("pull", "you", 6_000, 5_000).unwrap().unwrap_err();
    assert_eq!(refused, HeldBy { owner: "me".to_owned(), since_ms: 0, expires_ms: 9_000 });
}

fn a_released_lease_is_free_at_once_and_its_owner_cannot_write(place: &Place) {
    let (store, lease) = open(place);
    store.release_lease(&lease).unwrap();
    let refused = store.ingest(&lease, &issues(vec![]));
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
    let next = store.take_lease("pull", "you", 1, 5_000).unwrap().unwrap();
    store.release_lease(&lease).unwrap();
    store.renew_lease(&next, 2, 5_000).expect("an old owner gives nothing back");
}

fn every_take_raises_the_epoch(place: &Place) {
    let (store, first) = open(place);
    let second = store.take_lease("pull", "me", 5_000, 5_000).unwrap().unwrap();
    assert!(first.epoch < second.epoch);
    let refused = store.ingest(&first, &issues(vec![]));
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "the owner's name proves nothing");
}

fn a_lease_from_another_year_is_no_lease(place: &Place) {
    let (store, lease) = open(place);
    let year_2030 = 1_900_000_000_000;
    store.renew_lease(&lease, 55_000, 5_000).unwrap();
    assert!(store.take_lease("pull", "you", 10_000, 5_000).unwrap().is_err(), "clocks may differ");
    store.renew_lease(&lease, year_2030, 5_000).unwrap();
    assert!(store.take_lease("pull", "you", 10_000, 5_000).unwrap().is_ok());
}

fn who_holds_a_lease_is_told_to_everybody(place: &Place) {
    let (store, lease) = open(place);
    let reader = Store::open_reader(place).unwrap();
    let me = HeldBy { owner: "me".to_owned(), since_ms: 0, expires_ms: 5_000 };
    assert_eq!(reader.lease_holder("pull").unwrap(), Some(me));
    assert_eq!(reader.lease_holder("another").unwrap(), None);
    store.release_lease(&lease).unwrap();
    assert_eq!(reader.lease_holder("pull").unwrap(), None);
}

/// A store of another owner: elsewhere, or, of a file, whose owner's lock would keep it out, a clone.
fn another(place: &Place, store: &Store) -> Store {
    match place {
        Place::File(_) | Place::Memory => store.clone(),
        Place::Postgres { .. } => Store::open(place).unwrap(),
    }
}
