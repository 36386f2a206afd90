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

/// The answer to the question that begins each write of fetched data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeaseAnswer {
    pub(crate) is_valid: bool,
    /// True if the workspace watches anything: without watches nothing more is asked about them.
    pub(crate) has_watches: bool,
}

/// Where the question stands.
pub(crate) enum LeaseQuestion {
    /// This transaction needs no lease.
    NotAsked,
    /// It shares a round trip with the first questions of its transaction.
    Sent(PendingRows),
    Answered(LeaseAnswer),
}

/// Asks whether a lease is valid. Nothing may be committed before the answer is checked.
pub(crate) fn ask_lease(
    tx: &mut Transaction<'_>,
    lease: &Lease,
) -> Result<LeaseQuestion, StoreError> {
    const MATCHING: Sql = Sql::portable(
        "select count(*) as matching,
                (select count(*) from (select 1 from watches limit 1) as watched) as watches
           from duties where name = $1 and owner = $2 and epoch = $3",
    );
    let name = lease.duty.to_string();
    let params = params![&name, &lease.owner, lease.epoch];
    Ok(LeaseQuestion::Sent(tx.send_query(MATCHING, &params)?))
}

/// Reads the answer to [`ask_lease`].
pub(crate) fn read_lease_answer(
    tx: &mut Transaction<'_>,
    rows: PendingRows,
) -> Result<LeaseAnswer, StoreError> {
    let answers = tx.read_pending(rows, |mut row| {
        Ok(LeaseAnswer { is_valid: row.int("matching")? > 0, has_watches: row.int("watches")? > 0 })
    })?;
    let none = LeaseAnswer { is_valid: false, has_watches: false };
    Ok(answers.into_iter().next().unwrap_or(none))
}

/// Fails if the owner has lost the lease.
pub(crate) fn check_lease(tx: &mut Transaction<'_>, lease: &Lease) -> Result<(), StoreError> {
    if tx.lease_answer()?.is_some_and(|answer| answer.is_valid) {
        return Ok(());
    }
    // an upgrade revokes all leases
    refuse_newer_version(tx)?;
    Err(lease_lost(lease))
}

pub(crate) fn lease_lost(lease: &Lease) -> StoreError {
    StoreError::LeaseLost { name: lease.duty.to_string() }
}
