//! What the engine remembers between two searches, for as long as nothing changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use hw_rules::lane::Surface;
use hw_rules::query::Filters;

use super::rank::ThreadPlace;
use crate::Store;
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;
use crate::views::behind::Behind;
use crate::views::viewers;

/// Shared by the clones of an engine.
#[derive(Clone, Default)]
pub(super) struct Memory(Arc<Mutex<Option<Arc<Remembered>>>>);

pub(super) struct Remembered {
    changes: i64,
    /// Of which database this is true; another may take its place.
    store: Store,
    behind: Behind,
    behind_comments: Behind,
    /// The repositories in which the viewer has written something.
    preferred: BTreeMap<String, BTreeSet<i64>>,
    pub(super) recent: Recent,
}

/// How much more a match counts there.
const BOOST: f64 = 2.0;

impl Remembered {
    /// What is behind an answer: where nothing but comments is asked for, comments.
    pub(super) fn behind(&self, filters: &Filters) -> &Behind {
        if filters.is_for_comments() { &self.behind_comments } else { &self.behind }
    }

    pub(super) fn boost(&self, thread: &ThreadPlace) -> f64 {
        let there = self.preferred.get(&thread.host);
        if there.is_some_and(|ids| ids.contains(&thread.repository_id)) { BOOST } else { 1.0 }
    }
}

impl Memory {
    /// What holds now: remembered, or asked anew when something changed since.
    pub(super) fn of(&self, store: &Store) -> Result<Arc<Remembered>, Error> {
        let changes = store.changes()?;
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remembered) =
            memory.as_ref().filter(|it| it.changes == changes && it.store.is_same(store))
        {
            return Ok(Arc::clone(remembered));
        }
        let surfaces: Vec<_> = Surface::THREADS.into_iter().chain(Surface::COMMENTS).collect();
        let remembered = Arc::new(Remembered {
            changes,
            store: store.clone(),
            behind: store.behind(&surfaces, None)?,
            behind_comments: store.behind(&Surface::COMMENTS, None)?,
            preferred: store.read("viewers", viewers::repositories)?,
            recent: store.read("recent", Recent::of)?,
        });
        *memory = Some(Arc::clone(&remembered));
        Ok(remembered)
    }
}

/// The newest texts, which stand for all of them: how many have a word, and how long they are.
pub(super) struct Recent {
    pub(super) texts: u64,
    pub(super) first_row: i64,
    pub(super) average_length: f64,
}

/// How many they are.
const TEXTS: i64 = 3_000;

impl Recent {
    fn of(tx: &mut Tx<'_>) -> Result<Self, Error> {
        const NEWEST: Sql = Sql::both(
            "select count(*), min(rowid), cast(coalesce(avg(length), 0) as double precision)
               from (select rowid, length from search_places order by rowid desc limit $1) as newest",
        );
        let recent = tx.first(NEWEST, &params![TEXTS], |mut row| {
            let texts = row.int(0)?.unsigned_abs();
            let first_row = row.maybe_int(1)?.unwrap_or(i64::MIN);
            Ok(Self { texts, first_row, average_length: row.real(2)? })
        })?;
        Ok(recent.unwrap_or(Self { texts: 0, first_row: i64::MIN, average_length: 0.0 }))
    }
}
