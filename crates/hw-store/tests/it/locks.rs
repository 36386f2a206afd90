//! Tests of the lock beside a database file, whose owner is known to be alive.

use std::path::PathBuf;
use std::sync::Arc;

use hw_store::{DatabaseLocation, LeaseHolder, StoreError, StoreReader, StoreWriter};

use crate::fixture::{FileDatabase, issues_page, open_store, reopen};

#[test]
fn lock_protects_a_living_owner_after_its_lease_expired() {
    let file = FileDatabase::new();
    let store = open_store(&file.location);
    let other = StoreWriter::open(&file.location).unwrap();
    let me = LeaseHolder { owner: "me".to_owned(), since_ms: 0, expires_ms: 5_000 };
    for now_ms in [1, 5_000, 900_000] {
        let refused = other.take_lease("pull", "you", now_ms, 5_000).unwrap().unwrap_err();
        assert_eq!(refused, me);
    }
    store.ingest_page(&issues_page(vec![])).expect("the owner still has its lease");
    assert!(other.take_lease("another", "you", 0, 5_000).unwrap().is_ok());
}

#[test]
fn lock_of_a_dead_owner_is_free_at_once() {
    let file = FileDatabase::new();
    let dead = reopen(open_store(&file.location), &file.location);
    let next = dead.take_lease("pull", "you", 1, 5_000).unwrap().unwrap();
    let refused = dead.ingest_page(&issues_page(vec![]));
    assert!(matches!(refused, Err(StoreError::LeaseLost { .. })), "{refused:?}");
    next.ingest_page(&issues_page(vec![])).unwrap();
}

#[test]
fn lock_without_an_owner_in_its_row_reports_another_process() {
    let file = FileDatabase::new();
    let store = open_store(&file.location);
    crate::fixture::execute_raw(&file.location, "update leases set owner = null");
    let other = StoreWriter::open(&file.location).unwrap();
    let unknown =
        LeaseHolder { owner: "another process".to_owned(), since_ms: 7, expires_ms: 5_007 };
    assert_eq!(other.take_lease("pull", "you", 7, 5_000).unwrap().unwrap_err(), unknown);
    store.release_lease().unwrap();
    assert!(
        other.take_lease("pull", "you", 7, 5_000).unwrap().is_ok(),
        "the lock is released although the lease was lost"
    );
}

#[test]
fn lock_is_released_with_its_own_lease_only() {
    let file = FileDatabase::new();
    let first = open_store(&file.location);
    let other = StoreWriter::open(&file.location).unwrap();
    let second = first.take_lease("pull", "me", 5_000, 5_000).unwrap().unwrap();
    first.release_lease().unwrap();
    assert!(other.take_lease("pull", "you", 5_001, 5_000).unwrap().is_err());
    second.release_lease().unwrap();
    assert!(other.take_lease("pull", "you", 5_001, 5_000).unwrap().is_ok());
    let refused = first.take_lease("pull", "me", 5_002, 5_000).unwrap().unwrap_err();
    assert_eq!(refused.owner, "you");
}

#[test]
fn lock_is_released_when_taking_a_lease_crashes() {
    let file = FileDatabase::new();
    for point in ["lease: before commit", "lease: after commit"] {
        let store = StoreWriter::open(&file.location).unwrap();
        let store = store.with_crash_hook(Arc::new(move |at| at == point));
        assert!(store.take_lease("pull", "me", 0, 5_000).is_err());
        let other = StoreWriter::open(&file.location).unwrap();
        let other = other.take_lease("pull", "you", 1, 5_000).unwrap().unwrap();
        other.release_lease().unwrap();
    }
}

#[test]
fn lock_is_acquired_by_one_of_many_at_once() {
    let file = FileDatabase::new();
    let stores = [(); 8].map(|()| StoreWriter::open(&file.location).unwrap());
    let taken = std::thread::scope(|scope| {
        let threads: Vec<_> = stores
            .iter()
            .map(|store| {
                scope.spawn(move || store.take_lease("pull", "me", 0, 5_000).unwrap().is_ok())
            })
            .collect();
        let taken: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        taken.into_iter().filter(|taken| *taken).count()
    });
    assert_eq!(taken, 1);
}

#[cfg(unix)]
#[test]
fn lock_file_is_beside_the_database_and_private_to_its_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = FileDatabase::new();
    drop(open_store(&file.location));
    let mode = std::fs::metadata(lock_file(&file.location)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(unix)]
#[test]
fn lock_is_shared_by_all_names_of_a_database() {
    let file = FileDatabase::new();
    let _store = open_store(&file.location);
    let DatabaseLocation::File(path) = &file.location else { panic!("expected a file") };
    let alias = path.with_file_name("alias.db");
    std::os::unix::fs::symlink(path, &alias).unwrap();
    let other = StoreWriter::open(&DatabaseLocation::File(alias)).unwrap();
    assert!(other.take_lease("pull", "you", 900_000, 5_000).unwrap().is_err());
}

#[test]
fn lock_file_that_cannot_be_created_is_named_in_the_error() {
    let file = FileDatabase::new();
    let store = StoreWriter::open(&file.location).unwrap();
    std::fs::create_dir(lock_file(&file.location)).unwrap();
    let failed = store.take_lease("pull", "me", 0, 5_000).unwrap_err();
    assert!(matches!(&failed, StoreError::LockFile { .. }), "{failed:?}");
    assert!(failed.to_string().contains("acme.db.pull.lock"), "{failed}");
}

#[test]
fn reader_creates_no_lock_file() {
    let file = FileDatabase::new();
    drop(StoreWriter::open(&file.location).unwrap());
    let reader = StoreReader::open(&file.location).unwrap();
    assert_eq!(reader.lease_holder("pull").unwrap(), None);
    assert!(!lock_file(&file.location).exists());
}

fn lock_file(location: &DatabaseLocation) -> PathBuf {
    let DatabaseLocation::File(path) = location else { panic!("expected a file") };
    path.with_file_name("acme.db.pull.lock")
}
