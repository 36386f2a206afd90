//! The one path of changes: every item that appears, changes or goes passes through here, whichever way it does so.
//!
//! Ingest, sweeps, removals, restores, renames and clearing hand their changes to [`apply_cells`] or [`publish_all`], and
//! everything derived from changes sees all of them in the transaction that makes them. Something new that is derived
//! from changes is one more line in [`CONSUMERS`].

use hw_rules::cells::{CellChange, ItemCell};
use hw_rules::item::{ObjectId, ObjectKey, ObjectKind};
use hw_rules::repository_key::Host;

use crate::cells::{self, CellRow};
use crate::error::StoreError;
use crate::mirror::tombstones;
use crate::removed_items::RemovalCause;
use crate::transaction::Transaction;
use crate::{comment_queue, lanes};

/// A change of one item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemChange {
    pub key: ObjectKey,
    pub kind: ItemChangeKind,
}

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemChangeKind {
    /// Never stored before.
    Created,
    /// Stored with another content.
    Edited,
    /// Stored with the same content and a newer `updated_at`.
    Bumped,
    /// It was gone and is back: the source shows it again, or a person restored it.
    Revived,
    /// It was present and is gone.
    Removed,
    /// Its repository has another name.
    Renamed,
    /// It is forgotten, to be fetched again. Nothing is known of a change at the source.
    Cleared,
}

impl ItemChangeKind {
    /// Returns the kind of change that a cell shows; `None` if the item itself did not change.
    fn from_cell_change(change: CellChange) -> Option<Self> {
        match change {
            CellChange::Created => Some(Self::Created),
            CellChange::Edited => Some(Self::Edited),
            CellChange::Bumped => Some(Self::Bumped),
            CellChange::Revived => Some(Self::Revived),
            CellChange::Removed => Some(Self::Removed),
            CellChange::Touched | CellChange::Unchanged => None,
        }
    }
}

/// Where cells change, and why some of them may be removed.
#[derive(Clone, Copy)]
pub(crate) struct ChangeTarget<'a> {
    pub(crate) host: &'a Host,
    pub(crate) lane: i64,
    pub(crate) counting: LaneCounting,
    pub(crate) cause: RemovalCause,
}

/// Decides whether changes add to the number of their lane's items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LaneCounting {
    Counted,
    /// The lane counts from zero again, or a sweep will count it.
    Uncounted,
}

/// A cell to write, and the change that it shows.
pub(crate) struct CellUpdate<'a> {
    pub(crate) key: ObjectId,
    pub(crate) cell: &'a ItemCell,
    pub(crate) change: CellChange,
    /// The search row of the item's text.
    pub(crate) search_rowid: Option<i64>,
}

/// Removes the texts of items that are gone, writes the cells, and publishes the changes. Texts that are new were written
/// before, because their cells contain the ids of their search rows.
pub(crate) fn apply_cells(
    tx: &mut Transaction<'_>,
    target: ChangeTarget<'_>,
    updates: &[CellUpdate<'_>],
) -> Result<(), StoreError> {
    let ChangeTarget { host, lane, counting, cause } = target;
    let gone = updates.iter().filter(|update| update.change == CellChange::Removed);
    tombstones::remove_items(tx, host, gone.map(|gone| (gone.key, gone.cell)), cause)?;
    let rows: Vec<_> = updates
        .iter()
        .filter(|update| update.change != CellChange::Unchanged)
        .map(|CellUpdate { key, cell, search_rowid, .. }| CellRow {
            key: *key,
            cell,
            search_rowid: search_rowid.filter(|_| cell.is_present()),
        })
        .collect();
    cells::store_cells(tx, host, lane, &rows)?;
    let changes: Vec<_> = updates
        .iter()
        .filter_map(|CellUpdate { key, change, .. }| {
            let kind = ItemChangeKind::from_cell_change(*change)?;
            Some(ItemChange { key: key.at_host(host), kind })
        })
        .collect();
    let counted_lane = (counting == LaneCounting::Counted).then_some(lane);
    publish(tx, &ChangeBatch { host, counted_lane, changes: &changes })
}

/// Publishes one change of several items of a kind.
pub(crate) fn publish_all(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
    change: ItemChangeKind,
) -> Result<(), StoreError> {
    let host = &Host::from(host);
    let keys = ids.iter().map(|id| ObjectKey::new(host, kind, *id));
    let changes: Vec<_> = keys.map(|key| ItemChange { key, kind: change }).collect();
    publish(tx, &ChangeBatch { host, counted_lane: None, changes: &changes })
}

/// Changes of items of one host, made by one transaction.
pub(crate) struct ChangeBatch<'a> {
    pub(crate) host: &'a Host,
    /// The lane whose number of items changes with them.
    counted_lane: Option<i64>,
    pub(crate) changes: &'a [ItemChange],
}

/// Derives something from changes.
type ChangeConsumer = fn(&mut Transaction<'_>, &ChangeBatch<'_>) -> Result<(), StoreError>;

/// Everything that is derived from changes, in the order in which it sees them.
const CONSUMERS: [ChangeConsumer; 3] =
    [count_lane_items, comment_queue::forget_gone_threads, notify_observer];

/// Hands changes to everything that is derived from them.
fn publish(tx: &mut Transaction<'_>, batch: &ChangeBatch<'_>) -> Result<(), StoreError> {
    if batch.changes.is_empty() {
        return Ok(());
    }
    CONSUMERS.iter().try_for_each(|consume| consume(tx, batch))
}

fn count_lane_items(tx: &mut Transaction<'_>, batch: &ChangeBatch<'_>) -> Result<(), StoreError> {
    let Some(lane) = batch.counted_lane else { return Ok(()) };
    let gained = batch.changes.iter().map(|change| match change.kind {
        ItemChangeKind::Created | ItemChangeKind::Revived => 1,
        ItemChangeKind::Removed | ItemChangeKind::Cleared => -1,
        ItemChangeKind::Edited | ItemChangeKind::Bumped | ItemChangeKind::Renamed => 0,
    });
    lanes::object_count::add_objects(tx, lane, gained.sum())
}

fn notify_observer(tx: &mut Transaction<'_>, batch: &ChangeBatch<'_>) -> Result<(), StoreError> {
    if let Some(observe) = tx.change_observer() {
        observe(batch.changes);
    }
    Ok(())
}
