//! The names of what we follow.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::item::Kind;

/// What is followed: an organisation's repositories, or one repository by its immutable id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    Organization(String),
    Repository(i64),
}

/// One kind of listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Surface {
    Repositories,
    Discussions,
    Issues,
    PullRequests,
}

impl Surface {
    pub const ALL: [Self; 4] =
        [Self::Repositories, Self::Discussions, Self::Issues, Self::PullRequests];
    /// The listings of one repository.
    pub const OF_A_REPOSITORY: [Self; 3] = [Self::Discussions, Self::Issues, Self::PullRequests];

    /// The name in tables, metrics and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repositories => "repositories",
            Self::Discussions => "discussions",
            Self::Issues => "issues",
            Self::PullRequests => "pull-requests",
        }
    }

    /// The surface of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.name() == name)
    }

    /// What is listed there.
    pub fn kind(self) -> Kind {
        match self {
            Self::Repositories => Kind::Repository,
            Self::Discussions => Kind::Discussion,
            Self::Issues => Kind::Issue,
            Self::PullRequests => Kind::PullRequest,
        }
    }

    /// Whether a window cuts it: discussions and repositories are few, and read whole.
    pub fn has_window(self) -> bool {
        matches!(self, Self::Issues | Self::PullRequests)
    }
}

/// One scope × surface at one source: one coverage, one walk at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Lane {
    /// The source's host (`github.com`, or an Enterprise Server's name).
    pub host: String,
    pub scope: Scope,
    pub surface: Surface,
}

impl Lane {
    /// The listing of an organisation's repositories.
    pub fn repositories(host: &str, organization: &str) -> Self {
        let scope = Scope::Organization(organization.to_owned());
        Self { host: host.to_owned(), scope, surface: Surface::Repositories }
    }

    /// One listing of one repository.
    pub fn of_repository(host: &str, repository_id: i64, surface: Surface) -> Self {
        let scope = Scope::Repository(repository_id);
        Self { host: host.to_owned(), scope, surface }
    }

    /// The issues of one repository.
    pub fn issues(host: &str, repository_id: i64) -> Self {
        Self::of_repository(host, repository_id, Surface::Issues)
    }
}

/// The lane's name, unique in a workspace; also its key in the store.
impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let surface = self.surface.name();
        match &self.scope {
            Scope::Organization(login) => write!(f, "{}/org/{login}/{surface}", self.host),
            Scope::Repository(id) => write!(f, "{}/repository/{id}/{surface}", self.host),
        }
    }
}
