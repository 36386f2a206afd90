//! How much is there?

use crate::Store;
use crate::error::Error;
use crate::sql::Sql;
use crate::tables::{OfKind, of_kind};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
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
    /// How many objects of each kind are held.
    pub fn counts(&self) -> Result<Counts, Error> {
        const TOMBSTONES: Sql = Sql::both(
            "select count(*) from cells
              where gone_at_ms is not null
                and (updated_at is null
                     or (seen_at_ms, seen_request) <= (gone_at_ms, gone_request))",
        );
        const ROWS: OfKind = of_kind!("select count(*) from", "");
        self.read("counts", |tx| {
            Ok(Counts {
                repositories: tx.count(ROWS.repositories, &[])?,
                discussions: tx.count(ROWS.discussions, &[])?,
                issues: tx.count(ROWS.issues, &[])?,
                pull_requests: tx.count(ROWS.pull_requests, &[])?,
                comments: tx.count(Sql::both("select count(*) from comments"), &[])?,
                quarantined: tx.count(Sql::both("select count(*) from quarantine"), &[])?,
                tombstones: tx.count(TOMBSTONES, &[])?,
            })
        })
    }
}
