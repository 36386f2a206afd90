//! The reasons for which a repository is followed, and the uses of a lane.

/// A reason to store the texts of a repository. They are removed when no reason is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FollowReason {
    /// A source of the workspace brings it.
    Mirror,
    /// Some of its threads are watched.
    Watch,
    /// Issues and pull requests of it are linked to something else that is followed.
    Links,
}

impl FollowReason {
    pub const ALL: [Self; 3] = [Self::Mirror, Self::Watch, Self::Links];

    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Watch => "watch",
            Self::Links => "links",
        }
    }

    /// Returns the reason with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// A use of a lane. A lane of one use says nothing about what another one has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneUse {
    Mirror,
    Watch,
    Links,
}

impl LaneUse {
    pub fn name(self) -> &'static str {
        match self {
            Self::Mirror => "mirror",
            Self::Watch => "watch",
            Self::Links => "links",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follow_reasons_have_names_of_their_own() {
        for reason in FollowReason::ALL {
            assert_eq!(FollowReason::from_name(reason.name()), Some(reason));
        }
        assert_eq!(FollowReason::from_name("other"), None);
    }
}
