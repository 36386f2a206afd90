//! Tests of the locks beside a database file, which show whether a worker's process runs.

use std::path::PathBuf;
use std::sync::Arc;

use hw_rules::duty::DutyName;
use hw_store::{DatabaseLocation, StoreError, StoreReader, StoreWriter, WorkerHandle};

use crate::fixture::{FileDatabase, pull_duty, worker_identity};

#[test]
fn worker_runs_while_its_handle_exists() {
    let file = FileDatabase::new();
    let worker = register(&file.location, "me");
    let other = StoreWriter::open(&file.location).unwrap();
    assert_eq!(running_workers(&other), [("me".to_owned(), Some(true))]);
    drop(worker);
    assert_eq!(running_workers(&other), []);
    assert!(!lock_file(&file.location, "worker-me").exists(), "the file is gone with it");
}

#[test]
fn worker_that_died_leaves_a_row_that_shows_it() {
    let file = FileDatabase::new();
    let mut worker = register(&file.location, "me");
    worker.abandon();
    drop(worker);
    let store = StoreWriter::open(&file.location).unwrap();
    assert_eq!(running_workers(&store), [("me".to_owned(), Some(false))]);
}

#[test]
fn worker_locks_are_released_when_registering_crashes() {
    let file = FileDatabase::new();
    for point in ["worker: before commit", "worker: after commit"] {
        let store = StoreWriter::open(&file.location).unwrap();
        let store = store.with_crash_hook(Arc::new(move |at| at == point));
        assert!(store.register_worker(&worker_identity("me"), 0).is_err());
        let other = StoreWriter::open(&file.location).unwrap();
        assert!(running_workers(&other).iter().all(|(_, running)| *running == Some(false)));
    }
}

#[test]
fn duty_is_claimed_by_one_of_many_at_once() {
    let file = FileDatabase::new();
    let stores = [(); 8].map(|()| StoreWriter::open(&file.location).unwrap());
    let claimed = std::thread::scope(|scope| {
        let threads: Vec<_> = stores
            .iter()
            .enumerate()
            .map(|(number, store)| {
                scope.spawn(move || {
                    store.claim_duty(&pull_duty(), &number.to_string(), 0).unwrap().is_ok()
                })
            })
            .collect();
        let claimed: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        claimed.into_iter().filter(|claimed| *claimed).count()
    });
    assert_eq!(claimed, 1);
}

#[cfg(unix)]
#[test]
fn worker_lock_files_are_beside_the_database_and_private_to_their_owner() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = FileDatabase::new();
    let _worker = register(&file.location, "me");
    for name in ["workers", "worker-me"] {
        let mode = std::fs::metadata(lock_file(&file.location, name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn worker_locks_are_shared_by_all_names_of_a_database() {
    let file = FileDatabase::new();
    let _worker = register(&file.location, "me");
    let DatabaseLocation::File(path) = &file.location else { panic!("expected a file") };
    let alias = path.with_file_name("alias.db");
    std::os::unix::fs::symlink(path, &alias).unwrap();
    let other = StoreWriter::open(&DatabaseLocation::File(alias)).unwrap();
    assert_eq!(running_workers(&other), [("me".to_owned(), Some(true))]);
}

#[test]
fn worker_lock_file_that_cannot_be_created_is_named_in_the_error() {
    let file = FileDatabase::new();
    let store = StoreWriter::open(&file.location).unwrap();
    std::fs::create_dir(lock_file(&file.location, "worker-me")).unwrap();
    let failed = store.register_worker(&worker_identity("me"), 0).err().unwrap();
    assert!(matches!(&failed, StoreError::LockFile { .. }), "{failed:?}");
    assert!(failed.to_string().contains("acme.db.worker-me.lock"), "{failed}");
}

#[test]
fn reader_creates_no_lock_file() {
    let file = FileDatabase::new();
    drop(StoreWriter::open(&file.location).unwrap());
    let reader = StoreReader::open(&file.location).unwrap();
    assert_eq!(reader.duty_holder(&DutyName::pull("github.com")).unwrap(), None);
    assert_eq!(reader.workers().unwrap(), []);
    assert!(!lock_file(&file.location, "workers").exists());
}

fn register(location: &DatabaseLocation, id: &str) -> WorkerHandle {
    StoreWriter::open(location).unwrap().register_worker(&worker_identity(id), 0).unwrap()
}

fn running_workers(store: &StoreWriter) -> Vec<(String, Option<bool>)> {
    let workers = store.workers().unwrap().into_iter();
    workers.map(|worker| (worker.identity.id, worker.is_running)).collect()
}

fn lock_file(location: &DatabaseLocation, name: &str) -> PathBuf {
    let DatabaseLocation::File(path) = location else { panic!("expected a file") };
    path.with_file_name(format!("acme.db.{name}.lock"))
}
