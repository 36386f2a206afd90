//! Operating system locks on files beside a database file.
//!
//! Such a lock ends with its process, however that ends, so a dead owner is recognized at once. Other databases have
//! no such locks, and only their lease rows decide.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;
use crate::workspace::{FileId, file_id};

/// The locks of one open database.
pub(crate) struct DatabaseLocks {
    /// None for a database without lock files.
    database: Option<DatabaseFile>,
    by_lease: Mutex<BTreeMap<String, LeaseLock>>,
}

struct DatabaseFile {
    path: PathBuf,
    /// The identity of the file when it was opened.
    id: Option<FileId>,
}

/// A lock acquired for a lease.
struct LeaseLock {
    /// Locked while it is open.
    _file: File,
    epoch: i64,
}

/// Exclusive access, within this process, to the locks of a database.
pub(crate) struct LockTable<'a> {
    database: Option<&'a DatabaseFile>,
    by_lease: MutexGuard<'a, BTreeMap<String, LeaseLock>>,
}

/// The result of trying to acquire a lock.
pub(crate) enum LockAttempt {
    /// There is nothing to lock, or this store already has the lock.
    NotNeeded,
    /// The lock was free: its previous owner is gone.
    Acquired(File),
    /// Another process has the lock.
    HeldElsewhere,
}

impl DatabaseLocks {
    pub(crate) fn none() -> Self {
        Self { database: None, by_lease: Mutex::default() }
    }

    /// Places the lock files beside the file itself, by whatever name it was opened.
    pub(crate) fn beside_file(database: &Path) -> Self {
        let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
        let id = file_id(&path);
        Self { database: Some(DatabaseFile { path, id }), by_lease: Mutex::default() }
    }

    pub(crate) fn lock_table(&self) -> LockTable<'_> {
        let by_lease = self.by_lease.lock().unwrap_or_else(PoisonError::into_inner);
        LockTable { database: self.database.as_ref(), by_lease }
    }
}

impl LockTable<'_> {
    /// Tries to acquire a lease's lock. An acquired lock is kept by [`LockTable::store_lock`], and released when it is
    /// dropped instead.
    ///
    /// Fails if the database was removed or replaced since it was opened: writes to an unlinked file would be lost.
    pub(crate) fn try_lock(&self, lease: &str) -> Result<LockAttempt, StoreError> {
        let Some(database) = self.database.filter(|_| !self.by_lease.contains_key(lease)) else {
            return Ok(LockAttempt::NotNeeded);
        };
        let path = lock_path(&database.path, lease);
        let file = match open_lock_file(&path) {
            Ok(file) => file,
            Err(source) => return Err(StoreError::LockFile { path, source }),
        };
        match file.try_lock() {
            Ok(()) if file_id(&database.path) != database.id => {
                std::fs::remove_file(&path).ok();
                Err(StoreError::NoDatabase(database.path.display().to_string()))
            }
            Ok(()) => Ok(LockAttempt::Acquired(file)),
            Err(TryLockError::WouldBlock) => Ok(LockAttempt::HeldElsewhere),
            Err(TryLockError::Error(source)) => Err(StoreError::LockFile { path, source }),
        }
    }

    /// Returns true if a living process holds a lease's lock; none if the database has no locks. Creates no lock file.
    ///
    /// The check takes the lock for a moment; a process that needs it at that moment retries.
    pub(crate) fn is_locked(&self, lease: &str) -> Option<bool> {
        let Ok(file) = File::open(lock_path(&self.database?.path, lease)) else {
            return Some(false);
        };
        Some(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Keeps an acquired lock for the lease of this epoch.
    pub(crate) fn store_lock(&mut self, lease: &str, epoch: i64, attempt: LockAttempt) {
        match attempt {
            LockAttempt::Acquired(file) => {
                self.by_lease.insert(lease.to_owned(), LeaseLock { _file: file, epoch });
            }
            LockAttempt::NotNeeded | LockAttempt::HeldElsewhere => {
                if let Some(lock) = self.by_lease.get_mut(lease) {
                    lock.epoch = epoch;
                }
            }
        }
    }

    /// Releases a lease's lock, unless it now belongs to another epoch. The file stays, because another process may
    /// have it open.
    pub(crate) fn release_lock(&mut self, lease: &str, epoch: i64) {
        if self.by_lease.get(lease).is_some_and(|lock| lock.epoch == epoch) {
            self.by_lease.remove(lease);
        }
    }
}

/// Returns the path of a lease's lock file.
pub(crate) fn lock_path(database: &Path, lease: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(format!(".{lease}.lock"));
    PathBuf::from(path)
}

/// Opens a lock file that only its owner can access.
fn open_lock_file(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
