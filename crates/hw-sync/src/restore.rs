//! Restores removed items, with the duty of a pull in hand because it writes what a pull writes.

use hw_rules::duty::DutyName;
use hw_store::{LeasedStore, RemovedItem, RestoreResult, StoreWriter, WorkerIdentity};

use crate::SyncError;
use crate::chores::run_chores;
use crate::clock::Clock;
use crate::crash_points::CrashPoints;
use crate::worker::Worker;

/// Restores items one after the other and returns the result of each.
pub async fn restore_removed_items(
    store: &StoreWriter,
    clock: &dyn Clock,
    identity: &WorkerIdentity,
    items: &[RemovedItem],
) -> Result<Vec<RestoreResult>, SyncError> {
    let worker = Worker::register(store, clock, identity)?;
    let work = async {
        let mut results = Vec::new();
        for items in items.chunk_by(|a, b| a.key.host == b.key.host) {
            let Some(first) = items.first() else { continue };
            let store = worker.claim_at_once(&DutyName::pull(&first.key.host)).await?;
            results.extend(restore_with_lease(&worker, &store, clock, items).await?);
            store.release_duty()?;
        }
        Ok(results)
    };
    let results = worker.run(|_| (), work).await;
    worker.finish(results)
}

/// Restores the items between the chores of an earlier pull, which may still be removing them, and those of the
/// restore: a returned repository may have another name.
async fn restore_with_lease(
    worker: &Worker<'_>,
    store: &LeasedStore,
    clock: &dyn Clock,
    items: &[RemovedItem],
) -> Result<Vec<RestoreResult>, SyncError> {
    let crash_points = CrashPoints::default();
    run_chores(store, clock, &crash_points).await?;
    let mut results = Vec::new();
    for item in items {
        results.push(store.restore_removed(item, &|| worker.beat_in_store())?);
    }
    run_chores(store, clock, &crash_points).await?;
    Ok(results)
}
