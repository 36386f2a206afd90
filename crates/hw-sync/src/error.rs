//! Errors that end a turn or a pull early.

use hw_rules::coverage::CoverageError;
use hw_rules::item_names::ItemNames;
use hw_rules::removal_brake::RunRemovalBrake;
use hw_rules::source_time::SourceInstant;
use hw_sources::error::SourceError;

#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    /// The source could not or would not serve one lane; the others continue.
    #[error("{lane}: {error}")]
    Source { lane: String, error: SourceError },
    /// A page contradicts the stored coverage; the lane stops, nothing was written.
    #[error("{lane}: {error}")]
    RejectedPage { lane: String, error: CoverageError },
    /// A sweep could not be completed; nothing was removed.
    #[error("{lane}: {}", stopped_sweep_reason(.reason))]
    SweepStopped { lane: String, reason: String },
    /// A sweep could not confirm that items are gone; they stay stored.
    #[error("{lane}: {}", .items.append_to(.reason))]
    Unconfirmed { lane: String, reason: String, items: ItemNames },
    /// The run would remove too much over all of its lanes; nothing was removed.
    #[error("{}", .items.append_to(&.brake.to_string()))]
    RunBrake { brake: RunRemovalBrake, items: ItemNames },
    /// A part of a lane could not be read; the rest is stored, and the next turn retries the missing part.
    #[error("{lane}: {reason}")]
    IncompleteRead { lane: String, reason: String },
    #[error("a pull is running: {owner}, since {}", SourceInstant(*.since_ms))]
    Busy { owner: String, since_ms: i64 },
    #[error(transparent)]
    Store(#[from] hw_store::StoreError),
    /// A lane was not read further, because something more important needs its duty. It continues from where it stopped.
    #[error("gave way to a poll")]
    Yielded,
    #[error("a service is running in this workspace: {owner}, since {}", SourceInstant(*.since_ms))]
    ServiceRunning { owner: String, since_ms: i64 },
    /// A test triggered a crash.
    #[error("crashed at {0:?}")]
    Crashed(&'static str),
}

fn stopped_sweep_reason(reason: &str) -> String {
    format!("could not check for deleted items: {reason}; nothing was removed")
}

impl SyncError {
    /// Returns true if the process has no lease to release: it counts as dead, or another process has the lease.
    pub(crate) fn has_lost_lease(&self) -> bool {
        match self {
            Self::Crashed(_) => true,
            // a server that cannot be reached cannot release the lease, either; it expires by itself
            Self::Store(error) if error.is_lost_connection() => true,
            Self::Store(error) => {
                error.is_lease_revoked() || matches!(error, hw_store::StoreError::Interrupted(_))
            }
            Self::Source { .. }
            | Self::RejectedPage { .. }
            | Self::SweepStopped { .. }
            | Self::Unconfirmed { .. }
            | Self::RunBrake { .. }
            | Self::IncompleteRead { .. }
            | Self::Busy { .. }
            | Self::Yielded
            | Self::ServiceRunning { .. } => false,
        }
    }

    /// Returns the message without the lane, for callers that print the lane themselves.
    pub fn reason(&self) -> String {
        match self {
            Self::Source { error, .. } => error.to_string(),
            Self::RejectedPage { error, .. } => error.to_string(),
            Self::SweepStopped { reason, .. } => stopped_sweep_reason(reason),
            Self::Unconfirmed { reason, items, .. } => items.append_to(reason),
            Self::IncompleteRead { reason, .. } => reason.clone(),
            Self::RunBrake { .. }
            | Self::Busy { .. }
            | Self::Store(_)
            | Self::Yielded
            | Self::ServiceRunning { .. }
            | Self::Crashed(_) => self.to_string(),
        }
    }

    /// Returns true if too much would have been removed at once.
    pub fn is_brake(&self) -> bool {
        matches!(self, Self::Store(hw_store::StoreError::Brake { .. }) | Self::RunBrake { .. })
    }

    /// Returns the items whose removal was not confirmed, or was stopped by a brake.
    pub fn items(&self) -> ItemNames {
        match self {
            Self::Unconfirmed { items, .. }
            | Self::RunBrake { items, .. }
            | Self::Store(hw_store::StoreError::Brake { items, .. }) => items.clone(),
            Self::Source { .. }
            | Self::RejectedPage { .. }
            | Self::SweepStopped { .. }
            | Self::IncompleteRead { .. }
            | Self::Busy { .. }
            | Self::Store(_)
            | Self::Yielded
            | Self::ServiceRunning { .. }
            | Self::Crashed(_) => ItemNames::default(),
        }
    }

    /// Returns true if only this lane is affected, so that the others continue.
    pub fn is_lane_error(&self) -> bool {
        match self {
            // a rejected token or a dead connection affects all lanes
            Self::Source { error, .. } => {
                !matches!(error, SourceError::TokenRejected(_)) && !error.is_network_error()
            }
            Self::RejectedPage { .. }
            | Self::SweepStopped { .. }
            | Self::Unconfirmed { .. }
            | Self::RunBrake { .. }
            | Self::Yielded
            | Self::IncompleteRead { .. } => true,
            Self::Store(error) => matches!(error, hw_store::StoreError::Brake { .. }),
            Self::Busy { .. } | Self::ServiceRunning { .. } | Self::Crashed(_) => false,
        }
    }
}
