//! Empties the tables that can be fetched again.

use super::{TextBatch, TextPosition};
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// Statements that remove some rows of each table. Rows that others refer to go last.
pub(super) const TABLES: [Sql<'static>; 15] = [
    Sql::portable(
        "delete from repositories
          where (host, id) in (select host, id from repositories limit $1)",
    ),
    Sql::portable("delete from search where rowid in (select rowid from search limit $1)"),
    Sql::portable(
        "delete from search_documents where rowid in (select rowid from search_documents limit $1)",
    ),
    Sql::portable(
        "delete from discussions where (host, id) in (select host, id from discussions limit $1)",
    ),
    Sql::portable("delete from issues where (host, id) in (select host, id from issues limit $1)"),
    Sql::portable(
        "delete from pull_requests
          where (host, id) in (select host, id from pull_requests limit $1)",
    ),
    Sql::portable(
        "delete from issue_comments
          where (host, id) in (select host, id from issue_comments limit $1)",
    ),
    Sql::portable(
        "delete from review_comments
          where (host, id) in (select host, id from review_comments limit $1)",
    ),
    Sql::portable(
        "delete from reviews where (host, id) in (select host, id from reviews limit $1)",
    ),
    Sql::portable(
        "delete from discussion_comments
          where (host, id) in (select host, id from discussion_comments limit $1)",
    ),
    Sql::portable(
        "delete from comment_queue
          where (host, kind, id) in (select host, kind, id from comment_queue limit $1)",
    ),
    Sql::portable(
        "delete from quarantine
          where (lane_id, subject) in (select lane_id, subject from quarantine limit $1)",
    ),
    Sql::portable(
        "delete from sweep_inventory
          where (lane_id, id) in (select lane_id, id from sweep_inventory limit $1)",
    ),
    Sql::portable(
        "delete from cells
          where (host, kind, id) in (select host, kind, id from cells limit $1)",
    ),
    Sql::portable("delete from lanes where id in (select id from lanes limit $1)"),
];

/// Removes some rows of a table.
pub(super) fn empty_table(
    tx: &mut Transaction<'_>,
    stage: usize,
    limit: i64,
) -> Result<TextBatch, StoreError> {
    let Some(remove) = TABLES.get(stage) else { return Ok(TextBatch { texts: 0, last: None }) };
    let removed = tx.execute(*remove, &params![limit])?;
    // the rest is found without a position
    let start = TextPosition { host: String::new(), id: i64::MIN };
    let texts = usize::try_from(removed).unwrap_or(usize::MAX);
    Ok(TextBatch { texts, last: (removed > 0).then_some(start) })
}
