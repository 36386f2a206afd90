//! Assigns ids to search rows. They follow the order of `updated_at`, and no two rows have the same one.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::ObjectId;
use hw_rules::source_time::SourceInstant;

use super::{LOW_BITS, LOW_MASK, unix_seconds};
use crate::cells::StoredCells;
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// An item that needs a row id, with the time that the id follows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DatedItem {
    pub(crate) key: ObjectId,
    pub(crate) updated_at: SourceInstant,
}

impl DatedItem {
    fn first_rowid(self) -> i64 {
        (unix_seconds(self.updated_at) << LOW_BITS) | (self.key.id & LOW_MASK)
    }
}

/// Returns the next row id within the same second.
fn next_rowid(rowid: i64) -> i64 {
    (rowid & !LOW_MASK) | ((rowid + 1) & LOW_MASK)
}

/// Assigns row ids, and remembers which are taken: ids that were looked up before need no question of their own.
#[derive(Default)]
pub(crate) struct RowidAssigner {
    looked_up: BTreeSet<i64>,
    taken: BTreeSet<i64>,
    /// The ids that it assigned.
    assigned: BTreeSet<i64>,
}

/// Row ids that were looked up, requested.
pub(crate) struct PendingRowids {
    looked_up: BTreeSet<i64>,
    taken: PendingRows,
}

/// An item that has no row id yet.
struct RowidRequest {
    key: ObjectId,
    /// The next id to try.
    rowid: i64,
    /// The id that the item has now, and may keep.
    current: Option<i64>,
}

impl PendingRowids {
    /// Looks up the row ids that these items get if nothing else has them.
    pub(crate) fn send(
        tx: &mut Transaction<'_>,
        items: impl IntoIterator<Item = DatedItem>,
    ) -> Result<Self, StoreError> {
        Self::send_rowids(tx, items.into_iter().map(DatedItem::first_rowid).collect())
    }

    fn send_rowids(tx: &mut Transaction<'_>, looked_up: BTreeSet<i64>) -> Result<Self, StoreError> {
        const TAKEN: Sql = Sql::per_dialect(
            "select search_rowid from cells
              where search_rowid in (select value from json_each($1))",
            "select search_rowid from cells where search_rowid = any($1)",
        );
        let rowids: Vec<i64> = looked_up.iter().copied().collect();
        let taken = tx.send_query(TAKEN, &params![rowids.as_slice()])?;
        Ok(Self { looked_up, taken })
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<RowidAssigner, StoreError> {
        let mut assigner = RowidAssigner::default();
        assigner.add_looked_up(tx, self)?;
        Ok(assigner)
    }
}

impl RowidAssigner {
    /// Returns true if one of these ids was looked up, and has been assigned since.
    pub(crate) fn is_outdated_by(&self, assigned: &BTreeSet<i64>) -> bool {
        self.looked_up.iter().any(|rowid| assigned.contains(rowid))
    }

    /// Returns the ids that it assigned.
    pub(crate) fn into_assigned(self) -> BTreeSet<i64> {
        self.assigned
    }

    /// Finds a free row id for each item, in the order of `updated_at`.
    pub(crate) fn assign(
        &mut self,
        tx: &mut Transaction<'_>,
        stored: &StoredCells,
        items: impl IntoIterator<Item = DatedItem>,
    ) -> Result<BTreeMap<ObjectId, i64>, StoreError> {
        let mut requests: Vec<_> = items
            .into_iter()
            .map(|item| RowidRequest {
                key: item.key,
                rowid: item.first_rowid(),
                current: stored.search_rowids.get(&item.key).copied(),
            })
            .collect();
        let mut assigned = BTreeMap::new();
        while !requests.is_empty() {
            self.look_up(tx, &requests)?;
            requests.retain_mut(|RowidRequest { key, rowid, current }| {
                let is_free = *current == Some(*rowid) || !self.taken.contains(rowid);
                if is_free && self.assigned.insert(*rowid) {
                    assigned.insert(*key, *rowid);
                    return false;
                }
                *rowid = next_rowid(*rowid);
                true
            });
        }
        Ok(assigned)
    }

    /// Looks up those ids that were not looked up before.
    fn look_up(
        &mut self,
        tx: &mut Transaction<'_>,
        requests: &[RowidRequest],
    ) -> Result<(), StoreError> {
        let rowids = requests.iter().map(|request| request.rowid);
        let unknown: BTreeSet<i64> =
            rowids.filter(|rowid| !self.looked_up.contains(rowid)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let pending = PendingRowids::send_rowids(tx, unknown)?;
        self.add_looked_up(tx, pending)
    }

    fn add_looked_up(
        &mut self,
        tx: &mut Transaction<'_>,
        PendingRowids { looked_up, taken }: PendingRowids,
    ) -> Result<(), StoreError> {
        self.taken.extend(tx.read_pending(taken, |mut row| row.int("search_rowid"))?);
        self.looked_up.extend(looked_up);
        Ok(())
    }
}
