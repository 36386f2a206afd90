//! What is gone leaves the mirror; its cell stays as a tombstone.

use std::collections::BTreeMap;

use hw_rules::cells::{Cell, Change};
use hw_rules::item::{Key, Kind};
use hw_rules::version::Seen;

use super::{comments, names};
use crate::cells::{self, CellRow};
use crate::error::Error;
use crate::removed_items::{self, Cause};
use crate::sql::{Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;
use crate::{lanes, quarantine, search, talks};

/// Buries objects; writes their tombstones and removes the texts of those that were there.
///
/// Tells how many that were.
pub(crate) fn bury(
    tx: &mut Tx<'_>,
    host: &str,
    lane: i64,
    gone: &[(Key, Seen)],
    cause: Cause,
) -> Result<u64, Error> {
    let held = cells::held(tx, host, gone.iter().map(|(key, _)| *key))?;
    let buried: BTreeMap<Key, Cell> =
        gone.iter().fold(held.cells.clone(), |mut cells, (key, seen)| {
            let cell = cells.entry(*key).or_default();
            *cell = cell.bury(*seen);
            cells
        });
    let before = |key: &Key| held.cells.get(key).cloned().unwrap_or_default();
    let removed: Vec<_> = buried
        .iter()
        .filter(|(key, cell)| Change::between(&before(key), cell) == Change::Removed)
        .map(|(key, cell)| (*key, cell))
        .collect();
    let count = removed.len() as u64;
    remove(tx, host, removed, cause)?;
    let rows: Vec<_> = buried
        .iter()
        .map(|(key, cell)| CellRow {
            key: *key,
            cell,
            search_rowid: held.search_rowids.get(key).copied().filter(|_| cell.is_present()),
        })
        .collect();
    cells::keep(tx, host, lane, &rows)?;
    lanes::stored::count(tx, lane, -i64::try_from(count).unwrap_or(0))?;
    Ok(count)
}

/// Buries what goes with the repository that holds it, whichever of them was seen last: nobody
/// would ever look for it again.
fn bury_with_parent(
    tx: &mut Tx<'_>,
    host: &str,
    lane: i64,
    gone: &[(Key, Seen)],
    cause: Cause,
) -> Result<(), Error> {
    let held = cells::held(tx, host, gone.iter().map(|(key, _)| *key))?.cells;
    let last_seen = |key: &Key| Some(held.get(key)?.version.as_ref()?.seen);
    let gone: Vec<_> = gone
        .iter()
        .map(|(key, seen)| (*key, last_seen(key).map_or(*seen, |last| last.max(*seen))))
        .collect();
    bury(tx, host, lane, &gone, cause).map(drop)
}

/// Removes texts and search rows; a repository takes its threads with it, a thread what was said in it. All of
/// it is stored for a restore first.
pub(crate) fn remove<'a>(
    tx: &mut Tx<'_>,
    host: &str,
    gone: impl IntoIterator<Item = (Key, &'a Cell)>,
    cause: Cause,
) -> Result<(), Error> {
    let mut texts: BTreeMap<Kind, BTreeMap<i64, &Cell>> = BTreeMap::new();
    for (key, cell) in gone {
        match key.kind {
            Kind::Repository => {
                removed_items::store(tx, host, key.kind, &[(key.id, cell)].into(), cause)?;
                remove_repository(tx, host, key.id, cell, cause.with(key))?;
            }
            Kind::Discussion | Kind::Issue | Kind::PullRequest => {
                comments::bury_with(tx, host, key, cell, cause.with(key))?;
                texts.entry(key.kind).or_default().insert(key.id, cell);
            }
            Kind::IssueComment | Kind::ReviewComment | Kind::Review | Kind::DiscussionComment => {
                texts.entry(key.kind).or_default().insert(key.id, cell);
            }
        }
    }
    for (kind, cells) in texts {
        removed_items::store(tx, host, kind, &cells, cause)?;
        let ids: Vec<i64> = cells.into_keys().collect();
        remove_texts(tx, host, kind, &ids)?;
    }
    Ok(())
}

/// Removes rows of one kind with their search rows, and nothing that hangs on them; tells how many.
pub(crate) fn remove_texts(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<u64, Error> {
    const REMOVE: OfKind = of_kind!(
        "delete from",
        "where host = $1 and id in (select value from json_each($2))",
        "where host = $1 and id = any($2)"
    );
    const ROWIDS: Sql = Sql::each(
        "select search_rowid from cells
          where host = $1 and kind = $2 and search_rowid is not null
            and id in (select value from json_each($3))",
        "select search_rowid from cells
          where host = $1 and kind = $2 and search_rowid is not null and id = any($3)",
    );
    let rowids = tx.query(ROWIDS, &params![host, kind.name(), ids], |mut row| row.int(0))?;
    search::remove(tx, &rowids)?;
    talks::forget(tx, host, kind, ids)?;
    let places = names::places_of(tx, host, kind, ids)?;
    let removed = tx.execute(REMOVE.of(kind), &params![host, ids])?;
    names::give_back_urls(tx, host, kind, &places)?;
    Ok(removed)
}

/// Removes a repository with its texts; its lanes start over, and wait for nothing.
fn remove_repository(
    tx: &mut Tx<'_>,
    host: &str,
    id: i64,
    cell: &Cell,
    cause: Cause,
) -> Result<(), Error> {
    if let Some(seen) = cell.gone {
        for kind in Kind::TEXTS {
            bury_texts_of(tx, host, id, kind, seen, cause)?;
        }
    }
    quarantine::release_repository(tx, host, id)?;
    lanes::fresh::forget(tx, host, id)?;
    remove_texts(tx, host, Kind::Repository, &[id]).map(drop)
}

/// How many texts are buried at a time.
const BURY: i64 = 500;

/// A repository that was confirmed gone is a look at each of its texts, too.
///
/// However many they are, they go in one transaction with their repository; a few hundred at a time are
/// held in memory.
fn bury_texts_of(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    kind: Kind,
    seen: Seen,
    cause: Cause,
) -> Result<(), Error> {
    let mut after = i64::MIN;
    loop {
        let texts = next_texts(tx, host, repository_id, kind, after)?;
        let Some((last, _)) = texts.last() else { return Ok(()) };
        after = *last;
        let mut by_lane: BTreeMap<i64, Vec<(Key, Seen)>> = BTreeMap::new();
        for (id, lane) in texts {
            by_lane.entry(lane).or_default().push((Key { kind, id }, seen));
        }
        by_lane
            .iter()
            .try_for_each(|(lane, gone)| bury_with_parent(tx, host, *lane, gone, cause))?;
    }
}

/// The next texts of a repository, each with its lane.
fn next_texts(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    kind: Kind,
    after: i64,
) -> Result<Vec<(i64, i64)>, Error> {
    const TEXTS: OfKind = of_kind!(
        "select texts.id, cells.lane from",
        "as texts
           join cells on cells.host = texts.host and cells.kind = $1 and cells.id = texts.id
          where texts.host = $2 and texts.repository_id = $3 and $4 < texts.id
          order by texts.id limit $5"
    );
    let params = params![kind.name(), host, repository_id, after, BURY];
    tx.query(TEXTS.of(kind), &params, |mut row| Ok((row.int(0)?, row.int(1)?)))
}
