//! The cells of objects: read before a comparison, written after it, in the same transaction.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::Cell;
use hw_rules::item::{Key, Kind};
use hw_rules::time::{Mark, SourceTime};
use hw_rules::version::{Digest, Seen, Version};

use crate::error::Error;
use crate::sql::{Param, Row, Sql, params};
use crate::tx::Tx;

/// What is held of some objects: their cells, and where their search rows are.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) cells: BTreeMap<Key, Cell>,
    pub(crate) search_rowids: BTreeMap<Key, i64>,
}

impl Held {
    /// Has any version of an object supersede the one that is held.
    pub(crate) fn give_way(&mut self, key: Key) {
        let version = self.cells.get_mut(&key).and_then(|cell| cell.version.as_mut());
        if let Some(version) = version {
            version.ordered_at = Mark::BEGINNING;
        }
    }
}

/// One cell to write.
pub(crate) struct CellRow<'a> {
    pub(crate) key: Key,
    pub(crate) cell: &'a Cell,
    pub(crate) search_rowid: Option<i64>,
}

/// What is held of these objects.
pub(crate) fn held(
    tx: &mut Tx<'_>,
    host: &str,
    keys: impl IntoIterator<Item = Key>,
) -> Result<Held, Error> {
    let mut by_kind: BTreeMap<Kind, Vec<i64>> = BTreeMap::new();
    for key in keys {
        by_kind.entry(key.kind).or_default().push(key.id);
    }
    let mut held = Held::default();
    for (kind, ids) in by_kind {
        held_of_kind(tx, host, kind, &ids, &mut held)?;
    }
    Ok(held)
}

fn held_of_kind(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
    held: &mut Held,
) -> Result<(), Error> {
    const HELD: Sql = Sql::each(
        "select id, updated_at, seen_at_ms, seen_request, digest, gone_at_ms, gone_request,
                updated_at_ms, search_rowid
           from cells
          where host = $1 and kind = $2 and id in (select value from json_each($3))",
        "select id, updated_at, seen_at_ms, seen_request, digest, gone_at_ms, gone_request,
                updated_at_ms, search_rowid
           from cells
          where host = $1 and kind = $2 and id = any($3)",
    );
    // an object whose cell is damaged is read again as if it had never been seen
    let read = |mut row: Row| Ok((row.int(0)?, row.maybe_int(8)?, read(&mut row)?));
    let rows = tx.query_readable(HELD, &params![host, kind.name(), ids], read)?.rows;
    for (id, search_rowid, cell) in rows {
        let key = Key { kind, id };
        held.cells.insert(key, cell);
        held.search_rowids.extend(search_rowid.map(|rowid| (key, rowid)));
    }
    Ok(())
}

/// All cells of a lane, tombstones too.
pub(crate) fn of_lane(tx: &mut Tx<'_>, lane: i64) -> Result<BTreeMap<i64, Cell>, Error> {
    const OF_LANE: Sql = Sql::both(
        "select id, updated_at, seen_at_ms, seen_request, digest, gone_at_ms, gone_request,
                updated_at_ms
           from cells where lane = $1",
    );
    let read = |mut row: Row| Ok((row.int(0)?, read(&mut row)?));
    let rows = tx.query_readable(OF_LANE, &params![lane], read)?.rows;
    Ok(rows.into_iter().collect())
}

/// The next cells of a lane that bear a time later than this, with where their search rows are.
pub(crate) fn beyond(
    tx: &mut Tx<'_>,
    lane: i64,
    latest: Mark,
) -> Result<Vec<(Key, Cell, Option<i64>)>, Error> {
    const BEYOND: Sql = Sql::both(
        "select id, updated_at, seen_at_ms, seen_request, digest, gone_at_ms, gone_request,
                updated_at_ms, search_rowid, kind
           from cells
          where lane = $1 and (updated_at_ms > $2 or seen_at_ms > $2 or gone_at_ms > $2)
          limit 500",
    );
    tx.query(BEYOND, &params![lane, latest.0], |mut row| {
        let (id, search_rowid, name) = (row.int(0)?, row.maybe_int(8)?, row.text(9)?);
        let kind = Kind::named(&name)
            .ok_or_else(|| Error::Damaged(format!("no kind is named {name:?}")))?;
        Ok((Key { kind, id }, read(&mut row)?, search_rowid))
    })
}

/// Which of these objects came by another lane when they were last read.
pub(crate) fn in_other_lanes(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    lane: i64,
    ids: &[i64],
) -> Result<BTreeSet<i64>, Error> {
    const ELSEWHERE: Sql = Sql::each(
        "select id from cells
          where host = $1 and kind = $2 and lane <> $3 and id in (select value from json_each($4))",
        "select id from cells where host = $1 and kind = $2 and lane <> $3 and id = any($4)",
    );
    let rows = tx.query(ELSEWHERE, &params![host, kind.name(), lane, ids], |mut row| row.int(0))?;
    Ok(rows.into_iter().collect())
}

/// How many objects of a lane are there.
pub(crate) fn present_in_lane(tx: &mut Tx<'_>, lane: i64) -> Result<u64, Error> {
    const PRESENT: Sql = Sql::both(
        "select count(*) from cells
          where lane = $1 and updated_at is not null
            and (gone_at_ms is null
                 or (gone_at_ms, gone_request) < (seen_at_ms, seen_request))",
    );
    tx.count(PRESENT, &params![lane])
}

/// Writes cells as the rules left them; the comparison was made in this transaction.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    host: &str,
    lane: i64,
    rows: &[CellRow<'_>],
) -> Result<(), Error> {
    const KEEP: Sql = Sql::both(
        "insert into cells (host, kind, id, lane, updated_at_ms, updated_at, seen_at_ms,
                            seen_request, digest, gone_at_ms, gone_request, search_rowid)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         on conflict (host, kind, id) do update
            set lane = excluded.lane, updated_at_ms = excluded.updated_at_ms,
                updated_at = excluded.updated_at, seen_at_ms = excluded.seen_at_ms,
                seen_request = excluded.seen_request, digest = excluded.digest,
                gone_at_ms = excluded.gone_at_ms, gone_request = excluded.gone_request,
                search_rowid = excluded.search_rowid",
    );
    let rows: Vec<_> = rows.iter().map(|row| values(host, lane, row)).collect();
    tx.execute_each(KEEP, &rows)
}

/// Has the next look at these objects count as an edit, whatever it shows: their texts are not what the
/// source showed.
pub(crate) fn forget_digests(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<(), Error> {
    const FORGET: Sql = Sql::both(
        "update cells set digest = $1
          where host = $2 and kind = $3 and id = $4 and digest is not null",
    );
    const NONE: Digest = Digest([0; 32]);
    let row = |id: &i64| params![NONE.0.as_slice(), host, kind.name(), *id].to_vec();
    let rows: Vec<_> = ids.iter().map(row).collect();
    tx.execute_each(FORGET, &rows)
}

fn values<'a>(host: &'a str, lane: i64, row: &CellRow<'a>) -> Vec<Param<'a>> {
    let version = row.cell.version.as_ref();
    let gone = row.cell.gone;
    params![
        host,
        row.key.kind.name(),
        row.key.id,
        lane,
        version.map(|version| version.ordered_at.0),
        version.map(|version| version.updated_at.as_str()),
        version.map(|version| version.seen.at_ms),
        version.map(|version| version.seen.request),
        version.map(|version| version.digest.0.as_slice()),
        gone.map(|seen| seen.at_ms),
        gone.map(|seen| seen.request),
        row.search_rowid,
    ]
    .to_vec()
}

/// The cell in the columns 1 to 7.
fn read(row: &mut Row) -> Result<Cell, Error> {
    let gone = seen(row.maybe_int(5)?, row.maybe_int(6)?);
    let parts = (row.maybe_text(1)?, seen(row.maybe_int(2)?, row.maybe_int(3)?));
    let digest = row.maybe_bytes(4)?;
    let ((Some(updated_at), Some(seen)), Some(digest)) = (parts, digest) else {
        return Ok(Cell { version: None, gone });
    };
    let updated_at =
        SourceTime::parse(&updated_at).map_err(|e| Error::UnreadableRow(e.to_string()))?;
    let digest = <[u8; 32]>::try_from(digest)
        .map_err(|_| Error::UnreadableRow("a digest of another length".to_owned()))?;
    let ordered_at = row.maybe_int(7)?.map_or(updated_at.mark(), Mark);
    Ok(Cell {
        version: Some(Version { updated_at, ordered_at, seen, digest: Digest(digest) }),
        gone,
    })
}

fn seen(at_ms: Option<i64>, request: Option<i64>) -> Option<Seen> {
    Some(Seen::at(at_ms?, request?))
}
