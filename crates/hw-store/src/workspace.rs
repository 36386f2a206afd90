//! A workspace as faces see it: for reading, and opened as soon as it is there.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::{Place, Store};

/// Clones share what is open.
#[derive(Clone)]
pub struct Workspace {
    place: Place,
    open: Arc<Mutex<Option<Opened>>>,
}

/// An open database, and which file it was when it was opened.
struct Opened {
    store: Store,
    file: Option<FileId>,
}

/// A file system and a file in it.
pub(crate) type FileId = (u64, u64);

impl Workspace {
    /// The workspace at a place that may have none yet.
    pub fn at(place: Place) -> Self {
        Self { place, open: Arc::default() }
    }

    /// A workspace that is open already.
    pub fn over(store: Store) -> Self {
        let place = store.inner.place.clone();
        let opened = Opened { store, file: file_at(&place) };
        Self { place, open: Arc::new(Mutex::new(Some(opened))) }
    }

    /// Its store. Until there is a database each call looks again, and says so; so it does when the file was
    /// removed, or another one was put in its place.
    pub fn store(&self) -> Result<Store, Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let file = file_at(&self.place);
        if let Some(opened) = open.as_ref().filter(|opened| opened.file == file) {
            return Ok(opened.store.clone());
        }
        *open = None;
        let store = Store::open_reader(&self.place)?;
        *open = Some(Opened { store: store.clone(), file });
        Ok(store)
    }

    /// Where it is, for people.
    pub fn shown(&self) -> String {
        self.place.shown()
    }
}

/// Which file is there now; none where a workspace is no file.
fn file_at(place: &Place) -> Option<FileId> {
    if let Place::File(path) = place { file_id(path) } else { None }
}

/// Returns which file is at a path now; none where there is none, or where the system does not say.
#[cfg(unix)]
pub(crate) fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt as _;
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
pub(crate) fn file_id(_: &Path) -> Option<FileId> {
    None
}
