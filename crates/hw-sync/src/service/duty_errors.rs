//! What an error means for a duty, and for the service that performs it.

use hw_rules::duty::DutyName;
use hw_store::StoreError;

use crate::SyncError;

/// How a duty failed.
pub(super) enum FailedDuty {
    /// Another worker has it by now, or its lanes were reset: it is requested again.
    Lost,
    /// For a reason that concerns this duty alone.
    Failed(SyncError),
    /// The database failed, which concerns all duties.
    Interrupted(SyncError),
}

impl FailedDuty {
    pub(super) fn from_error(error: SyncError, duty: &DutyName) -> Self {
        match error {
            SyncError::Store(StoreError::LeaseLost { name }) if name == duty.to_string() => {
                Self::Lost
            }
            SyncError::Store(StoreError::Brake { .. } | StoreError::LeaseLost { .. }) => {
                Self::Failed(error)
            }
            SyncError::Store(_) | SyncError::Crashed(_) => Self::Interrupted(error),
            SyncError::Source { .. }
            | SyncError::RejectedPage { .. }
            | SyncError::SweepStopped { .. }
            | SyncError::Unconfirmed { .. }
            | SyncError::RunBrake { .. }
            | SyncError::IncompleteRead { .. }
            | SyncError::Busy { .. }
            | SyncError::Yielded
            | SyncError::ServiceRunning { .. } => Self::Failed(error),
        }
    }
}

/// Returns true if a service that ended with this error should start over after a while.
///
/// A database of another version, a damaged one, and a contradiction in it stay as they are until somebody acts.
pub(super) fn is_worth_a_retry(error: &SyncError) -> bool {
    let SyncError::Store(error) = error else { return false };
    error.is_transient() || matches!(error, StoreError::DiskFull(_) | StoreError::LeaseLost { .. })
}
