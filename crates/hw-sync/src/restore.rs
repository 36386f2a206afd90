//! Restores removed items, while holding the lease of a pull because it writes.

use hw_store::{LeasedStore, RemovedItem, RestoreResult, StoreWriter};

use crate::SyncError;
use crate::chores::run_chores;
use crate::clock::Clock;
use crate::crash_points::CrashPoints;
use crate::lease::{LEASE_TTL_MS, LeaseGuard, run_with_lease};
use crate::pull::PULL_LEASE;

/// Restores items one after the other and returns the result of each.
pub async fn restore_removed_items(
    store: &StoreWriter,
    clock: &dyn Clock,
    owner: &str,
    items: &[RemovedItem],
) -> Result<Vec<RestoreResult>, SyncError> {
    let mut guard = LeaseGuard::acquire(store, clock, PULL_LEASE, owner).await?;
    let store = guard.store().clone();
    let work = restore_with_lease(&store, clock, items);
    let results = run_with_lease(&store, clock, work).await;
    if results.as_ref().is_err_and(SyncError::has_lost_lease) {
        guard.abandon();
    }
    results
}

/// Restores the items between the chores of an earlier pull, which may still be removing them, and those of the
/// restore: a returned repository may have another name.
async fn restore_with_lease(
    store: &LeasedStore,
    clock: &dyn Clock,
    items: &[RemovedItem],
) -> Result<Vec<RestoreResult>, SyncError> {
    let crash_points = CrashPoints::default();
    run_chores(store, clock, &crash_points).await?;
    let mut results = Vec::new();
    for item in items {
        results.push(
            store.restore_removed(item, &|| store.renew_lease(clock.now_ms(), LEASE_TTL_MS))?,
        );
    }
    run_chores(store, clock, &crash_points).await?;
    Ok(results)
}
