//! Removes items from the mirror. Their cells stay as tombstones.

use std::collections::BTreeMap;

use hw_rules::cells::{CellChange, ItemCell};
use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::repository_key::{Host, RepositoryKey};
use hw_rules::version::ObservedAt;

use super::{comments, posts, repository_names};
use crate::cells;
use crate::changes::{self, CellUpdate, ChangeTarget, LaneCounting};
use crate::chores::TextBatch;
use crate::error::StoreError;
use crate::lanes::lane_rows::FollowedLanes;
use crate::removed_items::{RemovalCause, RemovalReason};
use crate::sql::params;
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;
use crate::{chores, follows, lanes, quarantine};

/// An item that is gone, with the observation that shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConfirmedAbsence {
    pub(crate) key: ObjectId,
    pub(crate) observed_at: ObservedAt,
}

/// Writes the tombstones of items and removes the texts of those that were present. Returns the number of the latter.
pub(crate) fn tombstone_items(
    tx: &mut Transaction<'_>,
    host: &Host,
    lane: i64,
    gone: &[ConfirmedAbsence],
    cause: RemovalCause,
) -> Result<u64, StoreError> {
    let followed = &FollowedLanes::new();
    let target = ChangeTarget { host, lane, counting: LaneCounting::Counted, cause, followed };
    tombstone_cells(tx, target, gone)
}

/// The number of items whose texts are in memory while they are removed.
const MAX_REMOVED_AT_ONCE: usize = 500;

fn tombstone_cells(
    tx: &mut Transaction<'_>,
    target: ChangeTarget<'_>,
    gone: &[ConfirmedAbsence],
) -> Result<u64, StoreError> {
    let chunks = gone.chunks(MAX_REMOVED_AT_ONCE);
    chunks.map(|gone| tombstone_chunk(tx, target, gone)).sum()
}

fn tombstone_chunk(
    tx: &mut Transaction<'_>,
    target: ChangeTarget<'_>,
    gone: &[ConfirmedAbsence],
) -> Result<u64, StoreError> {
    let host = target.host;
    let stored = cells::read_cells(tx, host, gone.iter().map(|absence| absence.key))?;
    let mut cells = stored.cells.clone();
    for ConfirmedAbsence { key, observed_at } in gone {
        let cell = cells.entry(*key).or_default();
        *cell = cell.add_tombstone(*observed_at);
    }
    let updates: Vec<_> = cells
        .iter()
        .map(|(key, cell)| {
            let before = stored.cells.get(key).cloned().unwrap_or_default();
            let change = CellChange::from_cells(&before, cell);
            let search_rowid = stored.search_rowids.get(key).copied();
            CellUpdate { key: *key, cell, change, text: None, search_rowid }
        })
        .collect();
    changes::apply_cells(tx, target, &updates)?;
    let removed = updates.iter().filter(|update| update.change == CellChange::Removed);
    Ok(removed.count() as u64)
}

/// Tombstones the items of a removed repository, even if they were observed after it: no later pull would check for
/// them. A comment's tombstone has the time of its last observation, so that the next one revives it.
///
/// The lanes were restarted when the repository was removed, and count from zero.
fn tombstone_with_parent(
    tx: &mut Transaction<'_>,
    host: &Host,
    lane: i64,
    gone: &[ConfirmedAbsence],
    cause: RemovalCause,
) -> Result<(), StoreError> {
    let cells = cells::read_cells(tx, host, gone.iter().map(|absence| absence.key))?.cells;
    let gone: Vec<_> = gone
        .iter()
        .map(|absence| {
            let version = cells.get(&absence.key).and_then(|cell| cell.version.as_ref());
            let last_seen = version.map_or(absence.observed_at, |version| version.observed_at);
            let is_comment = absence.key.kind.is_comment();
            let observed_at =
                if is_comment { last_seen } else { absence.observed_at.max(last_seen) };
            ConfirmedAbsence { observed_at, ..*absence }
        })
        .collect();
    let followed = &FollowedLanes::new();
    let target = ChangeTarget { host, lane, counting: LaneCounting::Uncounted, cause, followed };
    tombstone_cells(tx, target, &gone).map(drop)
}

/// Removes what belongs to an item that is gone: the comments of a thread, and what is known of a repository. A chore
/// removes the texts of the repository.
pub(crate) fn remove_dependents(
    tx: &mut Transaction<'_>,
    host: &Host,
    key: ObjectId,
    cell: &ItemCell,
    cause: RemovalCause,
) -> Result<(), StoreError> {
    match key.kind {
        ObjectKind::Repository => {
            abandon_repository(tx, &RepositoryKey::new(host, key.id), cell, cause.reason)
        }
        ObjectKind::Thread(_) => {
            comments::tombstone_thread_comments(tx, host, key, cell, cause.with_root(key))
        }
        ObjectKind::Comment(_) | ObjectKind::Post => Ok(()),
    }
}

/// Deletes texts of one kind. Only [`crate::changes`] does so, after it has published that they are gone.
pub(crate) fn delete_texts(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    const DELETE: KindStatements = of_kind!(
        "delete from",
        "where host = $1 and id in (select value from json_each($2))",
        "where host = $1 and id = any($2)"
    );
    if kind == ObjectKind::Post {
        posts::delete_links(tx, host, ids)?;
    }
    let numbers = repository_names::read_thread_numbers(tx, host, kind, ids)?;
    tx.send_statement(DELETE.for_kind(kind), &params![host, ids])?;
    repository_names::restore_thread_urls(tx, host, kind, &numbers)
}

/// Restarts the lanes of a removed repository, and empties their quarantine. Its texts are hidden from now on, and a
/// chore removes them.
fn abandon_repository(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    cell: &ItemCell,
    reason: RemovalReason,
) -> Result<(), StoreError> {
    if let Some(observed_at) = cell.tombstone {
        chores::request_removal(tx, repository, observed_at, reason)?;
    }
    follows::remove_from_mirror(tx, repository)?;
    quarantine::release_repository(tx, repository)?;
    lanes::restart::restart_repository_lanes(tx, repository)
}

/// A removed repository whose texts are removed, too.
pub(crate) struct RemovedRepository {
    pub(crate) key: RepositoryKey,
    /// The observation that shows that it is gone.
    pub(crate) observed_at: ObservedAt,
    pub(crate) cause: RemovalCause,
}

/// Tombstones the next texts of a repository: its confirmed absence confirms theirs.
pub(crate) fn tombstone_repository_texts(
    tx: &mut Transaction<'_>,
    repository: &RemovedRepository,
    kind: ObjectKind,
    after: i64,
    limit: i64,
) -> Result<TextBatch, StoreError> {
    let RemovedRepository { key, observed_at, cause } = repository;
    let texts = next_texts(tx, key, kind, after, limit)?;
    let ids: Vec<i64> = texts.iter().map(|text| text.id).collect();
    let mut by_lane: BTreeMap<i64, Vec<ConfirmedAbsence>> = BTreeMap::new();
    for LaneText { id, lane } in texts {
        let absence = ConfirmedAbsence { key: ObjectId { kind, id }, observed_at: *observed_at };
        by_lane.entry(lane).or_default().push(absence);
    }
    for (lane, gone) in &by_lane {
        tombstone_with_parent(tx, &key.host, *lane, gone, *cause)?;
    }
    Ok(TextBatch::from_ids(&key.host, &ids, limit))
}

/// The id of a text, with the id of its lane.
struct LaneText {
    id: i64,
    lane: i64,
}

/// Returns the next texts of a repository.
fn next_texts(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    kind: ObjectKind,
    after: i64,
    limit: i64,
) -> Result<Vec<LaneText>, StoreError> {
    const TEXTS: KindStatements = of_kind!(
        "select texts.id, cells.lane_id from",
        "as texts
           join cells on cells.host = texts.host and cells.kind = $1 and cells.id = texts.id
          where texts.host = $2 and texts.repository_id = $3 and $4 < texts.id
          order by texts.id limit $5"
    );
    let params = params![kind.name(), &repository.host, repository.id, after, limit];
    tx.query(TEXTS.for_kind(kind), &params, |mut row| {
        Ok(LaneText { id: row.int("id")?, lane: row.int("lane_id")? })
    })
}
