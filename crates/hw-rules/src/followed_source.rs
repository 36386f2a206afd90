//! Names what a workspace follows: all repositories of an owner, or one repository.

use std::fmt;

use crate::login::Login;

/// A repository's name with its owner. GitHub ignores the case of both.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryName {
    pub owner: Login,
    pub name: String,
}

impl RepositoryName {
    pub fn new(owner: Login, name: &str) -> Self {
        Self { owner, name: name.to_owned() }
    }

    /// Names a repository that GitHub or the workspace knows.
    pub fn from_known(owner: &str, name: &str) -> Self {
        Self::new(Login::from_known(owner), name)
    }

    /// Returns true if both name the same repository.
    pub fn is_same(&self, other: &Self) -> bool {
        self.owner == other.owner && self.name.eq_ignore_ascii_case(&other.name)
    }

    /// Returns true if this is the name of a repository with this owner and name.
    pub fn is_name_of(&self, owner: &str, name: &str) -> bool {
        self.owner.is_same(owner) && self.name.eq_ignore_ascii_case(name)
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
    pub owner: Option<Login>,
    pub name: String,
}

impl RepositorySelector {
    /// Returns true if it selects a repository with this owner and name.
    pub fn selects(&self, owner: &str, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
            && self.owner.as_ref().is_none_or(|selected| selected.is_same(owner))
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
    Owner(Login),
    /// One repository, even if it is archived or a fork.
    Repository(RepositoryName),
}

impl FollowedSource {
    /// Reads `acme` or `acme/pump`, as stored: they were checked when the source was added.
    pub fn from_stored(text: &str) -> Self {
        match text.split_once('/') {
            Some((owner, name)) => Self::Repository(RepositoryName::from_known(owner, name)),
            None => Self::Owner(Login::from_known(text)),
        }
    }

    /// Returns true if both name the same source.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Owner(login), Self::Owner(other)) => login == other,
            (Self::Repository(name), Self::Repository(other)) => name.is_same(other),
            (Self::Owner(_), Self::Repository(_)) | (Self::Repository(_), Self::Owner(_)) => false,
        }
    }
}

/// Formats the source as the user writes it.
impl fmt::Display for FollowedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(login) => login.fmt(f),
            Self::Repository(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_is_an_owner_or_a_repository_in_any_case() {
        let repository = FollowedSource::from_stored("acme/pump");
        assert_eq!(
            repository,
            FollowedSource::Repository(RepositoryName::from_known("acme", "pump"))
        );
        assert!(repository.is_same(&FollowedSource::from_stored("ACME/Pump")));
        assert!(!repository.is_same(&FollowedSource::from_stored("acme")));
        assert_eq!(FollowedSource::from_stored("bob").to_string(), "bob");
    }
}
