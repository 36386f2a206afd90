//! How is the database itself?

use crate::Store;
use crate::error::Error;
use crate::leases::HeldBy;
use crate::sql::Sql;

/// A lease that somebody holds, or held when he died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRow {
    pub name: String,
    pub held: HeldBy,
    /// Whether a living process has the lock beside the file; none where there is no such lock.
    pub is_locked: Option<bool>,
}

/// A principal that is to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseRow {
    /// Host and user.
    pub principal: String,
    pub until_ms: i64,
    pub why: String,
}

impl Store {
    /// The number of the newest migration.
    pub fn schema_number(&self) -> Result<i64, Error> {
        const NUMBER: Sql = Sql::both("select number from schema_version");
        self.read("schema", |tx| Ok(tx.first(NUMBER, &[], |mut row| row.int(0))?.unwrap_or(0)))
    }

    /// The leases that somebody holds, or did not give back, by name.
    pub fn leases(&self) -> Result<Vec<LeaseRow>, Error> {
        const HELD: Sql = Sql::both(
            "select name, owner, since_ms, expires_ms from leases
              where owner is not null order by name",
        );
        let held = self.read("leases", |tx| {
            tx.query(HELD, &[], |mut row| {
                let name = row.text(0)?;
                let (owner, since_ms, expires_ms) = (row.text(1)?, row.int(2)?, row.int(3)?);
                Ok((name, HeldBy { owner, since_ms, expires_ms }))
            })
        })?;
        let is_locked = |name: &str| self.inner.locks.keys().is_locked(name);
        Ok(held
            .into_iter()
            .map(|(name, held)| LeaseRow { is_locked: is_locked(&name), name, held })
            .collect())
    }

    /// The principals that are to wait beyond `now_ms`, by name.
    pub fn pauses(&self, now_ms: i64) -> Result<Vec<PauseRow>, Error> {
        const PAUSED: Sql = Sql::both(
            "select name, paused_until_ms, paused_why from principals
              where paused_until_ms is not null order by name",
        );
        let mut paused = self.read("pauses", |tx| {
            tx.query(PAUSED, &[], |mut row| {
                let (principal, until_ms) = (row.text(0)?, row.int(1)?);
                Ok(PauseRow { principal, until_ms, why: row.maybe_text(2)?.unwrap_or_default() })
            })
        })?;
        paused.retain(|row| now_ms < row.until_ms);
        Ok(paused)
    }
}
