//! Restores removed items, while holding the lease of a pull because it writes.

use hw_store::{Lease, RemovedItem, RestoreResult, Store};

use crate::SyncError;
use crate::chores::run_chores;
use crate::clock::Clock;
use crate::crash_points::CrashPoints;
use crate::lease::{LEASE_TTL_MS, LeaseGuard, run_with_lease};
use crate::pull::PULL_LEASE;

/// Restores items one after the other and returns the result of each.
pub async fn restore_removed_items(
    store: &Store,
    clock: &dyn Clock,
    owner: &str,
    items: &[RemovedItem],
) -> Result<Vec<RestoreResult>, SyncError> {
    let mut guard = LeaseGuard::acquire(store, clock, PULL_LEASE, owner).await?;
    let lease = guard.lease().clone();
    let work = restore_with_lease(store, clock, &lease, items);
    let results = run_with_lease(store, clock, &lease, work).await;
    if results.as_ref().is_err_and(SyncError::has_lost_lease) {
        guard.abandon();
    }
    results
}

/// Restores the items between the chores of an earlier pull, which may still be removing them, and those of the
/// restore: a returned repository may have another name.
async fn restore_with_lease(
    store: &Store,
    clock: &dyn Clock,
    lease: &Lease,
    items: &[RemovedItem],
) -> Result<Vec<RestoreResult>, SyncError> {
    let crash_points = CrashPoints::default();
    run_chores(store, lease, clock, &crash_points).await?;
    let mut results = Vec::new();
    for item in items {
        results.push(store.restore_removed(lease, item, &|| {
            store.renew_lease(lease, clock.now_ms(), LEASE_TTL_MS)
        })?);
    }
    run_chores(store, lease, clock, &crash_points).await?;
    Ok(results)
}
