//! Leases: each write checks, in its own transaction, that its process still has the right to write.
//!
//! A lease expires by time, but no write relies on time: taking a lease raises its epoch, and each write checks the
//! epoch. An owner that slept past the end of its lease cannot write.
//!
//! While a lease on a database file is held, the operating system locks a file beside it. The lock makes a dead
//! owner's lease available at once, and protects the lease of a living owner.

use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::locks::LockAttempt;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader, StoreWriter};

/// The right to write, until another process takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub name: String,
    pub owner: String,
    pub epoch: i64,
}

/// The owner of a lease, and the time for which it is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseHolder {
    pub owner: String,
    pub since_ms: i64,
    pub expires_ms: i64,
}

impl LeaseHolder {
    /// Returns true if the lease is still held, from the view of a process that requests it for `ttl_ms`.
    ///
    /// A lease that expires more than a day after `ttl_ms` was taken or renewed under a wrong clock.
    fn is_current(&self, now_ms: i64, ttl_ms: i64) -> bool {
        const DAY_MS: i64 = 86_400_000;
        let latest_plausible = now_ms.saturating_add(ttl_ms).saturating_add(DAY_MS);
        now_ms < self.expires_ms && self.expires_ms <= latest_plausible
    }
}

const LEASE: TransactionStep = step!("lease");

impl StoreReader {
    /// Returns the recorded holder of a lease, which may have expired.
    pub fn lease_holder(&self, name: &str) -> Result<Option<LeaseHolder>, StoreError> {
        self.read("lease", |tx| read_holder(tx, name))
    }
}

impl StoreWriter {
    /// Takes a lease that is free or has expired, or returns its holder. A lease that would last a day longer than
    /// requested counts as expired.
    ///
    /// For a database file, the lock beside it decides: a process that has the lock is alive, and one that acquires it
    /// may take the lease at once. Time decides only among the users of one open store, which share its lock.
    pub fn take_lease(
        &self,
        name: &str,
        owner: &str,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Result<LeasedStore, LeaseHolder>, StoreError> {
        self.take_lease_unless_renewed(name, owner, None, now_ms, ttl_ms)
    }

    /// Takes a lease in the same way, and also from a holder that counts as dead, unless it has renewed its lease since.
    pub fn take_lease_unless_renewed(
        &self,
        name: &str,
        owner: &str,
        dead: Option<&LeaseHolder>,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Result<LeasedStore, LeaseHolder>, StoreError> {
        let mut locks = self.inner.locks.lock_table();
        let attempt = locks.try_lock(name)?;
        let expires_ms = now_ms.saturating_add(ttl_ms);
        let is_holder_dead = match attempt {
            LockAttempt::NotNeeded => false,
            LockAttempt::Acquired(_) => true,
            LockAttempt::HeldElsewhere => {
                let owner = "another process".to_owned();
                let unknown = LeaseHolder { owner, since_ms: now_ms, expires_ms };
                return Ok(Err(self.lease_holder(name)?.unwrap_or(unknown)));
            }
        };
        let taken = self.write(LEASE, |tx| match read_holder(tx, name)? {
            Some(holder)
                if !is_holder_dead
                    && Some(&holder) != dead
                    && holder.is_current(now_ms, ttl_ms) =>
            {
                Ok(Err(holder))
            }
            Some(_) | None => insert_lease(tx, name, owner, now_ms, expires_ms).map(Ok),
        })?;
        if let Ok(lease) = &taken {
            locks.store_lock(name, lease.epoch, attempt);
        }
        Ok(taken.map(|lease| self.with_lease(lease)))
    }
}

impl LeasedStore {
    /// Extends the lease. Fails if another process has taken it.
    pub fn renew_lease(&self, now_ms: i64, ttl_ms: i64) -> Result<(), StoreError> {
        const RENEW: Sql = Sql::portable(
            "update leases set expires_ms = $1 where name = $2 and owner = $3 and epoch = $4",
        );
        let (lease, expires_ms) = (self.lease(), now_ms.saturating_add(ttl_ms));
        self.write(LEASE, |tx| {
            let params = params![expires_ms, &lease.name, &lease.owner, lease.epoch];
            if tx.execute(RENEW, &params)? == 0 { Err(lease_lost(lease)) } else { Ok(()) }
        })
    }

    /// Releases the lease. Does nothing if it is already lost.
    pub fn release_lease(&self) -> Result<(), StoreError> {
        const RELEASE: Sql = Sql::portable(
            "update leases set owner = null where name = $1 and owner = $2 and epoch = $3",
        );
        let lease = self.lease();
        let released = self.write(LEASE, |tx| {
            tx.send_statement(RELEASE, &params![&lease.name, &lease.owner, lease.epoch])
        });
        self.inner.locks.lock_table().release_lock(&lease.name, lease.epoch);
        released
    }
}

fn insert_lease(
    tx: &mut Transaction<'_>,
    name: &str,
    owner: &str,
    since_ms: i64,
    expires_ms: i64,
) -> Result<Lease, StoreError> {
    const TAKE: Sql = Sql::portable(
        "insert into leases (name, owner, epoch, taken_at_ms, expires_ms)
         values ($1, $2, 1, $3, $4)
         on conflict (name) do update
            set owner = excluded.owner, epoch = leases.epoch + 1,
                taken_at_ms = excluded.taken_at_ms, expires_ms = excluded.expires_ms
         returning epoch",
    );
    let epoch = tx
        .query_first(TAKE, &params![name, owner, since_ms, expires_ms], |mut row| row.int(0))?
        .ok_or_else(|| StoreError::Damaged("a lease that was taken has no epoch".to_owned()))?;
    Ok(Lease { name: name.to_owned(), owner: owner.to_owned(), epoch })
}

fn read_holder(tx: &mut Transaction<'_>, name: &str) -> Result<Option<LeaseHolder>, StoreError> {
    const HOLDER: Sql = Sql::portable(
        "select owner, taken_at_ms, expires_ms from leases where name = $1 and owner is not null",
    );
    tx.query_first(HOLDER, &params![name], |mut row| {
        Ok(LeaseHolder { owner: row.text(0)?, since_ms: row.int(1)?, expires_ms: row.int(2)? })
    })
}

/// Makes every owner fail at its next write, because its knowledge of the database is outdated.
pub(crate) fn revoke_all(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    const END: Sql = Sql::portable("update leases set owner = null, epoch = epoch + 1");
    tx.send_statement(END, &[])
}

/// Rejects a write whose owner has lost the lease.
pub(crate) fn check_lease(tx: &mut Transaction<'_>, lease: &Lease) -> Result<(), StoreError> {
    PendingLeaseCheck::send(tx, lease)?.read(tx)
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
            "select count(*) from leases where name = $1 and owner = $2 and epoch = $3",
        );
        let params = params![&lease.name, &lease.owner, lease.epoch];
        Ok(Self { lease, rows: tx.send_query(COUNT_MATCHING, &params)? })
    }

    /// Fails if the owner has lost the lease.
    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<(), StoreError> {
        let counts = tx.read_pending(self.rows, |mut row| row.int(0))?;
        let is_held = counts.iter().any(|matching| *matching > 0);
        if is_held { Ok(()) } else { Err(lease_lost(self.lease)) }
    }
}

fn lease_lost(lease: &Lease) -> StoreError {
    StoreError::LeaseLost { name: lease.name.clone() }
}
