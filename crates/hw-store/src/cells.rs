//! Reads and writes the cells of items. A comparison reads them and writes them back in the same transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use hw_rules::cells::ItemCell;
use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::source_time::{SourceInstant, SourceTime};
use hw_rules::version::{ContentDigest, ItemVersion, ObservedAt};

use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Sql, SqlParam, SqlRow, params};
use crate::transaction::Transaction;
use crate::views::skipped_rows::SkippedRows;

/// The cells of some items, and the rowids of their search rows.
#[derive(Default)]
pub(crate) struct StoredCells {
    pub(crate) cells: BTreeMap<ObjectId, ItemCell>,
    pub(crate) search_rowids: BTreeMap<ObjectId, i64>,
}

impl StoredCells {
    /// Lets any version of an item replace the stored one.
    pub(crate) fn accept_any_version(&mut self, key: ObjectId) {
        let version = self.cells.get_mut(&key).and_then(|cell| cell.version.as_mut());
        if let Some(version) = version {
            version.ordered_at = SourceInstant::BEGINNING;
        }
    }
}

/// One cell to write.
pub(crate) struct CellRow<'a> {
    pub(crate) key: ObjectId,
    pub(crate) cell: &'a ItemCell,
    pub(crate) search_rowid: Option<i64>,
}

/// A stored cell.
pub(crate) struct StoredCell {
    pub(crate) key: ObjectId,
    pub(crate) cell: ItemCell,
    pub(crate) search_rowid: Option<i64>,
}

impl StoredCell {
    pub(crate) fn as_row(&self) -> CellRow<'_> {
        CellRow { key: self.key, cell: &self.cell, search_rowid: self.search_rowid }
    }
}

/// Reads the cells of these items.
pub(crate) fn read_cells(
    tx: &mut Transaction<'_>,
    host: &str,
    keys: impl IntoIterator<Item = ObjectId>,
) -> Result<StoredCells, StoreError> {
    PendingCells::send(tx, host, keys)?.read(tx)
}

/// Cells that were requested, by kind.
pub(crate) struct PendingCells(Vec<(ObjectKind, PendingRows)>);

impl PendingCells {
    pub(crate) fn send(
        tx: &mut Transaction<'_>,
        host: &str,
        keys: impl IntoIterator<Item = ObjectId>,
    ) -> Result<Self, StoreError> {
        const SELECT_CELLS: Sql = Sql::per_dialect(
            "select id, updated_at, observed_at_ms, observed_request, digest, tombstone_at_ms, tombstone_request,
                    updated_at_ms, search_rowid
               from cells
              where id in (select value from json_each($1)) and host = $2 and kind = $3",
            // one key at a time: for `any`, a server without statistics reads all cells of the kind
            "select found.* from unnest($1::bigint[]) as wanted (key)
               cross join lateral
                    (select id, updated_at, observed_at_ms, observed_request, digest, tombstone_at_ms,
                            tombstone_request, updated_at_ms, search_rowid
                       from cells where host = $2 and kind = $3 and id = wanted.key limit 1) as found",
        );
        let mut by_kind: BTreeMap<ObjectKind, Vec<i64>> = BTreeMap::new();
        for key in keys {
            by_kind.entry(key.kind).or_default().push(key.id);
        }
        let sent = by_kind.into_iter().map(|(kind, ids)| {
            let params = params![ids.as_slice(), host, kind.name()];
            Ok((kind, tx.send_query(SELECT_CELLS, &params)?))
        });
        Ok(Self(sent.collect::<Result<_, StoreError>>()?))
    }

    /// Returns the cells. An item whose cell is damaged has only its search row, and is read again as if it were new.
    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<StoredCells, StoreError> {
        let mut stored = StoredCells::default();
        for (kind, rows) in self.0 {
            let readable = tx.read_pending_readable(rows, |mut row| {
                let key = ObjectId { kind, id: row.int("id")? };
                Ok((key, row.maybe_int("search_rowid")?, read_cell(&mut row)))
            })?;
            for (key, search_rowid, cell) in readable.rows {
                stored.search_rowids.extend(search_rowid.map(|rowid| (key, rowid)));
                let cell = SkippedRows::default().skip_unreadable(cell)?;
                stored.cells.extend(cell.map(|cell| (key, cell)));
            }
        }
        Ok(stored)
    }
}

/// Reads the cells of a lane within a range of ids, including tombstones. A cell of another kind is damaged: its item is
/// missing.
pub(crate) fn read_lane_cells(
    tx: &mut Transaction<'_>,
    lane: i64,
    kind: ObjectKind,
    ids: &RangeInclusive<i64>,
) -> Result<BTreeMap<i64, ItemCell>, StoreError> {
    const OF_LANE: Sql = Sql::portable(
        "select id, updated_at, observed_at_ms, observed_request, digest, tombstone_at_ms, tombstone_request,
                updated_at_ms
           from cells where lane_id = $1 and $2 <= id and id <= $3 and kind = $4",
    );
    let params = params![lane, *ids.start(), *ids.end(), kind.name()];
    let readable =
        tx.query_readable(OF_LANE, &params, |mut row| Ok((row.int("id")?, read_cell(&mut row)?)))?;
    Ok(readable.rows.into_iter().collect())
}

/// Reads the next cells of a lane that contain a time later than `latest`.
pub(crate) fn read_cells_beyond(
    tx: &mut Transaction<'_>,
    lane: i64,
    latest: SourceInstant,
) -> Result<Vec<StoredCell>, StoreError> {
    const BEYOND: Sql = Sql::portable(
        "select id, updated_at, observed_at_ms, observed_request, digest, tombstone_at_ms, tombstone_request,
                updated_at_ms, search_rowid, kind
           from cells
          where lane_id = $1 and (updated_at_ms > $2 or observed_at_ms > $2 or tombstone_at_ms > $2)
          limit 500",
    );
    tx.query(BEYOND, &params![lane, latest.0], |mut row| {
        let (id, search_rowid, name) =
            (row.int("id")?, row.maybe_int("search_rowid")?, row.text("kind")?);
        let kind = ObjectKind::from_name(&name)
            .ok_or_else(|| StoreError::Damaged(format!("unknown kind {name:?}")))?;
        Ok(StoredCell { key: ObjectId { kind, id }, cell: read_cell(&mut row)?, search_rowid })
    })
}

/// Returns those of these items that were last read through another lane.
pub(crate) fn ids_in_other_lanes(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    lane: i64,
    ids: &[i64],
) -> Result<BTreeSet<i64>, StoreError> {
    const ELSEWHERE: Sql = Sql::per_dialect(
        "select id from cells
          where host = $1 and kind = $2 and lane_id <> $3 and id in (select value from json_each($4))",
        "select id from cells where host = $1 and kind = $2 and lane_id <> $3 and id = any($4)",
    );
    let rows =
        tx.query(ELSEWHERE, &params![host, kind.name(), lane, ids], |mut row| row.int("id"))?;
    Ok(rows.into_iter().collect())
}

/// Counts the items of a lane that are present.
pub(crate) fn count_present(tx: &mut Transaction<'_>, lane: i64) -> Result<u64, StoreError> {
    const PRESENT: Sql = Sql::portable(
        "select count(*) as matching from cells
          where lane_id = $1 and updated_at is not null
            and (tombstone_at_ms is null
                 or (tombstone_at_ms, tombstone_request) < (observed_at_ms, observed_request))",
    );
    tx.query_count(PRESENT, &params![lane])
}

macro_rules! upsert_cells {
    ($rows:literal) => {
        concat!(
            "insert into cells (host, kind, id, lane_id, updated_at_ms, updated_at, observed_at_ms,
                                observed_request, digest, tombstone_at_ms, tombstone_request, search_rowid) ",
            $rows,
            " on conflict (host, kind, id) do update
                 set lane_id = excluded.lane_id, updated_at_ms = excluded.updated_at_ms,
                     updated_at = excluded.updated_at, observed_at_ms = excluded.observed_at_ms,
                     observed_request = excluded.observed_request, digest = excluded.digest,
                     tombstone_at_ms = excluded.tombstone_at_ms,
                     tombstone_request = excluded.tombstone_request,
                     search_rowid = excluded.search_rowid",
        )
    };
}

/// Writes cells without comparing them: the rules did that in this transaction. Only [`crate::changes`] writes cells whose
/// items change, because everything derived from them has to see the change.
pub(crate) fn store_cells(
    tx: &mut Transaction<'_>,
    host: &str,
    lane: i64,
    rows: &[CellRow<'_>],
) -> Result<(), StoreError> {
    const UPSERT: Sql = Sql::per_dialect(
        upsert_cells!("values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"),
        upsert_cells!(
            "select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
                                  $6::text[], $7::bigint[], $8::bigint[], $9::bytea[], $10::bigint[],
                                  $11::bigint[], $12::bigint[])"
        ),
    );
    let rows: Vec<_> = rows.iter().map(|row| cell_params(host, lane, row)).collect();
    tx.insert_rows(UPSERT, &rows)
}

/// Deletes the cells of items that are forgotten.
pub(crate) fn delete_cells(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    const DELETE: Sql = Sql::per_dialect(
        "delete from cells
          where host = $1 and kind = $2 and id in (select value from json_each($3))",
        "delete from cells where host = $1 and kind = $2 and id = any($3)",
    );
    tx.send_statement(DELETE, &params![host, kind.name(), ids])
}

/// Makes the next observation of these items count as an edit: their stored texts differ from the observed ones.
pub(crate) fn forget_digests(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    const FORGET: Sql = Sql::portable(
        "update cells set digest = $1
          where host = $2 and kind = $3 and id = $4 and digest is not null",
    );
    const NO_DIGEST: ContentDigest = ContentDigest([0; 32]);
    let rows: Vec<_> = ids
        .iter()
        .map(|id| params![NO_DIGEST.0.as_slice(), host, kind.name(), *id].to_vec())
        .collect();
    tx.execute_each(FORGET, &rows)
}

fn cell_params<'a>(host: &'a str, lane: i64, row: &CellRow<'a>) -> Vec<SqlParam<'a>> {
    let version = row.cell.version.as_ref();
    let tombstone = row.cell.tombstone;
    params![
        host,
        row.key.kind.name(),
        row.key.id,
        lane,
        version.map(|version| version.ordered_at.0),
        version.map(|version| version.updated_at.as_str()),
        version.map(|version| version.observed_at.at_ms),
        version.map(|version| version.observed_at.request),
        version.map(|version| version.digest.0.as_slice()),
        tombstone.map(|observed| observed.at_ms),
        tombstone.map(|observed| observed.request),
        row.search_rowid,
    ]
    .to_vec()
}

pub(crate) fn read_cell(row: &mut SqlRow) -> Result<ItemCell, StoreError> {
    let tombstone =
        read_observed_at(row.maybe_int("tombstone_at_ms")?, row.maybe_int("tombstone_request")?);
    let observed_at =
        read_observed_at(row.maybe_int("observed_at_ms")?, row.maybe_int("observed_request")?);
    let (updated_at, digest) = (row.maybe_text("updated_at")?, row.maybe_bytes("digest")?);
    let (Some(updated_at), Some(observed_at), Some(digest)) = (updated_at, observed_at, digest)
    else {
        return Ok(ItemCell { version: None, tombstone });
    };
    let updated_at =
        SourceTime::parse(&updated_at).map_err(|e| StoreError::UnreadableRow(e.to_string()))?;
    let digest = <[u8; 32]>::try_from(digest)
        .map_err(|_| StoreError::UnreadableRow("a digest with the wrong length".to_owned()))?;
    let ordered_at = row.maybe_int("updated_at_ms")?.map_or(updated_at.instant(), SourceInstant);
    Ok(ItemCell {
        version: Some(ItemVersion {
            updated_at,
            ordered_at,
            observed_at,
            digest: ContentDigest(digest),
        }),
        tombstone,
    })
}

fn read_observed_at(at_ms: Option<i64>, request: Option<i64>) -> Option<ObservedAt> {
    Some(ObservedAt::new(at_ms?, request?))
}
