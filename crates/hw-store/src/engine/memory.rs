//! What the engine remembers between two searches, for as long as nothing changes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use hw_rules::lane::Surface;

use crate::Store;
use crate::error::Error;
use crate::views::behind::Behind;
use crate::views::viewers;

/// Shared by the clones of an engine.
#[derive(Clone, Default)]
pub(super) struct Memory(Arc<Mutex<Option<Arc<Remembered>>>>);

pub(super) struct Remembered {
    changes: i64,
    pub(super) behind: Behind,
    /// The repositories in which the viewer has written something.
    preferred: BTreeSet<(String, i64)>,
}

/// How much more a match counts there.
const BOOST: f64 = 2.0;

impl Remembered {
    pub(super) fn boost(&self, host: &str, repository_id: i64) -> f64 {
        let is_preferred =
            self.preferred.iter().any(|(there, id)| *id == repository_id && there == host);
        if is_preferred { BOOST } else { 1.0 }
    }
}

impl Memory {
    /// What holds now: remembered, or asked anew when something changed since.
    pub(super) fn of(&self, store: &Store) -> Result<Arc<Remembered>, Error> {
        let changes = store.changes()?;
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remembered) = memory.as_ref().filter(|it| it.changes == changes) {
            return Ok(Arc::clone(remembered));
        }
        let surfaces: Vec<_> = Surface::THREADS.into_iter().chain(Surface::COMMENTS).collect();
        let remembered = Arc::new(Remembered {
            changes,
            behind: store.behind(&surfaces, None)?,
            preferred: store.read("viewers", viewers::repositories)?.into_iter().collect(),
        });
        *memory = Some(Arc::clone(&remembered));
        Ok(remembered)
    }
}
