//! Stores the closing references of open pull requests, and knows which of them are due to be read.
//!
//! They are due from the transaction that writes the row of an open pull request until they are read. Closing it clears
//! them in the transaction that stores its new state.

use std::collections::BTreeMap;

use hw_rules::closing_references::{self as rule, ClosingReferences, ReferencesVerdict};
use hw_rules::source_time::SourceTime;

use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::views::repositories::parse_time;
use crate::watches::resolution;
use crate::{LeasedStore, StoreReader};

/// An open pull request whose closing references are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPullRequest {
    pub id: i64,
    pub node_id: String,
    pub repository_id: i64,
}

/// The pull requests whose closing references are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferencesSelection {
    /// New ones, and those that changed since their references were read.
    Due,
    AllOpen,
}

/// The closing references of one pull request, as read by its node id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadReferences {
    pub pull_request: OpenPullRequest,
    pub references: ClosingReferences,
}

const STORE_REFERENCES: TransactionStep = step!("store closing references");

impl StoreReader {
    /// Returns the next open pull requests of these repositories whose closing references are to be read, by id.
    pub fn pull_requests_to_read_references_of(
        &self,
        selection: ReferencesSelection,
        host: &str,
        repositories: &[i64],
        after: i64,
        limit: u32,
    ) -> Result<Vec<OpenPullRequest>, StoreError> {
        let sql = match selection {
            ReferencesSelection::Due => SELECT_DUE,
            ReferencesSelection::AllOpen => SELECT_OPEN,
        };
        let params = params![host, after, repositories, i64::from(limit)];
        self.read("closing references", |tx| {
            tx.query(sql, &params, |mut row| {
                Ok(OpenPullRequest {
                    id: row.int("id")?,
                    node_id: row.text("node_id")?,
                    repository_id: row.int("repository_id")?,
                })
            })
        })
    }
}

impl LeasedStore {
    /// Stores closing references. Each is compared with its row: the pull request may have changed in the meantime.
    pub fn store_closing_references(
        &self,
        host: &str,
        read: &[ReadReferences],
    ) -> Result<(), StoreError> {
        self.write_with_lease(STORE_REFERENCES, |tx| store_references(tx, host, read))
    }
}

// without a hint, SQLite reads all rows by the primary key
const SELECT_DUE: Sql = Sql::per_dialect(
    "select id, node_id, repository_id from pull_requests indexed by pull_requests_closes_due
      where closes_due and host = $1 and id > $2
        and repository_id in (select value from json_each($3))
      order by id limit $4",
    "select id, node_id, repository_id from pull_requests
      where closes_due and host = $1 and id > $2 and repository_id = any($3)
      order by id limit $4",
);
const SELECT_OPEN: Sql = Sql::per_dialect(
    "select id, node_id, repository_id from pull_requests
      where state = 'OPEN' and host = $1 and id > $2
        and repository_id in (select value from json_each($3))
      order by id limit $4",
    "select id, node_id, repository_id from pull_requests
      where state = 'OPEN' and host = $1 and id > $2 and repository_id = any($3)
      order by id limit $4",
);

/// The stored row of an open pull request.
struct StoredRow {
    node_id: String,
    updated_at: SourceTime,
}

fn store_references(
    tx: &mut Transaction<'_>,
    host: &str,
    read: &[ReadReferences],
) -> Result<(), StoreError> {
    const STORE: Sql = Sql::portable(
        "update pull_requests set closes = $1, closes_due = $2 where host = $3 and id = $4",
    );
    let ids: Vec<i64> = read.iter().map(|read| read.pull_request.id).collect();
    let stored = read_open_rows(tx, host, &ids)?;
    let updates: Vec<_> = read
        .iter()
        .filter_map(|read| build_update(read, stored.get(&read.pull_request.id)?))
        .collect();
    let rows: Vec<_> = updates
        .iter()
        .map(|update| params![&update.closes, update.is_due, host, update.id].to_vec())
        .collect();
    tx.execute_each(STORE, &rows)?;
    let written = |read: &&ReadReferences| updates.iter().any(|u| u.id == read.pull_request.id);
    let read: Vec<_> = read.iter().filter(written).cloned().collect();
    resolution::join_closing_pulls(tx, host, &read)
}

/// New references of one row.
struct ReferencesUpdate {
    id: i64,
    /// A JSON list.
    closes: String,
    is_due: bool,
}

/// Returns none if the answer changes nothing. A row with another node id is another pull request.
fn build_update(read: &ReadReferences, row: &StoredRow) -> Option<ReferencesUpdate> {
    let ReadReferences { pull_request, references } = read;
    if row.node_id != pull_request.node_id {
        return None;
    }
    let is_due = match rule::judge_references(&row.updated_at, references) {
        ReferencesVerdict::Ignore => return None,
        ReferencesVerdict::StoreStillDue => true,
        ReferencesVerdict::StoreAsRead => false,
    };
    let closes =
        serde_json::to_string(&references.closes).expect("a list of numbers is always JSON");
    Some(ReferencesUpdate { id: pull_request.id, closes, is_due })
}

fn read_open_rows(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: &[i64],
) -> Result<BTreeMap<i64, StoredRow>, StoreError> {
    const OPEN_ROWS: Sql = Sql::per_dialect(
        "select id, node_id, updated_at from pull_requests
          where state = 'OPEN' and host = $1 and id in (select value from json_each($2))",
        "select id, node_id, updated_at from pull_requests
          where state = 'OPEN' and host = $1 and id = any($2)",
    );
    // a damaged row keeps its references due until it is repaired
    let readable = tx.query_readable(OPEN_ROWS, &params![host, ids], |mut row| {
        let id = row.int("id")?;
        Ok((
            id,
            StoredRow {
                node_id: row.text("node_id")?,
                updated_at: parse_time(&row.text("updated_at")?)?,
            },
        ))
    })?;
    Ok(readable.rows.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatabaseLocation, StoreWriter};

    #[test]
    fn closing_references_that_are_due_are_found_by_their_index_in_order() {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let text =
            format!("explain query plan {}", SELECT_DUE.text_for(crate::sql::Dialect::Sqlite));
        let repositories: &[i64] = &[7, 8];
        let params = params!["github.com", 0_i64, repositories, 9_i64];
        let plan = store
            .read("plan", |tx| {
                tx.query(Sql::portable(&text), &params, |mut row| row.text("detail"))
            })
            .unwrap()
            .join("; ");
        assert!(plan.contains("pull_requests_closes_due (host=? AND id>?)"), "{plan}");
        assert!(!plan.contains("B-TREE FOR ORDER BY"), "{plan}");
    }
}
