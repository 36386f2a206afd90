//! The state of the database itself: its schema version and leases.

use crate::StoreReader;
use crate::error::StoreError;
use crate::leases::LeaseHolder;
use crate::sql::Sql;

/// A lease that a process holds, or still held when it died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRow {
    pub name: String,
    pub holder: LeaseHolder,
    /// True if a running process holds the lock beside the database file; `None` if there is no such lock.
    pub is_locked: Option<bool>,
}

impl StoreReader {
    /// Returns the number of the newest applied migration.
    pub fn schema_number(&self) -> Result<i64, StoreError> {
        const NUMBER: Sql = Sql::portable("select number from schema_version");
        self.read("schema", |tx| {
            Ok(tx.query_first(NUMBER, &[], |mut row| row.int(0))?.unwrap_or(0))
        })
    }

    /// Returns the leases that are held or were never released, ordered by name.
    pub fn leases(&self) -> Result<Vec<LeaseRow>, StoreError> {
        const HELD: Sql = Sql::portable(
            "select name, owner, taken_at_ms, expires_ms from leases
              where owner is not null order by name",
        );
        let mut leases = self.read("leases", |tx| {
            tx.query(HELD, &[], |mut row| {
                let name = row.text(0)?;
                let (owner, since_ms, expires_ms) = (row.text(1)?, row.int(2)?, row.int(3)?);
                let holder = LeaseHolder { owner, since_ms, expires_ms };
                Ok(LeaseRow { name, holder, is_locked: None })
            })
        })?;
        for lease in &mut leases {
            lease.is_locked = self.inner.locks.lock_table().is_locked(&lease.name);
        }
        Ok(leases)
    }
}
