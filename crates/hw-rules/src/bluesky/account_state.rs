//! Names the states of accounts: active, or the reason why their posts cannot be read.

/// The state of an account, as the server last reported it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AccountState {
    #[default]
    Active,
    /// No account with this handle or DID, or it was deleted.
    Gone,
    /// Taken down by the service.
    Suspended,
    /// Switched off by its owner, who can switch it on again.
    Deactivated,
    /// It blocks the account whose session is used, or is blocked by it.
    Blocked,
    /// Visible only with a session.
    Private,
    /// The server refuses it for a reason that is not known here.
    Refused,
}

impl AccountState {
    pub const ALL: [Self; 7] = [
        Self::Active,
        Self::Gone,
        Self::Suspended,
        Self::Deactivated,
        Self::Blocked,
        Self::Private,
        Self::Refused,
    ];

    /// Returns the name used in tables and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Gone => "gone",
            Self::Suspended => "suspended",
            Self::Deactivated => "deactivated",
            Self::Blocked => "blocked",
            Self::Private => "private",
            Self::Refused => "refused",
        }
    }

    /// Returns the state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    pub fn is_active(self) -> bool {
        self == Self::Active
    }

    /// Returns true if a profile that can be read shows that this state is over. Other accounts have a profile, and
    /// their feed is refused all the same.
    pub fn is_shown_by_profile(self) -> bool {
        match self {
            Self::Gone | Self::Suspended | Self::Deactivated | Self::Blocked => true,
            Self::Active | Self::Private | Self::Refused => false,
        }
    }

    /// Explains the state in a list of accounts; empty for an active one.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Active => "",
            Self::Gone => "not found, or deleted",
            Self::Suspended => "suspended by the service",
            Self::Deactivated => "deactivated by its owner",
            Self::Blocked => "blocks the account that is logged in, or is blocked by it",
            Self::Private => "visible only after logging in",
            Self::Refused => "refused by the server",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_states_have_names_and_texts_of_their_own() {
        for state in AccountState::ALL {
            assert_eq!(AccountState::from_name(state.name()), Some(state));
            assert_eq!(state.describe().is_empty(), state.is_active());
        }
        assert_eq!(AccountState::from_name("other"), None);
    }
}
