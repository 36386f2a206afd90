//! Counts the stored objects.

use super::conditions::ConditionBuilder;
use super::pending_chores::PendingChores;
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::Sql;
use crate::transaction::Transaction;

/// The number of stored objects of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ObjectCounts {
    pub repositories: u64,
    pub discussions: u64,
    pub issues: u64,
    pub pull_requests: u64,
    pub comments: u64,
    pub posts: u64,
    pub quarantined: u64,
    /// Objects that are confirmed gone.
    pub tombstones: u64,
}

impl StoreReader {
    /// Counts the stored objects of each kind.
    pub fn object_counts(&self) -> Result<ObjectCounts, StoreError> {
        const TOMBSTONES: Sql = Sql::portable(
            "select count(*) as matching from cells
              where tombstone_at_ms is not null
                and (updated_at is null
                     or (observed_at_ms, observed_request) <= (tombstone_at_ms, tombstone_request))",
        );
        self.read("counts", |tx| {
            let pending = PendingChores::read(tx)?;
            Ok(ObjectCounts {
                repositories: count_rows(tx, "repositories")?,
                discussions: count_texts(tx, "discussions", &pending)?,
                issues: count_texts(tx, "issues", &pending)?,
                pull_requests: count_texts(tx, "pull_requests", &pending)?,
                comments: count_texts(tx, "comments", &pending)?,
                posts: count_rows(tx, "posts")?,
                quarantined: count_rows(tx, "quarantine")?,
                tombstones: tx.query_count(TOMBSTONES, &[])?,
            })
        })
    }
}

fn count_rows(tx: &mut Transaction<'_>, table: &str) -> Result<u64, StoreError> {
    tx.query_count(Sql::portable(&format!("select count(*) as matching from {table}")), &[])
}

/// Counts the texts of a table that are visible.
fn count_texts(
    tx: &mut Transaction<'_>,
    table: &str,
    pending: &PendingChores,
) -> Result<u64, StoreError> {
    let mut conditions = ConditionBuilder::new(tx.dialect());
    conditions.add_visible(pending);
    let text = format!("select count(*) as matching from {table} {}", conditions.where_clause());
    tx.query_count(Sql::portable(&text), &conditions.params)
}
