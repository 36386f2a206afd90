//! Counts the stored objects.

use crate::Store;
use crate::error::StoreError;
use crate::sql::Sql;
use crate::tables::{KindStatements, of_kind};

/// The number of stored objects of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ObjectCounts {
    pub repositories: u64,
    pub discussions: u64,
    pub issues: u64,
    pub pull_requests: u64,
    pub comments: u64,
    pub quarantined: u64,
    /// Objects that are confirmed gone.
    pub tombstones: u64,
}

impl Store {
    /// Counts the stored objects of each kind.
    pub fn object_counts(&self) -> Result<ObjectCounts, StoreError> {
        const TOMBSTONES: Sql = Sql::portable(
            "select count(*) from cells
              where tombstone_at_ms is not null
                and (updated_at is null
                     or (observed_at_ms, observed_request) <= (tombstone_at_ms, tombstone_request))",
        );
        const ROWS: KindStatements = of_kind!("select count(*) from", "");
        self.read("counts", |tx| {
            Ok(ObjectCounts {
                repositories: tx.query_count(ROWS.repositories, &[])?,
                discussions: tx.query_count(ROWS.discussions, &[])?,
                issues: tx.query_count(ROWS.issues, &[])?,
                pull_requests: tx.query_count(ROWS.pull_requests, &[])?,
                comments: tx.query_count(Sql::portable("select count(*) from comments"), &[])?,
                quarantined: tx
                    .query_count(Sql::portable("select count(*) from quarantine"), &[])?,
                tombstones: tx.query_count(TOMBSTONES, &[])?,
            })
        })
    }
}
