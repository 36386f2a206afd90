//! Names what a workspace follows: all repositories of an owner, or one repository.

use std::fmt;

/// A repository's name with its owner. GitHub ignores the case of both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryName {
    pub owner: String,
    pub name: String,
}

impl RepositoryName {
    pub fn new(owner: &str, name: &str) -> Self {
        Self { owner: owner.to_owned(), name: name.to_owned() }
    }

    /// Returns true if this is the name of a repository with this owner and name.
    pub fn is_name_of(&self, owner: &str, name: &str) -> bool {
        self.owner.eq_ignore_ascii_case(owner) && self.name.eq_ignore_ascii_case(name)
    }
}

impl fmt::Display for RepositoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)
    }
}

/// A repository as the user wrote it: `pump` of any owner, or `acme/pump`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositorySelector {
    pub owner: Option<String>,
    pub name: String,
}

impl RepositorySelector {
    /// Returns true if it selects a repository with this owner and name.
    pub fn selects(&self, owner: &str, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
            && self.owner.as_ref().is_none_or(|selected| selected.eq_ignore_ascii_case(owner))
    }
}

impl fmt::Display for RepositorySelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.owner {
            Some(owner) => write!(f, "{owner}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// Something that a workspace follows at a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FollowedSource {
    /// The repositories of an organization or a user, except archived ones and forks.
    Owner(String),
    /// One repository, even if it is archived or a fork.
    Repository(RepositoryName),
}

impl FollowedSource {
    /// Parses `acme` or `acme/pump`. Does not check the names.
    pub fn from_text(text: &str) -> Self {
        match text.split_once('/') {
            Some((owner, name)) => Self::Repository(RepositoryName::new(owner, name)),
            None => Self::Owner(text.to_owned()),
        }
    }

    /// Returns true if both name the same source.
    pub fn is_same(&self, other: &Self) -> bool {
        self.to_string().eq_ignore_ascii_case(&other.to_string())
    }
}

/// Formats the source as the user writes it.
impl fmt::Display for FollowedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(login) => f.write_str(login),
            Self::Repository(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_an_owner_or_a_repository_in_any_case() {
        let repository = FollowedSource::from_text("acme/pump");
        assert_eq!(repository, FollowedSource::Repository(RepositoryName::new("acme", "pump")));
        assert!(repository.is_same(&FollowedSource::from_text("ACME/Pump")));
        assert!(!repository.is_same(&FollowedSource::from_text("acme")));
        assert_eq!(FollowedSource::from_text("bob").to_string(), "bob");
    }
}
