//! Defines the kinds of accounts that write.

use serde::{Deserialize, Serialize};

/// The kind of the account that wrote an item, by GitHub's own name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum AuthorKind {
    User,
    Bot,
    /// Stands for an author whose items were imported from another system.
    Mannequin,
    Organization,
    /// A kind that is not known yet.
    Other(String),
}

impl AuthorKind {
    pub fn from_name(name: &str) -> Self {
        match name {
            "User" => Self::User,
            "Bot" => Self::Bot,
            "Mannequin" => Self::Mannequin,
            "Organization" => Self::Organization,
            other => Self::Other(other.to_owned()),
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::User => "User",
            Self::Bot => "Bot",
            Self::Mannequin => "Mannequin",
            Self::Organization => "Organization",
            Self::Other(name) => name,
        }
    }
}

impl From<String> for AuthorKind {
    fn from(name: String) -> Self {
        Self::from_name(&name)
    }
}

impl From<AuthorKind> for String {
    fn from(kind: AuthorKind) -> Self {
        kind.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn author_kind_survives_its_name() {
        for name in ["User", "Bot", "Mannequin", "Organization", "Robot"] {
            let kind = AuthorKind::from_name(name);
            assert_eq!(kind.name(), name);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("{name:?}"));
            assert_eq!(serde_json::from_str::<AuthorKind>(&format!("{name:?}")).unwrap(), kind);
        }
        assert_eq!(AuthorKind::from_name("bot"), AuthorKind::Other("bot".to_owned()));
    }
}
