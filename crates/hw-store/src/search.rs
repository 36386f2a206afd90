//! Search rows: kept by explicit statements in the transaction of the texts they are made of.
//!
//! Both databases are fed the tokens of `hw_rules::tokens`, as they are, so they find the same. A row's id carries the
//! order of `updated_at`, so that the newest matches are the last rows of the index.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Key, Kind};
use hw_rules::time::Mark;

use crate::Store;
use crate::cells::Held;
use crate::error::Error;
use crate::sql::{Param, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;

pub(crate) mod again;
mod facets;
mod words;

use words::Spelling;

/// How much of a text is indexed, as tokens: PostgreSQL's vectors end at a megabyte, with their places.
const BODY_BYTES: usize = 256 * 1024;
/// The same for titles and names, which are short, and for queries.
const NAME_BYTES: usize = 16 * 1024;

/// The bits of a row's id below the second.
const LOW_BITS: u32 = 20;
const LOW_MASK: i64 = (1 << LOW_BITS) - 1;

/// One search result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    pub kind: Kind,
    pub id: i64,
    pub url: String,
    pub title: String,
}

/// What is searchable of an item.
pub(crate) struct SearchRow<'a> {
    pub(crate) kind: Kind,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    pub(crate) repository: &'a str,
    pub(crate) author: Option<&'a str>,
    pub(crate) state: &'a str,
    pub(crate) labels: &'a [String],
    pub(crate) created_at: &'a str,
}

impl Store {
    /// The newest items that contain every word of the query. A comment goes by its thread's title.
    pub fn search(&self, query: &str, limit: u64) -> Result<Vec<SearchHit>, Error> {
        const SEARCH: Sql = Sql::each(
            "select cells.kind, cells.host, cells.id
               from search join cells on cells.search_rowid = search.rowid
              where search match $1
              order by search.rowid desc limit $2",
            "select cells.kind, cells.host, cells.id
               from search join cells on cells.search_rowid = search.rowid
              where search.words @@ cast($1::text as tsquery)
              order by search.rowid desc limit $2",
        );
        let tokens = words::of(query, NAME_BYTES);
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read("search", |tx| {
            let all = words::all(&tokens, tx.dialect());
            let found = tx.query(SEARCH, &params![&all, limit], |mut row| {
                Ok((row.text(0)?, row.text(1)?, row.int(2)?))
            })?;
            let hits = found.iter().map(|(kind, host, id)| hit(tx, kind, host, *id));
            hits.filter_map(Result::transpose).collect()
        })
    }
}

/// What one match is; each row of the index belongs to one cell, whose kind tells the table.
fn hit(tx: &mut Tx<'_>, kind: &str, host: &str, id: i64) -> Result<Option<SearchHit>, Error> {
    const THREAD: OfKind = of_kind!("select url, title from", "where host = $1 and id = $2");
    const COMMENT: OfKind = of_kind!(
        "select said.url,
                coalesce(issues.title, pull_requests.title, discussions.title, '')
           from",
        "as said
           left join issues
             on issues.host = said.host and issues.repository_id = said.repository_id
            and issues.number = said.thread
           left join pull_requests
             on pull_requests.host = said.host
            and pull_requests.repository_id = said.repository_id
            and pull_requests.number = said.thread
           left join discussions
             on discussions.host = said.host and discussions.repository_id = said.repository_id
            and discussions.number = said.thread
          where said.host = $1 and said.id = $2"
    );
    let kind = Kind::named(kind)
        .ok_or_else(|| Error::Damaged(format!("no kind of object is named {kind:?}")))?;
    let sql = if Kind::COMMENTS.contains(&kind) { COMMENT } else { THREAD };
    tx.first(sql.of(kind), &params![host, id], |mut row| {
        Ok(SearchHit { kind, id, url: row.text(0)?, title: row.text(1)? })
    })
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
    let rows: Vec<_> = rowids.iter().map(|rowid| vec![Param::Int(*rowid)]).collect();
    tx.execute_each(REMOVE, &rows)
}

/// Writes search rows in the order of their ids.
///
/// FTS5 gathers rows in memory while their ids ascend; one that descends has it write a segment first,
/// and a newest-first page would be as many segments as rows.
pub(crate) fn insert(tx: &mut Tx<'_>, rows: &[(i64, &SearchRow<'_>)]) -> Result<(), Error> {
    const INSERT: Sql = Sql::each(
        "insert into search (rowid, type, url, title, body, repository, author, facets,
                             created_at, state, boost)
         values ($1, '', '', $2, $3, $4, $5, $6, $7, $8, 1.0)",
        "insert into search (rowid, words, facets, created_at, state, boost)
         values ($1,
                 setweight(cast($2::text as tsvector), 'A') || cast($3::text as tsvector)
                 || cast($4::text as tsvector) || cast($5::text as tsvector),
                 cast($6::text as tsvector), $7, $8, 1.0)",
    );
    let spell = words::spelling(tx.dialect());
    let mut fed: Vec<_> = rows.iter().map(|(rowid, row)| (*rowid, Fed::of(row, spell))).collect();
    fed.sort_unstable_by_key(|(rowid, _)| *rowid);
    let rows: Vec<_> = fed.iter().map(|(rowid, fed)| fed.values(*rowid)).collect();
    tx.execute_each(INSERT, &rows)
}

/// A search row as the index is fed with it.
struct Fed<'a> {
    title: String,
    body: String,
    repository: String,
    author: String,
    facets: String,
    created_at: &'a str,
    state: &'a str,
}

impl<'a> Fed<'a> {
    fn of(row: &SearchRow<'a>, spell: Spelling) -> Self {
        let name = |text: &str| spell(&words::of(text, NAME_BYTES));
        Self {
            title: name(row.title),
            body: spell(&words::of(row.body, BODY_BYTES)),
            repository: name(row.repository),
            author: name(row.author.unwrap_or_default()),
            facets: spell(&words::fitting(facets::of(row), NAME_BYTES)),
            created_at: row.created_at,
            state: row.state,
        }
    }

    fn values(&self, rowid: i64) -> Vec<Param<'_>> {
        params![
            rowid,
            &self.title,
            &self.body,
            &self.repository,
            &self.author,
            &self.facets,
            self.created_at,
            self.state,
        ]
        .to_vec()
    }
}
