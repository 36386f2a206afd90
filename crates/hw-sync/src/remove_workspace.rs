//! Removes a workspace, unless a pull is running in it.

use hw_store::{
    DatabaseLocation, LeaseHolder, RemoveCondition, StoreWriter, WorkspaceRemoval,
    remove_database_file,
};

use crate::SyncError;
use crate::clock::Clock;
use crate::lease::LeaseGuard;
use crate::pull::PULL_LEASE;

/// Removes a workspace. This process must not have its database open.
///
/// Beside a file, an OS lock shows whether a pull is running. A schema has only its lease, which has to be watched for
/// a moment, because its owner may be dead.
pub async fn remove_workspace(
    location: &DatabaseLocation,
    clock: &dyn Clock,
    owner: &str,
    condition: RemoveCondition,
) -> Result<WorkspaceRemoval, SyncError> {
    if let DatabaseLocation::File(path) = location {
        return Ok(remove_database_file(path, PULL_LEASE, condition)?);
    }
    let store = StoreWriter::open(location)?;
    let mut guard = match LeaseGuard::acquire(&store, clock, PULL_LEASE, owner).await {
        Err(SyncError::Busy { owner, since_ms }) => {
            let holder = LeaseHolder { owner, since_ms, expires_ms: clock.now_ms() };
            return Ok(WorkspaceRemoval::Busy(Some(holder)));
        }
        other => other?,
    };
    let removed = guard.store().remove_schema(condition)?;
    if removed == WorkspaceRemoval::Removed {
        // the lease's row was removed with the schema
        guard.abandon();
    }
    Ok(removed)
}
