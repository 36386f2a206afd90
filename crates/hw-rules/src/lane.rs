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
    /// The conversation of issues and pull requests.
    IssueComments,
    /// On lines of a pull request.
    ReviewComments,
    Reviews,
    /// Of discussions, with the replies.
    DiscussionComments,
}

/// How a surface is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// Newest change first, down to a stop.
    Walk,
    /// Everything since a mark, oldest change first.
    Since,
    /// Thread by thread, those that moved.
    Talks,
}

impl Surface {
    pub const ALL: [Self; 8] = [
        Self::Repositories,
        Self::Discussions,
        Self::Issues,
        Self::PullRequests,
        Self::IssueComments,
        Self::ReviewComments,
        Self::Reviews,
        Self::DiscussionComments,
    ];
    /// The listings of a repository's threads.
    pub const THREADS: [Self; 3] = [Self::Discussions, Self::Issues, Self::PullRequests];
    /// The listings of what is said in them.
    pub const COMMENTS: [Self; 4] =
        [Self::IssueComments, Self::ReviewComments, Self::Reviews, Self::DiscussionComments];

    /// Returns the listings of the threads whose comments this surface lists; empty unless it lists comments.
    pub fn commented_threads(self) -> &'static [Self] {
        match self {
            // pull requests have a conversation, too
            Self::IssueComments => &[Self::Issues, Self::PullRequests],
            Self::ReviewComments | Self::Reviews => &[Self::PullRequests],
            Self::DiscussionComments => &[Self::Discussions],
            Self::Repositories | Self::Discussions | Self::Issues | Self::PullRequests => &[],
        }
    }

    /// The name in tables, metrics and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repositories => "repositories",
            Self::Discussions => "discussions",
            Self::Issues => "issues",
            Self::PullRequests => "pull-requests",
            Self::IssueComments => "issue-comments",
            Self::ReviewComments => "review-comments",
            Self::Reviews => "reviews",
            Self::DiscussionComments => "discussion-comments",
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
            Self::IssueComments => Kind::IssueComment,
            Self::ReviewComments => Kind::ReviewComment,
            Self::Reviews => Kind::Review,
            Self::DiscussionComments => Kind::DiscussionComment,
        }
    }

    pub fn reading(self) -> Reading {
        match self {
            Self::Repositories | Self::Discussions | Self::Issues | Self::PullRequests => {
                Reading::Walk
            }
            Self::IssueComments | Self::ReviewComments => Reading::Since,
            Self::Reviews | Self::DiscussionComments => Reading::Talks,
        }
    }

    /// The threads whose talk is listed there, where it is read thread by thread.
    pub fn talks_in(self) -> Option<Kind> {
        Kind::THREADS.into_iter().find(|kind| Self::of_talks_in(*kind) == Some(self))
    }

    /// Where the talk of such threads is listed.
    pub fn of_talks_in(kind: Kind) -> Option<Self> {
        match kind {
            Kind::PullRequest => Some(Self::Reviews),
            Kind::Discussion => Some(Self::DiscussionComments),
            Kind::Repository
            | Kind::Issue
            | Kind::IssueComment
            | Kind::ReviewComment
            | Kind::Review
            | Kind::DiscussionComment => None,
        }
    }

    /// What a person chooses when this is to be read.
    pub fn choice(self) -> Choice {
        match self {
            Self::Repositories => Choice::Repositories,
            Self::Discussions => Choice::Discussions,
            Self::Issues => Choice::Issues,
            Self::PullRequests => Choice::PullRequests,
            Self::IssueComments
            | Self::ReviewComments
            | Self::Reviews
            | Self::DiscussionComments => Choice::Comments,
        }
    }

    /// Whether a window cuts it: discussions and repositories are few, and read whole; what is read thread
    /// by thread goes as far back as the threads.
    pub fn has_window(self) -> bool {
        matches!(
            self,
            Self::Issues | Self::PullRequests | Self::IssueComments | Self::ReviewComments
        )
    }
}

/// What a person chooses to pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choice {
    Repositories,
    Discussions,
    Issues,
    PullRequests,
    Comments,
}

impl Choice {
    pub const ALL: [Self; 5] =
        [Self::Repositories, Self::Discussions, Self::Issues, Self::PullRequests, Self::Comments];
    /// What is pulled when nothing is chosen.
    pub const USUAL: [Self; 4] =
        [Self::Repositories, Self::Discussions, Self::Issues, Self::PullRequests];

    /// The name in arguments and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repositories => "repositories",
            Self::Discussions => "discussions",
            Self::Issues => "issues",
            Self::PullRequests => "pull-requests",
            Self::Comments => "comments",
        }
    }

    /// The choice of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
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
