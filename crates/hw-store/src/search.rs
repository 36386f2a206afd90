//! Maintains the search rows, in the same transaction as the texts they are made of.
//!
//! Both databases index the tokens of `hw_rules::tokens` unchanged, so they find the same rows. Row ids follow the
//! order of `updated_at`, so the newest matches are the last rows of the index.

use std::ops::RangeInclusive;

use hw_rules::date_range::DateRange;
use hw_rules::item::ObjectKind;
use hw_rules::source_time::{SourceInstant, SourceTime};

use crate::changes::{ChangeBatch, ItemChangeKind};
use crate::error::StoreError;
use crate::sql::{Sql, SqlParam};
use crate::transaction::Transaction;

mod date_units;
pub(crate) mod facets;
mod index_row;
pub(crate) mod reindex;
mod rowids;
pub(crate) mod tokens;

use index_row::insert_rows;

pub(crate) use index_row::IndexText;
pub(crate) use rowids::{DatedItem, PendingRowids, RowidAssigner};

/// The indexed part of a text, as tokens: a PostgreSQL `tsvector` is limited to a megabyte, word positions included.
const MAX_BODY_BYTES: usize = 256 * 1024;
/// The indexed part of titles and names, which are short, and the limit of a query.
pub(crate) const MAX_NAME_BYTES: usize = 16 * 1024;

/// The number of bits of a row id below the second.
const LOW_BITS: u32 = 20;
const LOW_MASK: i64 = (1 << LOW_BITS) - 1;

/// Returns the ids of the rows that were updated within a range: row ids contain the time.
pub(crate) fn rowid_range(updated: DateRange) -> RangeInclusive<i64> {
    let first = updated
        .from
        .map_or(i64::MIN, |from| unix_seconds(from.plus_ms(999)).saturating_mul(1 << LOW_BITS));
    let last = updated.to.map_or(i64::MAX, |to| (unix_seconds(to) << LOW_BITS) | LOW_MASK);
    first..=last
}

fn unix_seconds(instant: SourceInstant) -> i64 {
    instant.0.div_euclid(1_000)
}

/// The searchable parts of an item.
pub(crate) struct SearchRow<'a> {
    pub(crate) host: &'a str,
    pub(crate) repository_id: i64,
    /// The number of the thread that the item belongs to.
    pub(crate) thread: i64,
    pub(crate) kind: ObjectKind,
    pub(crate) title: &'a str,
    pub(crate) body: &'a str,
    pub(crate) repository: &'a str,
    pub(crate) author: Option<&'a str>,
    /// The accounts of a post, which the author filter finds, too: names of accounts change.
    pub(crate) accounts: [Option<&'a str>; 2],
    pub(crate) state: &'a str,
    pub(crate) labels: &'a [String],
    pub(crate) created_at: &'a SourceTime,
    /// What was computed of it before the transaction.
    pub(crate) prepared: Option<&'a IndexText>,
}

impl SearchRow<'_> {
    pub(crate) fn is_comment(&self) -> bool {
        self.kind.is_comment()
    }
}

/// Keeps the search rows of changed items: those of new texts take the place of the rows that the items have had.
pub(crate) fn update_rows(
    tx: &mut Transaction<'_>,
    batch: &ChangeBatch<'_>,
) -> Result<(), StoreError> {
    let replaced = batch.changes.iter().filter(|change| change.is_loss() || change.text.is_some());
    let replaced: Vec<i64> = replaced.filter_map(|change| change.search_rowid).collect();
    remove_rows(tx, &replaced)?;
    let texts = batch.changes.iter().filter_map(|change| change.text);
    let rows: Vec<_> =
        texts.filter_map(|text| Some((text.search_rowid?, text.search_row(batch.host)?))).collect();
    insert_rows(tx, &rows)?;
    let renamed = batch.ids_by_kind(|change| change.kind == ItemChangeKind::Renamed);
    renamed.iter().try_for_each(|(kind, ids)| reindex::reindex_ids(tx, batch.host, *kind, ids))
}

pub(crate) fn remove_rows(tx: &mut Transaction<'_>, rowids: &[i64]) -> Result<(), StoreError> {
    const REMOVE: Sql = Sql::portable("delete from search where rowid = $1");
    const REMOVE_DOCUMENT: Sql = Sql::portable("delete from search_documents where rowid = $1");
    let rows: Vec<_> = rowids.iter().map(|rowid| vec![SqlParam::Int(*rowid)]).collect();
    tx.execute_each(REMOVE, &rows)?;
    tx.execute_each(REMOVE_DOCUMENT, &rows)
}
