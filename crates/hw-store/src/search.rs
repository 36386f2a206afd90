//! Search rows: kept by explicit statements in the transaction of the texts they are made of.
//!
//! Both databases are fed the tokens of `hw_rules::tokens`, as they are, so they find the same. A row's id carries the
//! order of `updated_at`, so that the newest matches are the last rows of the index.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::dates::Span;
use hw_rules::item::{Key, Kind};
use hw_rules::time::{Mark, SourceTime};

use crate::cells::Held;
use crate::error::Error;
use crate::sql::{Param, Sql, params};
use crate::tx::Tx;

pub(crate) mod again;
mod days;
pub(crate) mod facets;
mod feed;
pub(crate) mod words;

pub(crate) use feed::insert;

/// How much of a text is indexed, as tokens: PostgreSQL's vectors end at a megabyte, with their places.
const BODY_BYTES: usize = 256 * 1024;
/// The same for titles and names, which are short, and for queries.
pub(crate) const NAME_BYTES: usize = 16 * 1024;

/// The bits of a row's id below the second.
const LOW_BITS: u32 = 20;
const LOW_MASK: i64 = (1 << LOW_BITS) - 1;

/// The rows of what was updated within a span: their ids carry the time.
pub(crate) fn rows_within(span: Span) -> (i64, i64) {
    let second = |mark: Mark| mark.0.div_euclid(1_000);
    let first =
        span.from.map_or(i64::MIN, |from| second(from.plus(999)).saturating_mul(1 << LOW_BITS));
    let last = span.to.map_or(i64::MAX, |to| (second(to) << LOW_BITS) | LOW_MASK);
    (first, last)
}

/// What is searchable of an item.
pub(crate) struct SearchRow<'a> {
    pub(crate) host: &'a str,
    pub(crate) repository_id: i64,
    /// The number of the thread that it counts for.
    pub(crate) thread: i64,
    pub(crate) kind: Kind,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    pub(crate) repository: &'a str,
    pub(crate) author: Option<&'a str>,
    pub(crate) state: &'a str,
    pub(crate) labels: &'a [String],
    pub(crate) created_at: &'a SourceTime,
}

impl SearchRow<'_> {
    pub(crate) fn is_comment(&self) -> bool {
        Kind::COMMENTS.contains(&self.kind)
    }
}

/// Writes the search rows of items anew, at the place their `updated_at` gives them; tells where they are.
pub(crate) fn index(
    tx: &mut Tx<'_>,
    held: &Held,
    items: &[(Key, Mark, SearchRow<'_>)],
) -> Result<BTreeMap<Key, i64>, Error> {
    let now = |key: &Key| held.search_rowids.get(key).copied();
    let old: Vec<_> = items.iter().filter_map(|(key, ..)| now(key)).collect();
    let wanted: Vec<_> = items.iter().map(|(key, mark, _)| (*key, *mark, now(key))).collect();
    let rowids = rowids(tx, &wanted)?;
    remove(tx, &old)?;
    let place = |(key, _, row)| Some((*rowids.get(key)?, row));
    insert(
        tx,
        &items.iter().filter_map(|(key, mark, row)| place((key, mark, row))).collect::<Vec<_>>(),
    )?;
    Ok(rowids)
}

/// Finds a row id for each item: in the order of `updated_at`, and not taken.
///
/// Each wish comes with the row id its item has now, which it may keep.
pub(crate) fn rowids(
    tx: &mut Tx<'_>,
    wishes: &[(Key, Mark, Option<i64>)],
) -> Result<BTreeMap<Key, i64>, Error> {
    let mut found = BTreeMap::new();
    let mut used = BTreeSet::new();
    let mut open: Vec<_> =
        wishes.iter().map(|(key, mark, now)| (*key, first_rowid(*key, *mark), *now)).collect();
    while !open.is_empty() {
        let candidates: Vec<_> = open.iter().map(|(_, rowid, _)| *rowid).collect();
        let taken = taken(tx, &candidates)?;
        open.retain_mut(|(key, rowid, now)| {
            let free = *now == Some(*rowid) || !taken.contains(rowid);
            if free && used.insert(*rowid) {
                found.insert(*key, *rowid);
                return false;
            }
            *rowid = bumped(*rowid);
            true
        });
    }
    Ok(found)
}

fn first_rowid(key: Key, updated_at: Mark) -> i64 {
    (updated_at.0.div_euclid(1_000) << LOW_BITS) | (key.id & LOW_MASK)
}

/// The next row id within the same second.
fn bumped(rowid: i64) -> i64 {
    (rowid & !LOW_MASK) | ((rowid + 1) & LOW_MASK)
}

fn taken(tx: &mut Tx<'_>, rowids: &[i64]) -> Result<BTreeSet<i64>, Error> {
    const TAKEN: Sql = Sql::each(
        "select search_rowid from cells
          where search_rowid in (select value from json_each($1))",
        "select search_rowid from cells where search_rowid = any($1)",
    );
    let rows = tx.query(TAKEN, &params![rowids], |mut row| row.int(0))?;
    Ok(rows.into_iter().collect())
}

pub(crate) fn remove(tx: &mut Tx<'_>, rowids: &[i64]) -> Result<(), Error> {
    const REMOVE: Sql = Sql::both("delete from search where rowid = $1");
    const REMOVE_PLACE: Sql = Sql::both("delete from search_places where rowid = $1");
    let rows: Vec<_> = rowids.iter().map(|rowid| vec![Param::Int(*rowid)]).collect();
    tx.execute_each(REMOVE, &rows)?;
    tx.execute_each(REMOVE_PLACE, &rows)
}
