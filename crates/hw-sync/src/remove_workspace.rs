//! Removes a workspace, unless a process works in it.

use hw_store::{
    DatabaseLocation, RemoveCondition, StoreWriter, WorkerIdentity, WorkspaceRemoval,
    remove_database_file,
};

use crate::SyncError;
use crate::clock::Clock;
use crate::worker::Worker;

/// Removes a workspace. This process must not have its database open.
///
/// Beside a file, an OS lock shows whether a process works in it. A schema has only the beats of its workers, which have
/// to be watched for a moment, because they may be dead.
pub async fn remove_workspace(
    location: &DatabaseLocation,
    clock: &dyn Clock,
    identity: &WorkerIdentity,
    condition: RemoveCondition,
) -> Result<WorkspaceRemoval, SyncError> {
    if let DatabaseLocation::File(path) = location {
        return Ok(remove_database_file(path, condition)?);
    }
    let store = StoreWriter::open(location)?;
    let mut worker = Worker::register(&store, clock, identity)?;
    let work = async {
        // a living worker is found in the transaction that would remove the schema
        let dead = worker.wait_until_alone().await?.unwrap_or_default();
        worker.remove_schema(condition, &dead)
    };
    let removed = worker.run(|_| (), work).await?;
    if removed == WorkspaceRemoval::Removed {
        // the worker's row was removed with the schema
        worker.abandon();
    }
    Ok(removed)
}
