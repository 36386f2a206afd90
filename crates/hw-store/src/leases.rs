//! Leases: who may write, and proof at each write that he still may.
//!
//! A lease expires by time, but time is never what a write trusts: each take raises the epoch, and each
//! write checks it inside its own transaction. An owner that slept through its lease cannot write.
//!
//! A database file has a lock of the operating system beside it, for as long as the lease is held: with it a
//! dead owner need not be waited for, and a living one is never robbed.

use crate::Store;
use crate::error::Error;
use crate::locks::Grip;
use crate::sql::{Row, Sql, params};
use crate::tx::{Step, Tx, step};

/// The right to write, until somebody else takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub name: String,
    pub owner: String,
    pub epoch: i64,
}

/// Who holds a lease, since when and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBy {
    pub owner: String,
    pub since_ms: i64,
    pub expires_ms: i64,
}

impl HeldBy {
    /// Whether the lease is still held, to somebody who asks for it for `ttl_ms`.
    ///
    /// One that ends a day later than it could was taken or renewed by a clock that stood in another year.
    fn holds(&self, now_ms: i64, ttl_ms: i64) -> bool {
        const DAY_MS: i64 = 86_400_000;
        let absurd = now_ms.saturating_add(ttl_ms).saturating_add(DAY_MS);
        now_ms < self.expires_ms && self.expires_ms <= absurd
    }
}

const LEASE: Step = step!("lease");

impl Store {
    /// Takes a lease that is free or has expired, or tells who holds it. One that would last a day longer
    /// than asked for counts as expired.
    ///
    /// Of a database file, the lock beside it decides: who has it is alive, and who gets it may take the
    /// lease at once. Only among those who share one open store, and so its lock, the time decides.
    pub fn take_lease(
        &self,
        name: &str,
        owner: &str,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Result<Lease, HeldBy>, Error> {
        if self.inner.read_only {
            return Err(Error::ReadOnly);
        }
        let mut keys = self.inner.locks.keys();
        let grip = keys.grip(name)?;
        let expires_ms = now_ms.saturating_add(ttl_ms);
        let is_dead = match grip {
            Grip::Nothing => false,
            Grip::New(_) => true,
            Grip::Elsewhere => {
                let owner = "another process".to_owned();
                let unknown = HeldBy { owner, since_ms: now_ms, expires_ms };
                return Ok(Err(self.lease_holder(name)?.unwrap_or(unknown)));
            }
        };
        let taken = self.write(LEASE, |tx| {
            let holds = |holder: &HeldBy| !is_dead && holder.holds(now_ms, ttl_ms);
            match holder(tx, name)?.filter(holds) {
                Some(holder) => Ok(Err(holder)),
                None => take(tx, name, owner, now_ms, expires_ms).map(Ok),
            }
        })?;
        if let Ok(lease) = &taken {
            keys.keep(name, lease.epoch, grip);
        }
        Ok(taken)
    }

    /// Who holds a lease, as its row tells; it may have expired.
    pub fn lease_holder(&self, name: &str) -> Result<Option<HeldBy>, Error> {
        self.read("lease", |tx| holder(tx, name))
    }

    /// Keeps a lease for another while; lost when somebody else has taken it.
    pub fn renew_lease(&self, lease: &Lease, now_ms: i64, ttl_ms: i64) -> Result<(), Error> {
        const RENEW: Sql = Sql::both(
            "update leases set expires_ms = $1 where name = $2 and owner = $3 and epoch = $4",
        );
        let expires_ms = now_ms.saturating_add(ttl_ms);
        self.write(LEASE, |tx| {
            let params = params![expires_ms, &lease.name, &lease.owner, lease.epoch];
            if tx.execute(RENEW, &params)? == 0 { Err(lost(lease)) } else { Ok(()) }
        })
    }

    /// Gives a lease back; nothing happens when it was lost already.
    pub fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        const RELEASE: Sql = Sql::both(
            "update leases set owner = null where name = $1 and owner = $2 and epoch = $3",
        );
        let released = self.write(LEASE, |tx| {
            tx.execute(RELEASE, &params![&lease.name, &lease.owner, lease.epoch]).map(drop)
        });
        self.inner.locks.keys().leave(&lease.name, lease.epoch);
        released
    }
}

fn take(
    tx: &mut Tx<'_>,
    name: &str,
    owner: &str,
    since_ms: i64,
    expires_ms: i64,
) -> Result<Lease, Error> {
    const TAKE: Sql = Sql::both(
        "insert into leases (name, owner, epoch, since_ms, expires_ms)
         values ($1, $2, 1, $3, $4)
         on conflict (name) do update
            set owner = excluded.owner, epoch = leases.epoch + 1,
                since_ms = excluded.since_ms, expires_ms = excluded.expires_ms
         returning epoch",
    );
    let epoch = tx
        .first(TAKE, &params![name, owner, since_ms, expires_ms], |mut row| row.int(0))?
        .ok_or_else(|| Error::Damaged("a lease that was taken has no epoch".to_owned()))?;
    Ok(Lease { name: name.to_owned(), owner: owner.to_owned(), epoch })
}

fn holder(tx: &mut Tx<'_>, name: &str) -> Result<Option<HeldBy>, Error> {
    const HOLDER: Sql = Sql::both(
        "select owner, since_ms, expires_ms from leases where name = $1 and owner is not null",
    );
    let read = |mut row: Row| {
        Ok(HeldBy { owner: row.text(0)?, since_ms: row.int(1)?, expires_ms: row.int(2)? })
    };
    tx.first(HOLDER, &params![name], read)
}

/// Has every owner stop at its next write: what it knows of the database no longer holds.
pub(crate) fn end_all(tx: &mut Tx<'_>) -> Result<(), Error> {
    const END: Sql = Sql::both("update leases set owner = null, epoch = epoch + 1");
    tx.execute(END, &[]).map(drop)
}

/// Refuses a write whose owner is no longer the one that holds the lease.
pub(crate) fn check(tx: &mut Tx<'_>, lease: &Lease) -> Result<(), Error> {
    const HELD: Sql =
        Sql::both("select count(*) from leases where name = $1 and owner = $2 and epoch = $3");
    let held = tx.count(HELD, &params![&lease.name, &lease.owner, lease.epoch])?;
    if held == 0 { Err(lost(lease)) } else { Ok(()) }
}

fn lost(lease: &Lease) -> Error {
    Error::LeaseLost { name: lease.name.clone() }
}
