//! Marks damaged items, so that the next pull reads them again.
//!
//! The stored row stays until the item is read again, because only a single letter of it may be damaged. Its cell is
//! dated back by one second and loses its digest, so the source's current version is newer, while the older text of a
//! lagging replica is not. The item's lane is swept, and the sweep reads every item that is newer at the source.

use hw_rules::item::{ObjectId, ObjectKey, ObjectKind};
use hw_rules::lane::Surface;
use hw_rules::source_time::SourceInstant;

use crate::cells;
use crate::changes;
use crate::error::StoreError;
use crate::search;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::verification::{DamagedItem, DamagedRowKind, REREAD_DIGEST};
use crate::{LeasedStore, StoreReader};

const MARK: TransactionStep = step!("mark damaged");
const REMOVE_STRAY_ROWS: TransactionStep = step!("remove stray search rows");

impl StoreReader {
    /// Counts the damaged items that are waiting to be read again.
    pub fn count_waiting_repairs(&self) -> Result<u64, StoreError> {
        const COUNT_WAITING: Sql = Sql::portable(
            "select count(*) as matching from cells
              where digest = $1 and kind <> 'repository'
                and (tombstone_at_ms is null
                     or (tombstone_at_ms, tombstone_request) < (observed_at_ms, observed_request))",
        );
        self.read("repairs", |tx| {
            tx.query_count(COUNT_WAITING, &params![REREAD_DIGEST.0.as_slice()])
        })
    }
}

impl LeasedStore {
    /// Schedules these items to be read again, and removes rows that belong to no item.
    pub fn mark_damaged(&self, damaged: &[DamagedItem], now_ms: i64) -> Result<(), StoreError> {
        if damaged.is_empty() {
            return Ok(());
        }
        self.write_with_lease(MARK, |tx| {
            damaged.iter().try_for_each(|item| mark_item(tx, item, now_ms))
        })
    }

    /// Removes search rows that belong to no item. Such a row can block the row of an item that is read again.
    ///
    /// A cell whose kind is damaged belongs to no item, either. A sweep would take it for the item itself.
    pub fn remove_stray_search_rows(&self) -> Result<(), StoreError> {
        const STRAY: Sql = Sql::portable(
            "select rowid from search_documents
              where rowid not in (select search_rowid from cells where search_rowid is not null)
             union
             select rowid from search
              where rowid not in (select search_rowid from cells where search_rowid is not null)",
        );
        const STRAY_CELLS: Sql = Sql::portable(
            "delete from cells
              where kind not in ('repository', 'discussion', 'issue', 'pull_request', 'issue_comment',
                                 'review_comment', 'review', 'discussion_comment', 'post')",
        );
        self.write_with_lease(REMOVE_STRAY_ROWS, |tx| {
            tx.execute(STRAY_CELLS, &[])?;
            let stray = tx.query(STRAY, &[], |mut row| row.int("rowid"))?;
            search::remove_rows(tx, &stray)
        })
    }
}

fn mark_item(tx: &mut Transaction<'_>, item: &DamagedItem, now_ms: i64) -> Result<(), StoreError> {
    match (item.row_kind, item.key()) {
        (DamagedRowKind::Stray { rowid: Some(rowid) }, _) => {
            remove_stray_row(tx, item.kind, rowid, now_ms)
        }
        (DamagedRowKind::Stray { rowid: None }, Some(ObjectKey { host, kind, id })) => {
            sweep_surface(tx, kind, None, now_ms)?;
            changes::forget_items(tx, &host, None, &[ObjectId { kind, id }])
        }
        (DamagedRowKind::Replaceable, Some(key)) => schedule_reread(tx, &key, now_ms),
        (DamagedRowKind::Stray { rowid: None } | DamagedRowKind::Replaceable, None) => Ok(()),
    }
}

/// Removes a row whose key cannot be trusted, and makes a sweep of its list due: a sweep reads unknown items, and this
/// one is unknown after the removal. Only SQLite has such rows.
fn remove_stray_row(
    tx: &mut Transaction<'_>,
    kind: ObjectKind,
    rowid: i64,
    now_ms: i64,
) -> Result<(), StoreError> {
    const REPOSITORY_ID: KindStatements =
        of_kind!("select repository_id from", "where rowid = $1", "where false and id = $1");
    const REMOVE: KindStatements =
        of_kind!("delete from", "where rowid = $1", "where false and id = $1");
    if kind != ObjectKind::Repository {
        let repository_id =
            tx.query_first(REPOSITORY_ID.for_kind(kind), &params![rowid], |mut row| {
                row.maybe_int("repository_id")
            });
        sweep_surface(tx, kind, repository_id.ok().flatten().flatten(), now_ms)?;
    }
    tx.send_statement(REMOVE.for_kind(kind), &params![rowid])
}

/// Makes a sweep of a repository's list due, or of the lists of all repositories if it is unknown.
fn sweep_surface(
    tx: &mut Transaction<'_>,
    kind: ObjectKind,
    repository_id: Option<i64>,
    now_ms: i64,
) -> Result<(), StoreError> {
    const ONE: Sql = Sql::portable(
        "update lanes set sweep_due_ms = $1, due_ms = 0 where surface = $2 and repository_id = $3",
    );
    const ALL: Sql =
        Sql::portable("update lanes set sweep_due_ms = $1, due_ms = 0 where surface = $2");
    let surface = Surface::ALL.into_iter().find(|surface| surface.kind() == kind);
    let Some(surface) = surface.filter(|surface| *surface != Surface::Repositories) else {
        return Ok(());
    };
    let swept = match repository_id {
        Some(id) => tx.execute(ONE, &params![now_ms, surface.name(), id])?,
        None => 0,
    };
    if swept == 0 {
        tx.send_statement(ALL, &params![now_ms, surface.name()])?;
    }
    Ok(())
}

/// Forgets the items that wait to be read again, have no text, and are not listed by a complete sweep: their keys were
/// damaged, the source does not know them, and no lookup by id could confirm them gone.
pub(crate) fn forget_unlisted(
    tx: &mut Transaction<'_>,
    lane: i64,
    kind: ObjectKind,
) -> Result<(), StoreError> {
    const UNLISTED: KindStatements = of_kind!(
        "select cells.id, cells.host from cells left join",
        "as texts on texts.host = cells.host and texts.id = cells.id
          where cells.lane_id = $1 and cells.kind = $2 and cells.digest = $3 and texts.id is null
            and not exists (select 1 from sweep_inventory join lanes on lanes.id = sweep_inventory.lane_id
                             where sweep_inventory.lane_id = cells.lane_id and sweep_inventory.id = cells.id
                               and lanes.host = cells.host)"
    );
    let params = params![lane, kind.name(), REREAD_DIGEST.0.as_slice()];
    let unlisted = tx.query(UNLISTED.for_kind(kind), &params, |mut row| {
        Ok((row.text("host")?, ObjectId { kind, id: row.int("id")? }))
    })?;
    for (host, key) in &unlisted {
        changes::forget_items(tx, host, Some(lane), &[*key])?;
    }
    Ok(())
}

/// Makes a sweep of the list due that an item was read from.
fn sweep_lane(tx: &mut Transaction<'_>, key: &ObjectKey, now_ms: i64) -> Result<(), StoreError> {
    const SWEEP: Sql = Sql::portable(
        "update lanes set sweep_due_ms = $1, due_ms = 0
          where id = (select lane_id from cells where host = $2 and kind = $3 and id = $4)
            and surface <> 'repositories'",
    );
    tx.send_statement(SWEEP, &params![now_ms, &key.host, key.kind.name(), key.id])
}

fn schedule_reread(
    tx: &mut Transaction<'_>,
    key: &ObjectKey,
    now_ms: i64,
) -> Result<(), StoreError> {
    const BACKDATE_CELL: Sql = Sql::portable(
        "update cells set digest = $1, updated_at = $2, updated_at_ms = $3
          where host = $4 and kind = $5 and id = $6",
    );
    let id = key.object_id();
    let stored = cells::read_cells(tx, &key.host, [id])?;
    let version = stored.cells.get(&id).and_then(|cell| cell.version.as_ref());
    let before = version.map_or(SourceInstant(0), |version| match key.kind {
        ObjectKind::Repository => version.updated_at.instant(),
        // a post has one time for all of its versions, and the one that is read last wins
        ObjectKind::Post => version.updated_at.instant(),
        ObjectKind::Thread(_) | ObjectKind::Comment(_) => {
            version.updated_at.instant().minus_ms(1_000)
        }
    });
    let text = before.to_string();
    let digest = REREAD_DIGEST.0.as_slice();
    tx.send_statement(
        BACKDATE_CELL,
        &params![digest, &text, before.0, &key.host, key.kind.name(), key.id],
    )?;
    sweep_lane(tx, key, now_ms)
}
