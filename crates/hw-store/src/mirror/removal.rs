//! What is gone leaves the mirror; its cell stays as a tombstone.

use std::collections::BTreeMap;

use hw_rules::cells::{Cell, Change};
use hw_rules::item::{Key, Kind};
use hw_rules::version::Seen;

use crate::cells::{self, CellRow};
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;
use crate::{lanes, search};

/// Buries objects; writes their tombstones and removes the texts of those that were there.
///
/// Tells how many that were.
pub(crate) fn bury(
    tx: &mut Tx<'_>,
    host: &str,
    lane: i64,
    gone: &[(Key, Seen)],
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
    remove(tx, host, removed)?;
    let rows: Vec<_> = buried
        .iter()
        .map(|(key, cell)| CellRow {
            key: *key,
            cell,
            search_rowid: held.search_rowids.get(key).copied().filter(|_| cell.is_present()),
        })
        .collect();
    cells::keep(tx, host, lane, &rows)?;
    Ok(count)
}

/// Removes texts and search rows; a repository takes its issues with it.
pub(crate) fn remove<'a>(
    tx: &mut Tx<'_>,
    host: &str,
    gone: impl IntoIterator<Item = (Key, &'a Cell)>,
) -> Result<(), Error> {
    let mut issues = Vec::new();
    for (key, cell) in gone {
        match key.kind {
            Kind::Issue => issues.push(key.id),
            Kind::Repository => remove_repository(tx, host, key.id, cell)?,
        }
    }
    if issues.is_empty() { Ok(()) } else { remove_issues(tx, host, &issues) }
}

fn remove_issues(tx: &mut Tx<'_>, host: &str, ids: &[i64]) -> Result<(), Error> {
    const REMOVE: Sql = Sql::each(
        "delete from issues where host = $1 and id in (select value from json_each($2))",
        "delete from issues where host = $1 and id = any($2)",
    );
    const ROWIDS: Sql = Sql::each(
        "select search_rowid from cells
          where host = $1 and kind = 'issue' and search_rowid is not null
            and id in (select value from json_each($2))",
        "select search_rowid from cells
          where host = $1 and kind = 'issue' and search_rowid is not null and id = any($2)",
    );
    let rowids = tx.query(ROWIDS, &params![host, ids], |mut row| row.int(0))?;
    search::remove(tx, &rowids)?;
    tx.execute(REMOVE, &params![host, ids]).map(drop)
}

fn remove_repository(tx: &mut Tx<'_>, host: &str, id: i64, cell: &Cell) -> Result<(), Error> {
    const REMOVE: Sql = Sql::both("delete from repositories where host = $1 and id = $2");
    if let Some(seen) = cell.gone {
        bury_issues_of(tx, host, id, seen)?;
    }
    lanes::forget(tx, host, id)?;
    tx.execute(REMOVE, &params![host, id]).map(drop)
}

/// How many issues are buried at a time.
const BURY: i64 = 500;

/// A repository that was confirmed gone is a look at each of its issues, too.
///
/// However many they are, they go in one transaction with their repository; a few hundred at a time are
/// held in memory.
fn bury_issues_of(tx: &mut Tx<'_>, host: &str, id: i64, seen: Seen) -> Result<(), Error> {
    let mut after = i64::MIN;
    loop {
        let issues = next_issues(tx, host, id, after)?;
        let Some((last, _)) = issues.last() else { return Ok(()) };
        after = *last;
        let mut by_lane: BTreeMap<i64, Vec<(Key, Seen)>> = BTreeMap::new();
        for (id, lane) in issues {
            by_lane.entry(lane).or_default().push((Key { kind: Kind::Issue, id }, seen));
        }
        by_lane.iter().try_for_each(|(lane, gone)| bury(tx, host, *lane, gone).map(drop))?;
    }
}

/// The next issues of a repository, each with its lane.
fn next_issues(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    after: i64,
) -> Result<Vec<(i64, i64)>, Error> {
    const ISSUES: Sql = Sql::both(
        "select issues.id, cells.lane
           from issues
           join cells on cells.host = issues.host and cells.kind = 'issue'
                     and cells.id = issues.id
          where issues.host = $1 and issues.repository_id = $2 and $3 < issues.id
          order by issues.id limit $4",
    );
    tx.query(ISSUES, &params![host, repository_id, after, BURY], |mut row| {
        Ok((row.int(0)?, row.int(1)?))
    })
}
