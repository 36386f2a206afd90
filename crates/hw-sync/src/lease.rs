//! Holds a lease: one pull runs at a time, renews its lease while it works, and releases it at the end.

use std::pin::pin;

use hw_store::{LeaseHolder, LeasedStore, StoreWriter};

use crate::SyncError;
use crate::clock::Clock;

pub const LEASE_RENEW_MS: i64 = 1_000;
pub const LEASE_TTL_MS: i64 = 5_000;

/// A lease that is released on drop, because the work can be stopped wherever it waits.
pub struct LeaseGuard {
    store: LeasedStore,
    is_owned: bool,
}

impl LeaseGuard {
    /// Acquires the lease; the error names its holder.
    pub async fn acquire(
        store: &StoreWriter,
        clock: &dyn Clock,
        name: &str,
        owner: &str,
    ) -> Result<Self, SyncError> {
        let store = acquire_lease(store, clock, name, owner).await?;
        Ok(Self { store, is_owned: true })
    }

    /// Returns the store that writes under the lease.
    pub fn store(&self) -> &LeasedStore {
        &self.store
    }

    /// Keeps the lease from being released on drop: another process has it, or its owner counts as dead.
    pub fn abandon(&mut self) {
        self.is_owned = false;
    }
}

impl Drop for LeaseGuard {
    fn drop(&mut self) {
        if self.is_owned
            && let Err(error) = self.store.release_lease()
        {
            tracing::warn!(%error, "could not release the lease; it expires by itself");
        }
    }
}

/// Acquires the lease; the error names its holder.
///
/// A live holder renews its lease each second, which shows no matter how far apart the clocks are. A lease that is
/// not renewed is waited for until it expires, or until nobody renewed it for as long by our own clock.
pub async fn acquire_lease(
    store: &StoreWriter,
    clock: &dyn Clock,
    name: &str,
    owner: &str,
) -> Result<LeasedStore, SyncError> {
    let give_up_ms = clock.now_ms() + LEASE_TTL_MS + 2 * LEASE_RENEW_MS;
    let mut before = store.lease_holder(name)?;
    let mut unchanged_since_ms = clock.monotonic_ms();
    if before.is_some() {
        wait_for_renewal(clock).await;
    }
    loop {
        if let Some(holder) =
            store.lease_holder(name)?.filter(|holder| Some(holder) != before.as_ref())
        {
            return Err(busy_error(holder));
        }
        let is_dead = clock.monotonic_ms() - unchanged_since_ms >= LEASE_TTL_MS;
        let dead = before.as_ref().filter(|_| is_dead);
        match store.take_lease_unless_renewed(name, owner, dead, clock.now_ms(), LEASE_TTL_MS)? {
            Ok(leased) => return Ok(leased),
            Err(holder) if clock.now_ms() > give_up_ms => return Err(busy_error(holder)),
            Err(holder) => {
                if before.as_ref() != Some(&holder) {
                    unchanged_since_ms = clock.monotonic_ms();
                }
                before = Some(holder);
            }
        }
        wait_for_renewal(clock).await;
    }
}

fn busy_error(holder: LeaseHolder) -> SyncError {
    SyncError::Busy { owner: holder.owner, since_ms: holder.since_ms }
}

async fn wait_for_renewal(clock: &dyn Clock) {
    clock.sleep_until(clock.now_ms() + LEASE_RENEW_MS + LEASE_RENEW_MS / 5).await;
}

/// Runs the work while renewing the lease; stops the work when the lease is lost.
pub async fn run_with_lease<T>(
    store: &LeasedStore,
    clock: &dyn Clock,
    work: impl Future<Output = Result<T, SyncError>>,
) -> Result<T, SyncError> {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            biased;
            result = &mut work => return result,
            () = clock.sleep_until(clock.now_ms() + LEASE_RENEW_MS) => renew_lease(store, clock)?,
        }
    }
}

/// Renews the lease, and tolerates a busy database: each write checks the epoch, so a lease that was lost meanwhile
/// does no harm.
fn renew_lease(store: &LeasedStore, clock: &dyn Clock) -> Result<(), SyncError> {
    match store.renew_lease(clock.now_ms(), LEASE_TTL_MS) {
        Err(error) if error.is_transient() => {
            tracing::warn!(%error, "could not renew the lease; retrying");
            Ok(())
        }
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use hw_store::DatabaseLocation;

    use super::*;
    use crate::clock::SleepFuture;

    #[tokio::test]
    async fn lease_is_renewed_during_long_work() {
        let (store, clock) =
            (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), JumpingClock::default());
        let leased = acquire_lease(&store, &clock, "pull", "first").await.unwrap();
        run_with_lease(&leased, &clock, yield_times(20)).await.unwrap();
        let refused = store.take_lease("pull", "second", clock.now_ms(), LEASE_TTL_MS).unwrap();
        assert!(matches!(refused, Err(holder) if holder.owner == "first" && holder.since_ms == 0));
    }

    #[tokio::test]
    async fn lease_is_released_when_its_work_is_stopped() {
        let (store, clock) =
            (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), JumpingClock::default());
        let stopped = LeaseGuard::acquire(&store, &clock, "pull", "stopped").await.unwrap();
        drop(stopped);
        assert_eq!(store.lease_holder("pull").unwrap(), None);
        let mut dead = LeaseGuard::acquire(&store, &clock, "pull", "dead").await.unwrap();
        dead.abandon();
        drop(dead);
        assert_eq!(store.lease_holder("pull").unwrap().unwrap().owner, "dead");
    }

    #[tokio::test]
    async fn lease_that_is_not_renewed_is_waited_for() {
        let (store, clock) =
            (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), JumpingClock::default());
        acquire_lease(&store, &clock, "pull", "dead").await.unwrap();
        let leased = acquire_lease(&store, &clock, "pull", "next").await.unwrap();
        assert_eq!(leased.lease().owner, "next");
        assert!(clock.now_ms() >= LEASE_TTL_MS, "not before it expired");
    }

    #[tokio::test]
    async fn lease_of_a_dead_holder_whose_clock_was_ahead_is_taken() {
        let (store, clock) =
            (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), JumpingClock::default());
        store.take_lease("pull", "dead", 600_000, LEASE_TTL_MS).unwrap().unwrap();
        let leased = acquire_lease(&store, &clock, "pull", "next").await.unwrap();
        assert_eq!(leased.lease().owner, "next");
        let waited_ms = clock.now_ms();
        assert!((LEASE_TTL_MS..LEASE_TTL_MS + 2_000).contains(&waited_ms), "{waited_ms}");
    }

    #[tokio::test]
    async fn lease_that_is_renewed_stays_with_its_live_holder() {
        let (store, clock) =
            (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), JumpingClock::default());
        let leased = acquire_lease(&store, &clock, "pull", "first").await.unwrap();
        let mut second = pin!(acquire_lease(&store, &clock, "pull", "second"));
        let refused = loop {
            tokio::select! {
                biased;
                result = &mut second => break result.unwrap_err(),
                () = tokio::task::yield_now() => leased.renew_lease(clock.now_ms(), LEASE_TTL_MS).unwrap(),
            }
        };
        assert!(matches!(refused, SyncError::Busy { owner, since_ms: 0 } if owner == "first"));
    }

    #[tokio::test]
    async fn lease_lost_to_another_owner_stops_the_work() {
        let (store, clock) =
            (StoreWriter::open(&DatabaseLocation::Memory).unwrap(), JumpingClock::default());
        let leased = acquire_lease(&store, &clock, "pull", "first").await.unwrap();
        clock.0.fetch_add(LEASE_TTL_MS, Ordering::SeqCst);
        acquire_lease(&store, &clock, "pull", "second").await.unwrap();
        let stopped = run_with_lease(&leased, &clock, yield_times(20)).await.unwrap_err();
        assert!(stopped.has_lost_lease(), "{stopped}");
    }

    /// A clock that jumps to the end of each wait.
    #[derive(Default)]
    struct JumpingClock(AtomicI64);

    impl Clock for JumpingClock {
        fn now_ms(&self) -> i64 {
            self.0.load(Ordering::SeqCst)
        }

        fn monotonic_ms(&self) -> i64 {
            self.now_ms()
        }

        fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_> {
            Box::pin(async move {
                self.0.fetch_max(until_ms, Ordering::SeqCst);
                tokio::task::yield_now().await;
            })
        }
    }

    /// Yields this many times.
    async fn yield_times(count: u32) -> Result<(), SyncError> {
        for _ in 0..count {
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}
