//! The names of what we follow.

use std::fmt;

use serde::{Deserialize, Serialize};

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
    Issues,
}

impl Surface {
    /// The name in tables, metrics and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repositories => "repositories",
            Self::Issues => "issues",
        }
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

    /// The issues of one repository.
    pub fn issues(host: &str, repository_id: i64) -> Self {
        let scope = Scope::Repository(repository_id);
        Self { host: host.to_owned(), scope, surface: Surface::Issues }
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
