//! Leases: each write checks, in its own transaction, that its worker still has the duty that it writes for.
//!
//! No write relies on time: claiming a duty raises its epoch, and each write checks the epoch. A worker that slept
//! while another one took over cannot write.

use hw_rules::duty::DutyName;

use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::schema_version::refuse_newer_version;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// The right to write for a duty, until another worker claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub duty: DutyName,
    /// The id of the worker.
    pub owner: String,
    pub epoch: i64,
}

/// Makes every owner fail at its next write, because its knowledge of the database is outdated.
pub(crate) fn revoke_all(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const END: Sql = Sql::portable("update duties set owner = null, epoch = epoch + 1");
    tx.send_statement(END, &[])
}

/// Makes another worker that performs a duty fail at its next write: what it read of the lanes of that duty is outdated.
/// The duty stays requested.
pub(crate) fn revoke_from_others(
    tx: &mut Transaction<'_>,
    duty: &DutyName,
    own_lease: &Lease,
) -> Result<(), StoreError> {
    const REVOKE: Sql = Sql::portable(
        "update duties set owner = null, epoch = epoch + 1, requested_ms = taken_at_ms
          where name = $1 and owner is not null",
    );
    if *duty == own_lease.duty {
        return Ok(());
    }
    tx.send_statement(REVOKE, &params![&duty.to_string()])
}

/// A check of a lease that was sent: it shares a round trip with the first questions of its transaction. Nothing may be
/// committed before it is read.
pub(crate) struct PendingLeaseCheck<'a> {
    lease: &'a Lease,
    rows: PendingRows,
}

impl<'a> PendingLeaseCheck<'a> {
    pub(crate) fn send(tx: &mut Transaction<'_>, lease: &'a Lease) -> Result<Self, StoreError> {
        const COUNT_MATCHING: Sql = Sql::portable(
            "select count(*) as matching from duties where name = $1 and owner = $2 and epoch = $3",
        );
        let name = lease.duty.to_string();
        let params = params![&name, &lease.owner, lease.epoch];
        Ok(Self { lease, rows: tx.send_query(COUNT_MATCHING, &params)? })
    }

    /// Fails if the owner has lost the lease.
    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        let counts = tx.read_pending(self.rows, |mut row| row.int("matching"))?;
        if counts.iter().any(|matching| *matching > 0) {
            return Ok(());
        }
        // an upgrade revokes all leases
        refuse_newer_version(tx)?;
        Err(lease_lost(self.lease))
    }
}

pub(crate) fn lease_lost(lease: &Lease) -> StoreError {
    StoreError::LeaseLost { name: lease.duty.to_string() }
}
