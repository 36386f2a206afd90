//! Restores removed items, while holding the lease of a pull because it writes.

use hw_store::{RemovedItem, RestoreResult, Store};

use crate::SyncError;
use crate::clock::Clock;
use crate::lease::{LEASE_TTL_MS, LeaseGuard};
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
    let results = items.iter().map(|item| {
        store.restore_removed(&lease, item, &|| {
            store.renew_lease(&lease, clock.now_ms(), LEASE_TTL_MS)
        })
    });
    let results = results.collect::<Result<Vec<_>, _>>().map_err(SyncError::from);
    if results.as_ref().is_err_and(SyncError::has_lost_lease) {
        guard.abandon();
    }
    results
}
