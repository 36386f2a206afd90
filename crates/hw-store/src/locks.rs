//! Locks of the operating system beside a database file. They end with the process that holds them, however
//! it ends, so a dead owner is known at once. A database elsewhere has none, and its rows alone decide.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;
use crate::workspace::{FileId, file_id};

/// The locks of one open database.
pub(crate) struct Locks {
    /// The file they are beside.
    database: Option<Database>,
    held: Mutex<BTreeMap<String, Held>>,
}

/// A database file.
struct Database {
    path: PathBuf,
    /// Which file it was when it was opened.
    id: Option<FileId>,
}

/// A lock that is held for a lease.
struct Held {
    /// Locked as long as it is open.
    _file: File,
    epoch: i64,
}

/// The locks, while nobody else takes or leaves one here.
pub(crate) struct Keys<'a> {
    database: Option<&'a Database>,
    held: MutexGuard<'a, BTreeMap<String, Held>>,
}

/// What asking for a lock found.
pub(crate) enum Grip {
    /// There is nothing to lock, or it is locked by us already.
    Nothing,
    /// It is ours now: whoever had it before is gone.
    New(File),
    /// Somebody else has it.
    Elsewhere,
}

impl Locks {
    pub(crate) fn none() -> Self {
        Self { database: None, held: Mutex::default() }
    }

    /// Beside the file itself, by whatever name it was opened.
    pub(crate) fn beside(database: &Path) -> Self {
        let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
        let id = file_id(&path);
        Self { database: Some(Database { path, id }), held: Mutex::default() }
    }

    pub(crate) fn keys(&self) -> Keys<'_> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Keys { database: self.database.as_ref(), held }
    }
}

impl Keys<'_> {
    /// Asks for a lease's lock; a new one is kept by [`Keys::keep`], or given back when it is dropped.
    ///
    /// A database that was removed or replaced since it was opened is refused: what is written to a file without a
    /// name is lost.
    pub(crate) fn grip(&self, lease: &str) -> Result<Grip, Error> {
        let Some(database) = self.database.filter(|_| !self.held.contains_key(lease)) else {
            return Ok(Grip::Nothing);
        };
        let path = lock_path(&database.path, lease);
        let failed = |source| Error::Lock { path: path.clone(), source };
        let file = open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) if file_id(&database.path) != database.id => {
                std::fs::remove_file(&path).ok();
                Err(Error::NoDatabase(database.path.display().to_string()))
            }
            Ok(()) => Ok(Grip::New(file)),
            Err(TryLockError::WouldBlock) => Ok(Grip::Elsewhere),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Whether a living process holds a lease's lock; none where there is no such lock. Nothing is made for it.
    ///
    /// Who asks has to try it for a moment; whoever wants it just then tries again.
    pub(crate) fn is_locked(&self, lease: &str) -> Option<bool> {
        let Ok(file) = File::open(lock_path(&self.database?.path, lease)) else {
            return Some(false);
        };
        Some(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Keeps what was gripped, for the lease of this epoch.
    pub(crate) fn keep(&mut self, lease: &str, epoch: i64, grip: Grip) {
        match grip {
            Grip::New(file) => {
                self.held.insert(lease.to_owned(), Held { _file: file, epoch });
            }
            Grip::Nothing | Grip::Elsewhere => {
                if let Some(held) = self.held.get_mut(lease) {
                    held.epoch = epoch;
                }
            }
        }
    }

    /// Leaves a lease's lock, unless it is held for another epoch by now. The file stays: another process may
    /// have it open.
    pub(crate) fn leave(&mut self, lease: &str, epoch: i64) {
        if self.held.get(lease).is_some_and(|held| held.epoch == epoch) {
            self.held.remove(lease);
        }
    }
}

/// Returns where the lock of a lease is.
pub(crate) fn lock_path(database: &Path, lease: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(format!(".{lease}.lock"));
    PathBuf::from(path)
}

/// A file that only its owner may open.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
