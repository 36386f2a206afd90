//! Records how pulls end, and reads the outcome of the last ones.

use hw_rules::safe_text;

use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{TransactionStep, step};
use crate::{LeasedStore, StoreReader};

const END_PULL: TransactionStep = step!("end pull");

/// A pull that failed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPull {
    pub source: String,
    pub ended_ms: i64,
    pub error: String,
}

/// The end of the last pull of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastPull {
    pub host: String,
    pub source: String,
    pub ended_ms: i64,
    /// The reason for a failure of the whole pull; `None` if it succeeded.
    pub error: Option<String>,
}

impl StoreReader {
    /// Returns the end of the last pull of each source, ordered by name.
    pub fn last_pulls(&self) -> Result<Vec<LastPull>, StoreError> {
        const LAST: Sql = Sql::portable(
            "select host, source, ended_ms, error from last_pulls order by source, host",
        );
        self.read("pulls", |tx| {
            tx.query(LAST, &[], |mut row| {
                let (host, source) = (row.text("host")?, row.text("source")?);
                Ok(LastPull {
                    host,
                    source,
                    ended_ms: row.int("ended_ms")?,
                    error: row.maybe_text("error")?,
                })
            })
        })
    }

    /// Returns the sources whose last pull failed as a whole, ordered by name.
    pub fn failed_pulls(&self) -> Result<Vec<FailedPull>, StoreError> {
        const FAILED: Sql = Sql::portable(
            "select source, ended_ms, error from last_pulls
              where error is not null order by source, host",
        );
        self.read("pulls", |tx| {
            tx.query(FAILED, &[], |mut row| {
                let (source, ended_ms) = (row.text("source")?, row.int("ended_ms")?);
                Ok(FailedPull { source, ended_ms, error: row.text("error")? })
            })
        })
    }
}

impl LeasedStore {
    /// Records the end of a pull. After a failed one, answers warn until the next pull that they may be incomplete.
    ///
    /// Names ignore case: the end of a pull of `acme` replaces that of a pull of `Acme`.
    pub fn record_pull_end(
        &self,
        host: &str,
        source: &str,
        ended_ms: i64,
        error: Option<&str>,
    ) -> Result<(), StoreError> {
        const FORGET_OTHER_CASE: Sql = Sql::portable(
            "delete from last_pulls
              where host = $1 and lower(source) = lower($2) and source <> $2",
        );
        const UPSERT: Sql = Sql::portable(
            "insert into last_pulls (host, source, ended_ms, error) values ($1, $2, $3, $4)
             on conflict (host, source) do update
                set ended_ms = excluded.ended_ms, error = excluded.error",
        );
        let error = error.map(safe_text::sanitize_for_storage);
        let params = params![host, source, ended_ms, error.as_deref()];
        self.write_with_lease(END_PULL, |tx| {
            tx.send_statement(FORGET_OTHER_CASE, &params![host, source])?;
            tx.send_statement(UPSERT, &params)
        })
    }
}
