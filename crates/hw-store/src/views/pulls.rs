//! How did the last pull end?

use hw_rules::clean;

use crate::Store;
use crate::error::Error;
use crate::leases::Lease;
use crate::sql::{Sql, params};
use crate::tx::{Step, step};

const END_PULL: Step = step!("end pull");

/// A pull that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedPull {
    pub organization: String,
    pub ended_ms: i64,
    pub error: String,
}

impl Store {
    /// Keeps how a pull ended, so that what is shown until the next one does not look whole.
    pub fn end_pull(
        &self,
        lease: &Lease,
        (host, organization): (&str, &str),
        ended_ms: i64,
        error: Option<&str>,
    ) -> Result<(), Error> {
        const KEEP: Sql = Sql::both(
            "insert into pulls (host, organization, ended_ms, error) values ($1, $2, $3, $4)
             on conflict (host, organization) do update
                set ended_ms = excluded.ended_ms, error = excluded.error",
        );
        let error = error.map(clean::storable);
        let params = params![host, organization, ended_ms, error.as_deref()];
        self.write_for(lease, END_PULL, |tx| tx.execute(KEEP, &params).map(drop))
    }

    /// The organisations whose last pull failed as a whole, by name.
    pub fn failed_pulls(&self) -> Result<Vec<FailedPull>, Error> {
        const FAILED: Sql = Sql::both(
            "select organization, ended_ms, error from pulls
              where error is not null order by organization, host",
        );
        self.read("pulls", |tx| {
            tx.query(FAILED, &[], |mut row| {
                let (organization, ended_ms) = (row.text(0)?, row.int(1)?);
                Ok(FailedPull { organization, ended_ms, error: row.text(2)? })
            })
        })
    }
}
