//! Marks damaged objects, so that the next pull reads them again.
//!
//! The stored row stays until the source has shown the object again: it may be damaged in a single letter. Its cell goes
//! back by one second and forgets the digest, so that the version the source still has is newer, while a lagging
//! replica's older text is not; and the object's lane is swept, which reads what is newer there than here.

use hw_rules::item::{Key, Kind};
use hw_rules::lane::Surface;
use hw_rules::time::Mark;

use crate::Store;
use crate::cells;
use crate::error::Error;
use crate::lanes;
use crate::leases::Lease;
use crate::mirror::removal;
use crate::search;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::{Step, Tx, step};
use crate::verify::{DamagedItem, StoredRow, WAITING};

const MARK: Step = step!("mark damaged");
const REMOVE_STRAY_ROWS: Step = step!("remove stray search rows");

impl Store {
    /// Has these objects be read again, and removes rows that nothing claims.
    pub fn mark_damaged(
        &self,
        lease: &Lease,
        damaged: &[DamagedItem],
        now_ms: i64,
    ) -> Result<(), Error> {
        if damaged.is_empty() {
            return Ok(());
        }
        self.write_for(lease, MARK, |tx| damaged.iter().try_for_each(|item| mark(tx, item, now_ms)))
    }

    /// Removes search rows that no object claims. One can stand where the row of an object that is read again belongs.
    pub fn remove_stray_search_rows(&self, lease: &Lease) -> Result<(), Error> {
        const STRAY: Sql = Sql::both(
            "select rowid from search_places
              where rowid not in (select search_rowid from cells where search_rowid is not null)
             union
             select rowid from search
              where rowid not in (select search_rowid from cells where search_rowid is not null)",
        );
        self.write_for(lease, REMOVE_STRAY_ROWS, |tx| {
            let stray = tx.query(STRAY, &[], |mut row| row.int(0))?;
            search::remove(tx, &stray)
        })
    }

    /// How many damaged objects wait to be read again.
    pub fn count_waiting_repairs(&self) -> Result<u64, Error> {
        const WAIT: Sql = Sql::both(
            "select count(*) from cells
              where digest = $1 and kind <> 'repository'
                and (gone_at_ms is null
                     or (gone_at_ms, gone_request) < (seen_at_ms, seen_request))",
        );
        self.read("repairs", |tx| tx.count(WAIT, &params![WAITING.0.as_slice()]))
    }
}

fn mark(tx: &mut Tx<'_>, item: &DamagedItem, now_ms: i64) -> Result<(), Error> {
    let key = item.id.map(|id| Key { kind: item.kind, id });
    match (item.row, &item.host, key) {
        (StoredRow::Stray { rowid: Some(rowid) }, ..) => remove_row(tx, item.kind, rowid, now_ms),
        (StoredRow::Stray { rowid: None }, Some(host), Some(key)) => {
            sweep_surface(tx, key.kind, None, now_ms)?;
            removal::remove_texts(tx, host, key.kind, &[key.id]).map(drop)
        }
        (StoredRow::Replaceable, Some(host), Some(key)) => reread(tx, host, key, now_ms),
        _ => Ok(()),
    }
}

/// SQLite alone: removes a row whose key cannot be trusted, and has the list it came from swept. The object is unknown
/// from now on, and a sweep reads what is unknown.
fn remove_row(tx: &mut Tx<'_>, kind: Kind, rowid: i64, now_ms: i64) -> Result<(), Error> {
    const HOME: OfKind =
        of_kind!("select repository_id from", "where rowid = $1", "where false and id = $1");
    const REMOVE: OfKind = of_kind!("delete from", "where rowid = $1", "where false and id = $1");
    if kind != Kind::Repository {
        let home = tx.first(HOME.of(kind), &params![rowid], |mut row| row.maybe_int(0));
        sweep_surface(tx, kind, home.ok().flatten().flatten(), now_ms)?;
    }
    tx.execute(REMOVE.of(kind), &params![rowid]).map(drop)
}

/// Has the list of a repository swept; those of all where it is not known.
fn sweep_surface(
    tx: &mut Tx<'_>,
    kind: Kind,
    repository_id: Option<i64>,
    now_ms: i64,
) -> Result<(), Error> {
    const ONE: Sql = Sql::both(
        "update lanes set sweep_due_ms = $1, due_ms = 0 where surface = $2 and repository_id = $3",
    );
    const ALL: Sql = Sql::both("update lanes set sweep_due_ms = $1, due_ms = 0 where surface = $2");
    let surface = Surface::ALL.into_iter().find(|it| it.kind() == kind);
    let Some(surface) = surface.filter(|it| *it != Surface::Repositories) else { return Ok(()) };
    let swept = match repository_id {
        Some(id) => tx.execute(ONE, &params![now_ms, surface.name(), id])?,
        None => 0,
    };
    if swept == 0 {
        tx.execute(ALL, &params![now_ms, surface.name()])?;
    }
    Ok(())
}

/// Forgets what waits to be read again, has no text, and is in no row of a complete sweep: its key was damaged, no source
/// has ever heard of it, and no look by id could confirm that it is gone.
pub(crate) fn forget_unlisted(tx: &mut Tx<'_>, lane: i64, kind: Kind) -> Result<(), Error> {
    const UNLISTED: OfKind = of_kind!(
        "select cells.id, cells.host, cells.search_rowid from cells left join",
        "as texts on texts.host = cells.host and texts.id = cells.id
          where cells.lane = $1 and cells.kind = $2 and cells.digest = $3 and texts.id is null
            and not exists (select 1 from sweep_rows join lanes on lanes.id = sweep_rows.lane
                             where sweep_rows.lane = cells.lane and sweep_rows.id = cells.id
                               and lanes.host = cells.host)"
    );
    const FORGET: Sql = Sql::both("delete from cells where host = $1 and kind = $2 and id = $3");
    let read = |mut row: Row| Ok((row.int(0)?, row.text(1)?, row.maybe_int(2)?));
    let unlisted =
        tx.query(UNLISTED.of(kind), &params![lane, kind.name(), WAITING.0.as_slice()], read)?;
    let rowids: Vec<i64> = unlisted.iter().filter_map(|(.., rowid)| *rowid).collect();
    search::remove(tx, &rowids)?;
    for (id, host, _) in &unlisted {
        tx.execute(FORGET, &params![host, kind.name(), *id])?;
    }
    lanes::stored::count(tx, lane, -i64::try_from(unlisted.len()).unwrap_or(0))
}

/// Has the list that an object was read from swept.
fn sweep_lane(tx: &mut Tx<'_>, host: &str, key: Key, now_ms: i64) -> Result<(), Error> {
    const SWEEP: Sql = Sql::both(
        "update lanes set sweep_due_ms = $1, due_ms = 0
          where id = (select lane from cells where host = $2 and kind = $3 and id = $4)
            and surface <> 'repositories'",
    );
    tx.execute(SWEEP, &params![now_ms, host, key.kind.name(), key.id]).map(drop)
}

fn reread(tx: &mut Tx<'_>, host: &str, key: Key, now_ms: i64) -> Result<(), Error> {
    const BACK: Sql = Sql::both(
        "update cells set digest = $1, updated_at = $2, updated_at_ms = $3
          where host = $4 and kind = $5 and id = $6",
    );
    let held = cells::held(tx, host, [key])?;
    let version = held.cells.get(&key).and_then(|cell| cell.version.as_ref());
    let before = version.map_or(Mark(0), |version| version.updated_at.mark().minus(1_000));
    let before = if key.kind == Kind::Repository {
        version.map_or(Mark(0), |version| version.updated_at.mark())
    } else {
        before
    };
    let text = before.to_string();
    let digest = WAITING.0.as_slice();
    tx.execute(BACK, &params![digest, &text, before.0, host, key.kind.name(), key.id])?;
    sweep_lane(tx, host, key, now_ms)
}
