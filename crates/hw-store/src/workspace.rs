//! A workspace opened as soon as its database exists: for reading, and for what its users decide.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::StoreError;
use crate::{DatabaseLocation, DecisionWriter, StoreReader, StoreWriter};

/// A handle to a workspace that may not exist yet. Clones share the opened database.
#[derive(Clone)]
pub struct Workspace {
    location: DatabaseLocation,
    opened: Arc<Mutex<Option<OpenDatabase>>>,
}

/// An open database, with the identity of its file when it was opened.
struct OpenDatabase {
    store: StoreReader,
    /// Opened by the first decision.
    decisions: Option<DecisionWriter>,
    file: Option<FileId>,
}

/// The identity of a file, which a file put in its place does not share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl Workspace {
    /// Creates a handle to the workspace at a location, which may have none yet.
    pub fn at_location(location: DatabaseLocation) -> Self {
        Self { location, opened: Arc::default() }
    }

    /// Creates a handle to an opened workspace.
    pub fn from_store(store: StoreReader) -> Self {
        let location = store.inner.location.clone();
        let file = current_file_id(&location);
        let opened = OpenDatabase { store, decisions: None, file };
        Self { location, opened: Arc::new(Mutex::new(Some(opened))) }
    }

    /// Returns the store. While there is no database, each call checks for one and fails if it is still missing. A
    /// file that was removed or replaced is closed and opened again.
    pub fn open_store(&self) -> Result<StoreReader, StoreError> {
        let mut open = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let file = current_file_id(&self.location);
        if let Some(opened) = open.as_ref().filter(|opened| opened.file == file) {
            return Ok(opened.store.clone());
        }
        *open = None;
        let store = StoreReader::open(&self.location)?;
        *open = Some(OpenDatabase { store: store.clone(), decisions: None, file });
        Ok(store)
    }

    /// Returns the store for writing decisions. A database that is missing is not created.
    pub fn open_decisions(&self) -> Result<DecisionWriter, StoreError> {
        self.open_store()?;
        let mut open = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = open.as_mut().ok_or_else(|| self.location.no_database())?;
        if let Some(decisions) = &opened.decisions {
            return Ok(decisions.clone());
        }
        let writer = StoreWriter::open_without_refetch(&self.location)?;
        Ok(opened.decisions.insert(DecisionWriter::new(writer)).clone())
    }

    /// Formats the location for people.
    pub fn display_name(&self) -> String {
        self.location.display_name()
    }
}

/// Returns the identity of a workspace's file; none for a workspace that is not a file.
fn current_file_id(location: &DatabaseLocation) -> Option<FileId> {
    if let DatabaseLocation::File(path) = location { file_id(path) } else { None }
}

/// Returns the identity of the file at a path; none if there is no file, or on a system without inodes.
#[cfg(unix)]
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    let file = std::fs::metadata(path).ok()?;
    Some(FileId { device: file.dev(), inode: file.ino() })
}

#[cfg(not(unix))]
pub(crate) fn file_id(_: &Path) -> Option<FileId> {
    None
}
