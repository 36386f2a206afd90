//! The reasons for which a repository is followed, and the uses of a lane.

/// A reason to store the texts of a repository. They are removed when no reason is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowReason {
    /// A source of the workspace brings it.
    Mirror,
    /// Some of its threads are watched.
    Watch,
}

impl FollowReason {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Watch => "watch",
        }
    }
}

/// A use of a lane. A lane of one use says nothing about what another one has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneUse {
    Mirror,
    Watch,
}

impl LaneUse {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Watch => "watch",
        }
    }
}
