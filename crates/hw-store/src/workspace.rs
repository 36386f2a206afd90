//! A workspace as faces see it: for reading, and opened as soon as it is there.

use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::{Place, Store};

/// Clones share what is open.
#[derive(Clone)]
pub struct Workspace {
    place: Place,
    open: Arc<Mutex<Option<Store>>>,
}

impl Workspace {
    /// The workspace at a place that may have none yet.
    pub fn at(place: Place) -> Self {
        Self { place, open: Arc::default() }
    }

    /// A workspace that is open already.
    pub fn over(store: Store) -> Self {
        Self { place: store.inner.place.clone(), open: Arc::new(Mutex::new(Some(store))) }
    }

    /// Its store. Until there is a database each call looks again, and says so.
    pub fn store(&self) -> Result<Store, Error> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*open {
            return Ok(store.clone());
        }
        let store = Store::open_reader(&self.place)?;
        *open = Some(store.clone());
        Ok(store)
    }

    /// Where it is, for people.
    pub fn shown(&self) -> String {
        self.place.shown()
    }
}
