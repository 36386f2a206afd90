//! The lock beside a database file: whoever has it is alive.

use std::path::PathBuf;

use hw_store::{Error, HeldBy, Place, Store};

use crate::world::{File, crashing_at, issues, open};

#[test]
fn a_living_owner_is_not_robbed_however_late_he_is() {
    let file = File::new();
    let (store, lease) = open(&file.place);
    let other = Store::open(&file.place).unwrap();
    let me = HeldBy { owner: "me".to_owned(), since_ms: 0, expires_ms: 5_000 };
    for now_ms in [1, 5_000, 900_000] {
        assert_eq!(other.take_lease("pull", "you", now_ms, 5_000).unwrap(), Err(me.clone()));
    }
    store.ingest(&lease, &issues(vec![])).expect("it is still his");
    assert!(other.take_lease("another", "you", 0, 5_000).unwrap().is_ok());
}

#[test]
fn a_dead_owner_is_not_waited_for() {
    let file = File::new();
    let (store, dead) = open(&file.place);
    drop(store);
    let store = Store::open(&file.place).unwrap();
    let next = store.take_lease("pull", "you", 1, 5_000).unwrap().unwrap();
    let refused = store.ingest(&dead, &issues(vec![]));
    assert!(matches!(refused, Err(Error::LeaseLost { .. })), "{refused:?}");
    store.ingest(&next, &issues(vec![])).unwrap();
}

#[test]
fn a_lock_without_a_name_in_its_row_is_another_process() {
    let file = File::new();
    let (store, lease) = open(&file.place);
    crate::world::raw(&file.place, "update leases set owner = null");
    let other = Store::open(&file.place).unwrap();
    let unknown = HeldBy { owner: "another process".to_owned(), since_ms: 7, expires_ms: 5_007 };
    assert_eq!(other.take_lease("pull", "you", 7, 5_000).unwrap(), Err(unknown));
    store.release_lease(&lease).unwrap();
    assert!(other.take_lease("pull", "you", 7, 5_000).unwrap().is_ok(), "though it was lost");
}

#[test]
fn a_lock_goes_with_its_lease_and_not_with_an_older_one() {
    let file = File::new();
    let (store, first) = open(&file.place);
    let other = Store::open(&file.place).unwrap();
    let second = store.take_lease("pull", "me", 5_000, 5_000).unwrap().unwrap();
    store.release_lease(&first).unwrap();
    assert!(other.take_lease("pull", "you", 5_001, 5_000).unwrap().is_err());
    store.release_lease(&second).unwrap();
    assert!(other.take_lease("pull", "you", 5_001, 5_000).unwrap().is_ok());
    let refused = store.take_lease("pull", "me", 5_002, 5_000).unwrap().unwrap_err();
    assert_eq!(refused.owner, "you");
}

#[test]
fn whoever_dies_while_taking_a_lease_leaves_no_lock() {
    let file = File::new();
    for point in ["lease: before commit", "lease: after commit"] {
        let store = Store::open(&file.place).unwrap();
        assert!(crashing_at(&store, point).take_lease("pull", "me", 0, 5_000).is_err());
        let other = Store::open(&file.place).unwrap();
        let lease = other.take_lease("pull", "you", 1, 5_000).unwrap().unwrap();
        other.release_lease(&lease).unwrap();
    }
}

#[test]
fn of_many_at_once_one_takes_it() {
    let file = File::new();
    let stores = [(); 8].map(|()| Store::open(&file.place).unwrap());
    let taken = std::thread::scope(|scope| {
        let take = |store: &Store| {
            let store = store.clone();
            scope.spawn(move || store.take_lease("pull", "me", 0, 5_000).unwrap().is_ok())
        };
        let threads: Vec<_> = stores.iter().map(take).collect();
        let taken: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        taken.into_iter().filter(|taken| *taken).count()
    });
    assert_eq!(taken, 1);
}

#[cfg(unix)]
#[test]
fn the_file_is_beside_the_database_and_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = File::new();
    drop(open(&file.place));
    let mode = std::fs::metadata(lock_file(&file.place)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn a_database_with_two_names_has_one_lock() {
    let file = File::new();
    let (_store, _lease) = open(&file.place);
    let Place::File(path) = &file.place else { panic!("it is a file") };
    let alias = path.with_file_name("alias.db");
    std::os::unix::fs::symlink(path, &alias).unwrap();
    let other = Store::open(&Place::File(alias)).unwrap();
    assert!(other.take_lease("pull", "you", 900_000, 5_000).unwrap().is_err());
}

#[test]
fn a_lock_that_cannot_be_made_is_named() {
    let file = File::new();
    let store = Store::open(&file.place).unwrap();
    std::fs::create_dir(lock_file(&file.place)).unwrap();
    let failed = store.take_lease("pull", "me", 0, 5_000).unwrap_err();
    assert!(matches!(&failed, Error::Lock { .. }), "{failed:?}");
    assert!(failed.to_string().contains("acme.db.pull.lock"), "{failed}");
}

#[test]
fn a_reader_takes_no_lease_and_leaves_no_lock() {
    let file = File::new();
    drop(Store::open(&file.place).unwrap());
    let reader = Store::open_reader(&file.place).unwrap();
    let refused = reader.take_lease("pull", "me", 0, 5_000);
    assert!(matches!(refused, Err(Error::ReadOnly)), "{refused:?}");
    assert!(!lock_file(&file.place).exists());
}

fn lock_file(place: &Place) -> PathBuf {
    let Place::File(path) = place else { panic!("it is a file") };
    path.with_file_name("acme.db.pull.lock")
}
