//! The one path of changes: every item that appears, changes or goes passes through here, whichever way it does so.
//!
//! Ingest, sweeps, removals, restores, renames and clearing hand their changes to one of the functions below, and
//! everything derived from changes sees all of them in the transaction that makes them. Something new that is derived
//! from changes is one more line in [`CONSUMERS`].

mod batch;

use hw_rules::cells::{CellChange, ItemCell};
use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::repository_key::Host;

use crate::cells::{self, CellRow};
use crate::error::StoreError;
use crate::lanes::lane_rows::FollowedLanes;
use crate::mirror::{WrittenText, tombstones};
use crate::removed_items::{self, RemovalCause};
use crate::transaction::Transaction;
use crate::{comment_queue, events, lanes, late_threads, search};

use batch::ids_by_kind;
pub(crate) use batch::{BatchChange, ChangeBatch};
pub use batch::{ItemChange, ItemChangeKind};

/// Where cells change, and why some of them may be removed.
#[derive(Clone, Copy)]
pub(crate) struct ChangeTarget<'a> {
    pub(crate) host: &'a Host,
    pub(crate) lane: i64,
    pub(crate) counting: LaneCounting,
    pub(crate) cause: RemovalCause,
    /// The followed lanes of the comments of changed threads.
    pub(crate) followed: &'a FollowedLanes,
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
    /// The text that came with the change and was written.
    pub(crate) text: Option<&'a WrittenText<'a>>,
    /// The search row of the text that was stored before.
    pub(crate) search_rowid: Option<i64>,
}

impl CellUpdate<'_> {
    fn to_row(&self) -> CellRow<'_> {
        let search_rowid = self.text.and_then(|text| text.search_rowid).or(self.search_rowid);
        let search_rowid = search_rowid.filter(|_| self.cell.is_present());
        CellRow { key: self.key, cell: self.cell, search_rowid }
    }
}

/// Writes cells, publishes the changes that they show, and removes the texts of items that are gone.
///
/// New texts were written before, because their cells contain the ids of their search rows. Texts that are gone are
/// removed last, so that whatever is derived from changes can still read them.
pub(crate) fn apply_cells(
    tx: &mut Transaction<'_>,
    target: ChangeTarget<'_>,
    updates: &[CellUpdate<'_>],
) -> Result<(), StoreError> {
    let ChangeTarget { host, lane, counting, cause, followed } = target;
    for CellUpdate { key, cell, .. } in
        updates.iter().filter(|update| update.change == CellChange::Removed)
    {
        tombstones::remove_dependents(tx, host, *key, cell, cause)?;
    }
    let written = updates.iter().filter(|update| update.change != CellChange::Unchanged);
    cells::store_cells(tx, host, lane, &written.map(CellUpdate::to_row).collect::<Vec<_>>())?;
    let batch = ChangeBatch {
        counted_lane: (counting == LaneCounting::Counted).then_some(lane),
        cause: Some(cause),
        followed: Some(followed),
        ..ChangeBatch::new(host, updates.iter().filter_map(BatchChange::from_update).collect())
    };
    publish(tx, &batch)?;
    let gone = batch.ids_by_kind(|change| change.kind == ItemChangeKind::Removed);
    gone.iter().try_for_each(|(kind, ids)| tombstones::delete_texts(tx, host, *kind, ids))
}

/// Publishes the new name of the texts of a repository.
pub(crate) fn publish_renamed(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    let keys = ids.iter().map(|id| ObjectId { kind, id: *id });
    let changes = keys.map(|key| BatchChange::new(key, ItemChangeKind::Renamed)).collect();
    publish(tx, &ChangeBatch::new(host, changes))
}

/// Forgets items, to be fetched again: deletes their texts and their cells, including tombstones.
///
/// `counted_lane` is the lane whose number of items changes with them.
pub(crate) fn forget_items(
    tx: &mut Transaction<'_>,
    host: &str,
    counted_lane: Option<i64>,
    keys: &[ObjectId],
) -> Result<(), StoreError> {
    let stored = cells::read_cells(tx, host, keys.iter().copied())?;
    // a damaged cell does not show that its item is gone
    let is_gone = |key| stored.cells.get(key).is_some_and(|cell| !cell.is_present());
    let changes = keys
        .iter()
        .filter(|key| !is_gone(key))
        .map(|key| {
            let search_rowid = stored.search_rowids.get(key).copied();
            BatchChange { search_rowid, ..BatchChange::new(*key, ItemChangeKind::Cleared) }
        })
        .collect();
    publish(tx, &ChangeBatch { counted_lane, ..ChangeBatch::new(host, changes) })?;
    for (kind, ids) in ids_by_kind(keys.iter().copied()) {
        tombstones::delete_texts(tx, host, kind, &ids)?;
        cells::delete_cells(tx, host, kind, &ids)?;
    }
    Ok(())
}

/// Derives something from changes.
type ChangeConsumer = fn(&mut Transaction<'_>, &ChangeBatch<'_>) -> Result<(), StoreError>;

/// Everything that is derived from changes, in the order in which it sees them.
const CONSUMERS: [ChangeConsumer; 7] = [
    removed_items::store_removed_items,
    search::update_rows,
    count_lane_items,
    late_threads::request_comment_sweeps,
    comment_queue::update_queue,
    events::derivation::derive_events,
    notify_observer,
];

/// Hands changes to everything that is derived from them.
fn publish(tx: &mut Transaction<'_>, batch: &ChangeBatch<'_>) -> Result<(), StoreError> {
    if batch.changes.is_empty() {
        return Ok(());
    }
    CONSUMERS.iter().try_for_each(|consume| consume(tx, batch))
}

/// Returns the number of items that a lane gains with changes of its cells.
pub(crate) fn gained_items(changes: impl IntoIterator<Item = CellChange>) -> i64 {
    let kinds = changes.into_iter().filter_map(ItemChangeKind::from_cell_change);
    kinds.map(ItemChangeKind::gained_items).sum()
}

fn count_lane_items(tx: &mut Transaction<'_>, batch: &ChangeBatch<'_>) -> Result<(), StoreError> {
    let Some(lane) = batch.counted_lane else { return Ok(()) };
    let gained = batch.changes.iter().map(|change| change.kind.gained_items());
    lanes::object_count::add_objects(tx, lane, gained.sum())
}

fn notify_observer(tx: &mut Transaction<'_>, batch: &ChangeBatch<'_>) -> Result<(), StoreError> {
    let Some(observe) = tx.change_observer() else { return Ok(()) };
    observe(&batch.read_observed(tx)?);
    Ok(())
}
