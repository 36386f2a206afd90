//! Names the lanes of a mirror: which listing of which scope at which source.

use std::fmt;

use crate::bluesky::did::Did;
use crate::item::{CommentKind, ObjectKind, ThreadKind};
use crate::login::Login;
use crate::repository_key::{Host, RepositoryId, RepositoryKey};

/// The owner of a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// An organization or a user.
    Owner(Login),
    /// One repository.
    Repository(RepositoryId),
    /// The repositories that are followed one by one, whoever owns them.
    SingleRepositories,
    /// One account on Bluesky.
    Account(Did),
}

/// One kind of listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Surface {
    Repositories,
    /// The issues and pull requests of a repository by their last change. It says which of them moved, and stores none.
    Activity,
    Threads(ThreadKind),
    Comments(CommentKind),
    /// The posts and reposts of an account.
    Feed,
}

/// The order in which a listing of a repository is read, with the kinds of rows that are read so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadStrategy {
    /// Newest change first, down to a stop.
    NewestFirst(ThreadKind),
    /// Everything since a point in time, oldest change first.
    Since(SinceList),
    /// Thread by thread, only threads that moved.
    PerThread(PerThreadCommentKind),
}

/// A list of a whole repository that takes `since`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinceList {
    /// Issues and pull requests together.
    Activity,
    Comments(SinceCommentKind),
}

/// A kind of comment that comes as one list of the whole repository, which takes `since`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinceCommentKind {
    Conversation,
    ReviewComment,
}

/// A kind of comment that comes only with its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerThreadCommentKind {
    Review,
    DiscussionComment,
}

impl From<SinceCommentKind> for CommentKind {
    fn from(kind: SinceCommentKind) -> Self {
        match kind {
            SinceCommentKind::Conversation => Self::Conversation,
            SinceCommentKind::ReviewComment => Self::ReviewComment,
        }
    }
}

impl PerThreadCommentKind {
    pub const ALL: [Self; 2] = [Self::Review, Self::DiscussionComment];

    /// Returns the kind of the threads that have such comments.
    pub fn thread_kind(self) -> ThreadKind {
        match self {
            Self::Review => ThreadKind::PullRequest,
            Self::DiscussionComment => ThreadKind::Discussion,
        }
    }
}

impl From<PerThreadCommentKind> for CommentKind {
    fn from(kind: PerThreadCommentKind) -> Self {
        match kind {
            PerThreadCommentKind::Review => Self::Review,
            PerThreadCommentKind::DiscussionComment => Self::DiscussionComment,
        }
    }
}

impl From<CommentKind> for ReadStrategy {
    fn from(kind: CommentKind) -> Self {
        match kind {
            CommentKind::Conversation => {
                Self::Since(SinceList::Comments(SinceCommentKind::Conversation))
            }
            CommentKind::ReviewComment => {
                Self::Since(SinceList::Comments(SinceCommentKind::ReviewComment))
            }
            CommentKind::Review => Self::PerThread(PerThreadCommentKind::Review),
            CommentKind::DiscussionComment => {
                Self::PerThread(PerThreadCommentKind::DiscussionComment)
            }
        }
    }
}

impl Surface {
    pub const ALL: [Self; 10] = [
        Self::Repositories,
        Self::Threads(ThreadKind::Discussion),
        Self::Threads(ThreadKind::Issue),
        Self::Threads(ThreadKind::PullRequest),
        Self::Comments(CommentKind::Conversation),
        Self::Comments(CommentKind::ReviewComment),
        Self::Comments(CommentKind::Review),
        Self::Comments(CommentKind::DiscussionComment),
        // after the threads, whose kind it shares
        Self::Activity,
        Self::Feed,
    ];
    /// The listings of a repository's threads.
    pub const THREADS: [Self; 3] = [
        Self::Threads(ThreadKind::Discussion),
        Self::Threads(ThreadKind::Issue),
        Self::Threads(ThreadKind::PullRequest),
    ];
    /// The listings of the comments in these threads.
    pub const COMMENTS: [Self; 4] = [
        Self::Comments(CommentKind::Conversation),
        Self::Comments(CommentKind::ReviewComment),
        Self::Comments(CommentKind::Review),
        Self::Comments(CommentKind::DiscussionComment),
    ];

    /// Returns the kinds of the threads whose comments this surface lists; empty unless it lists comments.
    pub fn commented_threads(self) -> &'static [ThreadKind] {
        match self {
            Self::Comments(kind) => kind.thread_kinds(),
            Self::Repositories | Self::Activity | Self::Threads(_) | Self::Feed => &[],
        }
    }

    /// Returns the name used in tables, metrics and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repositories => "repositories",
            Self::Activity => "activity",
            Self::Threads(ThreadKind::Discussion) => "discussions",
            Self::Threads(ThreadKind::Issue) => "issues",
            Self::Threads(ThreadKind::PullRequest) => "pull-requests",
            Self::Comments(CommentKind::Conversation) => "issue-comments",
            Self::Comments(CommentKind::ReviewComment) => "review-comments",
            Self::Comments(CommentKind::Review) => "reviews",
            Self::Comments(CommentKind::DiscussionComment) => "discussion-comments",
            Self::Feed => "feed",
        }
    }

    /// Returns the name as sentences use it, without hyphens: `pull requests`.
    pub fn label(self) -> String {
        self.name().replace('-', " ")
    }

    /// Returns the surface with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.name() == name)
    }

    /// Returns the kind of item that the surface lists. To the list of activity, a pull request is an issue as well.
    pub fn kind(self) -> ObjectKind {
        match self {
            Self::Repositories => ObjectKind::Repository,
            Self::Activity => ThreadKind::Issue.into(),
            Self::Threads(kind) => kind.into(),
            Self::Comments(kind) => kind.into(),
            Self::Feed => ObjectKind::Post,
        }
    }

    /// Returns the order in which a pull reads the surface; none for surfaces that are no listing of a repository.
    pub fn read_strategy(self) -> Option<ReadStrategy> {
        match self {
            Self::Repositories | Self::Feed => None,
            Self::Activity => Some(ReadStrategy::Since(SinceList::Activity)),
            Self::Threads(kind) => Some(ReadStrategy::NewestFirst(kind)),
            Self::Comments(kind) => Some(kind.into()),
        }
    }

    /// Returns true if the surface is read thread by thread.
    pub fn is_per_thread(self) -> bool {
        matches!(self.read_strategy(), Some(ReadStrategy::PerThread(_)))
    }

    /// Returns the kind of thread whose comments this surface lists, if they are read thread by thread.
    pub fn per_thread_kind(self) -> Option<ThreadKind> {
        match self.read_strategy()? {
            ReadStrategy::PerThread(kind) => Some(kind.thread_kind()),
            ReadStrategy::NewestFirst(_) | ReadStrategy::Since(_) => None,
        }
    }

    /// Returns the surface that lists the comments of these threads, if they are read thread by thread.
    pub fn per_thread_surface(kind: ThreadKind) -> Option<Self> {
        let mut kinds = PerThreadCommentKind::ALL.into_iter();
        Some(Self::Comments(kinds.find(|comments| comments.thread_kind() == kind)?.into()))
    }

    /// Returns the item that a user selects in order to pull this surface.
    pub fn pull_item(self) -> PullItem {
        match self {
            Self::Repositories => PullItem::Repositories,
            Self::Threads(ThreadKind::Discussion) => PullItem::Discussions,
            Self::Threads(ThreadKind::Issue) => PullItem::Issues,
            Self::Threads(ThreadKind::PullRequest) => PullItem::PullRequests,
            // read for watches only, together with the comments of a repository
            Self::Activity | Self::Comments(_) => PullItem::Comments,
            Self::Feed => PullItem::Posts,
        }
    }

    /// Returns true if the window limits the surface. Discussions and repositories are few, and always read whole;
    /// a per-thread surface goes as far back as its threads.
    pub fn has_window(self) -> bool {
        match self {
            Self::Repositories | Self::Feed => false,
            Self::Activity => true,
            Self::Threads(kind) => kind != ThreadKind::Discussion,
            Self::Comments(_) => !self.is_per_thread(),
        }
    }
}

/// An item that a user selects for a pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PullItem {
    Repositories,
    Discussions,
    Issues,
    PullRequests,
    Comments,
    /// Read by the polls of accounts, never by a pull.
    Posts,
}

impl PullItem {
    pub const ALL: [Self; 5] =
        [Self::Repositories, Self::Discussions, Self::Issues, Self::PullRequests, Self::Comments];
    /// The items that are pulled when the user selects none.
    pub const DEFAULT: [Self; 4] =
        [Self::Repositories, Self::Discussions, Self::Issues, Self::PullRequests];

    /// Returns the name used in arguments and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repositories => "repositories",
            Self::Discussions => "discussions",
            Self::Issues => "issues",
            Self::PullRequests => "pull-requests",
            Self::Comments => "comments",
            Self::Posts => "posts",
        }
    }

    /// Returns the item with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|item| item.name() == name)
    }
}

/// One scope × surface at one source: one coverage, one walk at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lane {
    pub host: Host,
    pub scope: Scope,
    pub surface: Surface,
}

impl Lane {
    /// Returns the lane of an owner's repositories.
    pub fn owner_repositories(host: impl Into<Host>, login: Login) -> Self {
        Self { host: host.into(), scope: Scope::Owner(login), surface: Surface::Repositories }
    }

    /// Returns the lane of the repositories that are followed one by one.
    pub fn single_repositories(host: impl Into<Host>) -> Self {
        let scope = Scope::SingleRepositories;
        Self { host: host.into(), scope, surface: Surface::Repositories }
    }

    /// Returns the lane of one surface of one repository.
    pub fn for_repository(repository: RepositoryKey, surface: Surface) -> Self {
        let RepositoryKey { host, id } = repository;
        Self { host, scope: Scope::Repository(id), surface }
    }

    /// Returns the lane of one repository's issues.
    pub fn repository_issues(repository: RepositoryKey) -> Self {
        Self::for_repository(repository, Surface::Threads(ThreadKind::Issue))
    }

    /// Returns the lane of an account's feed.
    pub fn account_feed(host: impl Into<Host>, did: Did) -> Self {
        Self { host: host.into(), scope: Scope::Account(did), surface: Surface::Feed }
    }

    /// Returns the account that the lane belongs to; none for lists of a code host.
    pub fn account(&self) -> Option<&Did> {
        match &self.scope {
            Scope::Account(did) => Some(did),
            Scope::Owner(_) | Scope::Repository(_) | Scope::SingleRepositories => None,
        }
    }

    /// Returns the repository that the lane belongs to; none for a list of repositories.
    pub fn repository(&self) -> Option<RepositoryKey> {
        match &self.scope {
            Scope::Repository(id) => Some(RepositoryKey { host: self.host.clone(), id: *id }),
            Scope::Owner(_) | Scope::SingleRepositories | Scope::Account(_) => None,
        }
    }
}

/// Formats the lane's name. It is unique in a workspace, and the lane's key in the store.
impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let surface = self.surface.name();
        match &self.scope {
            // written before users were followed, too
            Scope::Owner(login) => {
                write!(f, "{}/org/{}/{surface}", self.host, login.to_key())
            }
            Scope::Repository(id) => write!(f, "{}/repository/{id}/{surface}", self.host),
            Scope::SingleRepositories => write!(f, "{}/sources/single/{surface}", self.host),
            Scope::Account(did) => write!(f, "{}/account/{did}/{surface}", self.host),
        }
    }
}
