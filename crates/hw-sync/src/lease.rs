//! The lease: one pull at a time, renewed while it works, given back at the end.

use std::pin::pin;

use hw_store::{HeldBy, Lease, Store};

use crate::Error;
use crate::clock::Clock;

pub const RENEW_MS: i64 = 1_000;
pub const EXPIRES_MS: i64 = 5_000;

/// A lease that is given back when it is dropped: the work may be stopped wherever it waits.
pub struct Held<'a> {
    store: &'a Store,
    lease: Lease,
    is_ours: bool,
}

impl<'a> Held<'a> {
    /// Takes the lease, or says who holds it and since when.
    pub async fn take(
        store: &'a Store,
        clock: &dyn Clock,
        name: &str,
        owner: &str,
    ) -> Result<Self, Error> {
        let lease = take(store, clock, name, owner).await?;
        Ok(Self { store, lease, is_ours: true })
    }

    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// It is somebody else's by now, or its owner as good as dead: it is not given back.
    pub fn forget(&mut self) {
        self.is_ours = false;
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if self.is_ours
            && let Err(error) = self.store.release_lease(&self.lease)
        {
            tracing::warn!(%error, "the lease could not be given back; it expires by itself");
        }
    }
}

/// Takes the lease, or says who holds it and since when.
///
/// Whoever lives renews it each second, and that is seen however far apart the clocks are. What nobody renews
/// is waited for until it ends.
pub async fn take(
    store: &Store,
    clock: &dyn Clock,
    name: &str,
    owner: &str,
) -> Result<Lease, Error> {
    let busy = |held: HeldBy| Error::Busy { owner: held.owner, since_ms: held.since_ms };
    let give_up_ms = clock.now_ms() + EXPIRES_MS + 2 * RENEW_MS;
    let mut before = store.lease_holder(name)?;
    if before.is_some() {
        a_renewal_later(clock).await;
    }
    loop {
        if let Some(held) = store.lease_holder(name)?.filter(|held| Some(held) != before.as_ref()) {
            return Err(busy(held));
        }
        match store.take_lease(name, owner, clock.now_ms(), EXPIRES_MS)? {
            Ok(lease) => return Ok(lease),
            Err(held) if give_up_ms < clock.now_ms() => return Err(busy(held)),
            Err(held) => before = Some(held),
        }
        a_renewal_later(clock).await;
    }
}

async fn a_renewal_later(clock: &dyn Clock) {
    clock.sleep_until(clock.now_ms() + RENEW_MS + RENEW_MS / 5).await;
}

/// Does the work and keeps the lease alive meanwhile; stops the work when the lease is lost.
pub async fn keep<T>(
    store: &Store,
    clock: &dyn Clock,
    lease: &Lease,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = clock.sleep_until(clock.now_ms() + RENEW_MS) => renew(store, clock, lease)?,
        }
    }
}

/// A database that is busy is no reason to stop: each write checks the epoch, so a lease that was lost
/// meanwhile does no harm.
fn renew(store: &Store, clock: &dyn Clock, lease: &Lease) -> Result<(), Error> {
    match store.renew_lease(lease, clock.now_ms(), EXPIRES_MS) {
        Err(error) if error.may_pass() => {
            tracing::warn!(%error, "the lease could not be renewed; trying again");
            Ok(())
        }
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use hw_store::Place;

    use super::*;
    use crate::clock::Waiting;

    #[tokio::test]
    async fn long_work_keeps_its_lease_by_renewing_it() {
        let (store, clock) = (Store::open(&Place::Memory).unwrap(), Jumping::default());
        let lease = take(&store, &clock, "pull", "first").await.unwrap();
        keep(&store, &clock, &lease, naps(20)).await.unwrap();
        let refused = store.take_lease("pull", "second", clock.now_ms(), EXPIRES_MS).unwrap();
        assert!(matches!(refused, Err(held) if held.owner == "first" && held.since_ms == 0));
    }

    #[tokio::test]
    async fn work_that_is_stopped_gives_its_lease_back() {
        let (store, clock) = (Store::open(&Place::Memory).unwrap(), Jumping::default());
        let stopped = Held::take(&store, &clock, "pull", "stopped").await.unwrap();
        drop(stopped);
        assert_eq!(store.lease_holder("pull").unwrap(), None);
        let mut dead = Held::take(&store, &clock, "pull", "dead").await.unwrap();
        dead.forget();
        drop(dead);
        assert_eq!(store.lease_holder("pull").unwrap().unwrap().owner, "dead");
    }

    #[tokio::test]
    async fn a_lease_that_nobody_renews_is_waited_for() {
        let (store, clock) = (Store::open(&Place::Memory).unwrap(), Jumping::default());
        take(&store, &clock, "pull", "dead").await.unwrap();
        let lease = take(&store, &clock, "pull", "next").await.unwrap();
        assert_eq!(lease.owner, "next");
        assert!(EXPIRES_MS <= clock.now_ms(), "not before it ended");
    }

    #[tokio::test]
    async fn a_lease_that_is_renewed_belongs_to_somebody_who_lives() {
        let (store, clock) = (Store::open(&Place::Memory).unwrap(), Jumping::default());
        let lease = take(&store, &clock, "pull", "first").await.unwrap();
        let mut second = pin!(take(&store, &clock, "pull", "second"));
        let refused = loop {
            tokio::select! {
                biased;
                came = &mut second => break came.unwrap_err(),
                () = tokio::task::yield_now() => store.renew_lease(&lease, clock.now_ms(), EXPIRES_MS).unwrap(),
            }
        };
        assert!(matches!(refused, Error::Busy { owner, since_ms: 0 } if owner == "first"));
    }

    #[tokio::test]
    async fn work_stops_when_the_lease_went_to_somebody_else() {
        let (store, clock) = (Store::open(&Place::Memory).unwrap(), Jumping::default());
        let lease = take(&store, &clock, "pull", "first").await.unwrap();
        clock.0.fetch_add(EXPIRES_MS, Ordering::SeqCst);
        take(&store, &clock, "pull", "second").await.unwrap();
        let stopped = keep(&store, &clock, &lease, naps(20)).await.unwrap_err();
        assert!(stopped.loses_the_lease(), "{stopped}");
    }

    /// A clock that jumps to wherever somebody wants to wait for.
    #[derive(Default)]
    struct Jumping(AtomicI64);

    impl Clock for Jumping {
        fn now_ms(&self) -> i64 {
            self.0.load(Ordering::SeqCst)
        }

        fn monotonic_ms(&self) -> i64 {
            self.now_ms()
        }

        fn sleep_until(&self, until_ms: i64) -> Waiting<'_> {
            Box::pin(async move {
                self.0.fetch_max(until_ms, Ordering::SeqCst);
                tokio::task::yield_now().await;
            })
        }
    }

    /// Work that takes so many polls.
    async fn naps(count: u32) -> Result<(), Error> {
        for _ in 0..count {
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}
