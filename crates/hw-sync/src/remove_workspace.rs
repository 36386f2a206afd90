//! Removes a workspace in which no pull is at work.

use hw_store::{HeldBy, Place, RemoveCondition, Store, WorkspaceRemoval, remove_database_file};

use crate::Error;
use crate::clock::Clock;
use crate::lease::Held;
use crate::run::PULL;

/// Removes a workspace. This process must not have its database open.
///
/// Beside a file, the lock of the operating system tells whether a pull is at work. A schema has its lease alone, which
/// has to be watched for a moment: its owner may be dead.
pub async fn remove_workspace(
    place: &Place,
    clock: &dyn Clock,
    owner: &str,
    condition: RemoveCondition,
) -> Result<WorkspaceRemoval, Error> {
    if let Place::File(path) = place {
        return Ok(remove_database_file(path, PULL, condition)?);
    }
    let store = Store::open(place)?;
    let mut held = match Held::take(&store, clock, PULL, owner).await {
        Err(Error::Busy { owner, since_ms }) => {
            let holder = HeldBy { owner, since_ms, expires_ms: clock.now_ms() };
            return Ok(WorkspaceRemoval::Busy(Some(holder)));
        }
        taken => taken?,
    };
    let removed = store.remove_schema(held.lease(), condition)?;
    if removed == WorkspaceRemoval::Removed {
        // its row went with the schema
        held.forget();
    }
    Ok(removed)
}
