//! Operating system locks on files beside a database file.
//!
//! Such a lock ends with its process, however that ends, so a dead worker is recognized at once. Other databases have
//! no such locks, and only the beats of their workers decide.
//!
//! Each worker locks a file of its own, which shows that it runs, and shares a lock on another, which keeps the
//! database from being removed.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::workspace::{FileId, file_id};

/// The lock files of one open database.
pub(crate) struct DatabaseLocks {
    /// None for a database without lock files.
    database: Option<DatabaseFile>,
}

struct DatabaseFile {
    path: PathBuf,
    /// The identity of the file when it was opened.
    id: Option<FileId>,
}

/// The locks of a worker, held while it is registered.
pub(crate) struct WorkerLock {
    _shared: File,
    _own: File,
    own_path: PathBuf,
}

/// Nobody works with the database while this is held.
pub(crate) struct RemovalLock {
    _file: File,
}

impl Drop for WorkerLock {
    fn drop(&mut self) {
        // nobody else ever locks it: its name contains the worker's id
        std::fs::remove_file(&self.own_path).ok();
    }
}

impl DatabaseLocks {
    pub(crate) fn none() -> Self {
        Self { database: None }
    }

    /// Places the lock files beside the file itself, by whatever name it was opened.
    pub(crate) fn beside_file(database: &Path) -> Self {
        let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
        let id = file_id(&path);
        Self { database: Some(DatabaseFile { path, id }) }
    }

    /// Takes the locks of a worker; none for a database without lock files.
    ///
    /// Fails if the database was removed or replaced since it was opened: writes to an unlinked file would be lost.
    pub(crate) fn lock_worker(&self, worker: &str) -> Result<Option<WorkerLock>, StoreError> {
        let Some(database) = &self.database else { return Ok(None) };
        let shared_path = shared_lock_path(&database.path);
        let shared = open_lock_file(&shared_path)?;
        match shared.try_lock_shared() {
            Ok(()) if file_id(&database.path) != database.id => {
                std::fs::remove_file(&shared_path).ok();
                return Err(StoreError::NoDatabase(database.path.display().to_string()));
            }
            Ok(()) => {}
            // the database is being removed
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::NoDatabase(database.path.display().to_string()));
            }
            Err(TryLockError::Error(source)) => {
                return Err(StoreError::LockFile { path: shared_path, source });
            }
        }
        let own_path = worker_lock_path(&database.path, worker);
        let own = open_lock_file(&own_path)?;
        if let Err(error) = own.try_lock() {
            return Err(StoreError::LockFile { path: own_path, source: error.into() });
        }
        Ok(Some(WorkerLock { _shared: shared, _own: own, own_path }))
    }

    /// Returns true if a worker's process runs; none if the database has no locks. Creates no lock file.
    ///
    /// The check takes the lock for a moment, which hinders nobody: a worker has its lock before others know of it.
    pub(crate) fn is_worker_running(&self, worker: &str) -> Option<bool> {
        let path = worker_lock_path(&self.database.as_ref()?.path, worker);
        let Ok(file) = File::open(&path) else { return Some(false) };
        Some(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Deletes the lock file that a dead worker left.
    pub(crate) fn remove_worker_lock(&self, worker: &str) {
        if let Some(database) = &self.database
            && self.is_worker_running(worker) == Some(false)
        {
            std::fs::remove_file(worker_lock_path(&database.path, worker)).ok();
        }
    }
}

/// Keeps workers out while a database is removed; none if one is at work.
pub(crate) fn lock_for_removal(database: &Path) -> Result<Option<RemovalLock>, StoreError> {
    let path = shared_lock_path(database);
    let file = open_lock_file(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(RemovalLock { _file: file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(StoreError::LockFile { path, source }),
    }
}

/// Returns the paths of all lock files beside a database.
pub(crate) fn all_lock_paths(database: &Path) -> Vec<PathBuf> {
    let prefix = lock_prefix(database);
    let names = database.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let files = names.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_worker_lock = |path: &PathBuf| {
        let name = path.as_os_str().to_string_lossy();
        name.starts_with(&prefix) && name.ends_with(LOCK_SUFFIX)
    };
    files.filter(is_worker_lock).chain([shared_lock_path(database)]).collect()
}

const LOCK_SUFFIX: &str = ".lock";

fn shared_lock_path(database: &Path) -> PathBuf {
    append_to_path(database, ".workers.lock")
}

/// Returns the path of a worker's lock file. An id that is no plain word is spelled as one.
fn worker_lock_path(database: &Path, worker: &str) -> PathBuf {
    let word: String =
        worker.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    PathBuf::from(format!("{}{word}{LOCK_SUFFIX}", lock_prefix(database)))
}

fn lock_prefix(database: &Path) -> String {
    append_to_path(database, ".worker-").to_string_lossy().into_owned()
}

fn append_to_path(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

/// Opens a lock file that only its owner can access.
fn open_lock_file(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|source| StoreError::LockFile { path: path.to_owned(), source })
}
