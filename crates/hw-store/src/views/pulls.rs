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

/// The end of the last pull of one organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastPull {
    pub organization: String,
    pub ended_ms: i64,
    /// The reason why it failed as a whole; none when it did not.
    pub error: Option<String>,
}

impl Store {
    /// Keeps how a pull ended, so that what is shown until the next one does not look whole.
    ///
    /// A login is the same in any case: the end of a pull of `acme` replaces that of a pull of `Acme`.
    pub fn end_pull(
        &self,
        lease: &Lease,
        (host, organization): (&str, &str),
        ended_ms: i64,
        error: Option<&str>,
    ) -> Result<(), Error> {
        const FORGET_OTHER_CASE: Sql = Sql::both(
            "delete from pulls
              where host = $1 and lower(organization) = lower($2) and organization <> $2",
        );
        const KEEP: Sql = Sql::both(
            "insert into pulls (host, organization, ended_ms, error) values ($1, $2, $3, $4)
             on conflict (host, organization) do update
                set ended_ms = excluded.ended_ms, error = excluded.error",
        );
        let error = error.map(clean::storable);
        let params = params![host, organization, ended_ms, error.as_deref()];
        self.write_for(lease, END_PULL, |tx| {
            tx.execute(FORGET_OTHER_CASE, &params![host, organization])?;
            tx.execute(KEEP, &params).map(drop)
        })
    }

    /// The organizations that were pulled, by name, each with the end of its last pull.
    pub fn last_pulls(&self) -> Result<Vec<LastPull>, Error> {
        const LAST: Sql = Sql::both(
            "select organization, ended_ms, error from pulls order by organization, host",
        );
        self.read("pulls", |tx| {
            tx.query(LAST, &[], |mut row| {
                let (organization, ended_ms) = (row.text(0)?, row.int(1)?);
                Ok(LastPull { organization, ended_ms, error: row.maybe_text(2)? })
            })
        })
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
