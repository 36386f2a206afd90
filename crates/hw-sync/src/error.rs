//! Why a turn or a run ended early.

use hw_rules::coverage::Refused;
use hw_rules::item_names::ItemNames;
use hw_rules::reconcile::RunBrake;
use hw_rules::time::Mark;
use hw_sources::trouble::Trouble;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The source could not or would not serve one lane; the others go on.
    #[error("{lane}: {trouble}")]
    Source { lane: String, trouble: Trouble },
    /// A page contradicts what is held; the lane stops, nothing was written.
    #[error("{lane}: {refused}")]
    Page { lane: String, refused: Refused },
    /// A sweep could not be completed; nothing was removed.
    #[error("{lane}: the sweep stopped: {reason}")]
    Sweep { lane: String, reason: String },
    /// A sweep could not confirm that items are gone; they stay.
    #[error("{lane}: the sweep stopped: {}", .items.append_to(.reason))]
    Unconfirmed { lane: String, reason: String, items: ItemNames },
    /// The run would remove too much over all of its lanes; nothing was removed.
    #[error("{}", .items.append_to(&.brake.to_string()))]
    RunBrake { brake: RunBrake, items: ItemNames },
    /// Something of a lane could not be read; what was read is kept, and the rest is asked for again.
    #[error("{lane}: {reason}")]
    Unread { lane: String, reason: String },
    #[error("another pull is running: {owner}, since {}", Mark(*.since_ms))]
    Busy { owner: String, since_ms: i64 },
    #[error(transparent)]
    Store(#[from] hw_store::Error),
    /// A test pulled the plug.
    #[error("crashed at {0:?}")]
    Crashed(&'static str),
}

impl Error {
    /// Whether the process has no lease to give back: it is as good as dead, or somebody else works.
    pub(crate) fn loses_the_lease(&self) -> bool {
        match self {
            Self::Crashed(_) => true,
            // a server that cannot be reached takes nothing back, either: the lease expires by itself
            Self::Store(error) if error.is_lost_connection() => true,
            Self::Store(error) => {
                matches!(error, hw_store::Error::LeaseLost { .. } | hw_store::Error::Interrupted(_))
            }
            Self::Source { .. }
            | Self::Page { .. }
            | Self::Sweep { .. }
            | Self::Unconfirmed { .. }
            | Self::RunBrake { .. }
            | Self::Unread { .. }
            | Self::Busy { .. } => false,
        }
    }

    /// What is wrong, without the lane: for those who name it in their own way.
    pub fn reason(&self) -> String {
        match self {
            Self::Source { trouble, .. } => trouble.to_string(),
            Self::Page { refused, .. } => refused.to_string(),
            Self::Sweep { reason, .. } => format!("the sweep stopped: {reason}"),
            Self::Unconfirmed { reason, items, .. } => {
                format!("the sweep stopped: {}", items.append_to(reason))
            }
            Self::Unread { reason, .. } => reason.clone(),
            Self::RunBrake { .. } | Self::Busy { .. } | Self::Store(_) | Self::Crashed(_) => {
                self.to_string()
            }
        }
    }

    /// Whether too much would have been removed at once.
    pub fn is_brake(&self) -> bool {
        matches!(self, Self::Store(hw_store::Error::Brake { .. }) | Self::RunBrake { .. })
    }

    /// Returns the items whose removal was not confirmed, or stopped by a brake.
    pub fn items(&self) -> ItemNames {
        match self {
            Self::Unconfirmed { items, .. }
            | Self::RunBrake { items, .. }
            | Self::Store(hw_store::Error::Brake { items, .. }) => items.clone(),
            Self::Source { .. }
            | Self::Page { .. }
            | Self::Sweep { .. }
            | Self::Unread { .. }
            | Self::Busy { .. }
            | Self::Store(_)
            | Self::Crashed(_) => ItemNames::default(),
        }
    }

    /// Whether only this lane is concerned, so that the others go on.
    pub fn is_of_one_lane(&self) -> bool {
        match self {
            // a token that is refused is refused everywhere, and so is a line that is down
            Self::Source { trouble, .. } => {
                !matches!(trouble, Trouble::Denied(_)) && !trouble.is_network()
            }
            Self::Page { .. }
            | Self::Sweep { .. }
            | Self::Unconfirmed { .. }
            | Self::RunBrake { .. }
            | Self::Unread { .. } => true,
            Self::Store(error) => matches!(error, hw_store::Error::Brake { .. }),
            Self::Busy { .. } | Self::Crashed(_) => false,
        }
    }
}
