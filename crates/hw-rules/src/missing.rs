//! What may be missing from an answer, as values: each frontend words them, mostly with [`crate::missing_text`].

use crate::lane::{Scope, Surface};
use crate::login::Login;

/// One thing that may be missing from an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The last pull of a source failed as a whole.
    FailedPull { source: String, error: String },
    /// No list of repositories has been read to its end.
    NoListing,
    /// A list of repositories was never read to its end.
    UnreadListing(RepositoryListing),
    /// The last update of a list of repositories failed: a repository that was not listed may contain matches.
    FailedListing(RepositoryListing),
    /// No item of this kind has been pulled.
    NeverPulledThreads(Surface),
    /// No comments have been pulled.
    NeverPulledComments,
    /// Lists of these repositories were never read to the end, have an open gap, or an unfinished walk.
    IncompleteLanes(RepositoryLanes),
    /// The last update of lists of these repositories failed.
    FailedLanes(RepositoryLanes),
    /// Lists of these repositories were never pulled.
    NeverPulledLanes(RepositoryLanes),
    /// The requested repository is not stored.
    UnknownRepository { name: String },
    /// The requested account on Bluesky is not followed.
    UnknownAccount { name: String },
    /// Rows that are damaged were left out.
    DamagedRows { count: u64 },
}

/// A list of repositories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositoryListing {
    /// The repositories of an organization or a user.
    Owner(Login),
    /// The repositories that are followed one by one.
    SingleRepositories,
}

/// One kind of list of some repositories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryLanes {
    pub surface: Surface,
    /// The full names of the repositories; never empty.
    pub repositories: Vec<String>,
}

impl RepositoryListing {
    /// Returns the list of repositories that has this scope; `None` for a single repository or
    /// an account.
    pub fn from_scope(scope: &Scope) -> Option<Self> {
        match scope {
            Scope::Owner(login) => Some(Self::Owner(login.clone())),
            Scope::SingleRepositories => Some(Self::SingleRepositories),
            Scope::Repository(_) | Scope::Account(_) => None,
        }
    }
}

impl RepositoryLanes {
    /// Returns the lists of these repositories; `None` if there are none.
    pub fn new(surface: Surface, repositories: Vec<String>) -> Option<Self> {
        (!repositories.is_empty()).then_some(Self { surface, repositories })
    }
}
