//! Names the kinds of objects: repositories, threads, comments and posts.

use serde::{Deserialize, Serialize};

/// The kind of an object of the mirror. Each kind has a table of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    Repository,
    Thread(ThreadKind),
    Comment(CommentKind),
    /// A post on Bluesky, or a repost.
    Post,
}

/// A kind of thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ThreadKind {
    Discussion,
    Issue,
    PullRequest,
}

/// A kind of comment in a thread.
///
/// Removed comments are stored with these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommentKind {
    /// A comment in the conversation of an issue or pull request.
    #[serde(rename = "issue_comment")]
    Conversation,
    /// A comment on a line of a pull request.
    ReviewComment,
    Review,
    /// A comment on a discussion, or a reply to one.
    DiscussionComment,
}

impl ObjectKind {
    pub const ALL: [Self; 9] = [
        Self::Repository,
        Self::Thread(ThreadKind::Discussion),
        Self::Thread(ThreadKind::Issue),
        Self::Thread(ThreadKind::PullRequest),
        Self::Comment(CommentKind::Conversation),
        Self::Comment(CommentKind::ReviewComment),
        Self::Comment(CommentKind::Review),
        Self::Comment(CommentKind::DiscussionComment),
        Self::Post,
    ];
    /// The kinds of the texts in a repository.
    pub const REPOSITORY_TEXTS: [Self; 7] = [
        Self::Thread(ThreadKind::Discussion),
        Self::Thread(ThreadKind::Issue),
        Self::Thread(ThreadKind::PullRequest),
        Self::Comment(CommentKind::Conversation),
        Self::Comment(CommentKind::ReviewComment),
        Self::Comment(CommentKind::Review),
        Self::Comment(CommentKind::DiscussionComment),
    ];
    /// The kinds that have a search row. New ones come last: a chore that is under way knows them by their number.
    pub const INDEXED: [Self; 8] = [
        Self::Thread(ThreadKind::Discussion),
        Self::Thread(ThreadKind::Issue),
        Self::Thread(ThreadKind::PullRequest),
        Self::Comment(CommentKind::Conversation),
        Self::Comment(CommentKind::ReviewComment),
        Self::Comment(CommentKind::Review),
        Self::Comment(CommentKind::DiscussionComment),
        Self::Post,
    ];

    /// Returns the name used in tables and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::Thread(kind) => kind.name(),
            Self::Comment(kind) => kind.name(),
            Self::Post => "post",
        }
    }

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    pub fn is_thread(self) -> bool {
        self.as_thread().is_some()
    }

    pub fn is_comment(self) -> bool {
        self.as_comment().is_some()
    }

    /// Returns the kind of thread, if it is one.
    pub fn as_thread(self) -> Option<ThreadKind> {
        match self {
            Self::Thread(kind) => Some(kind),
            Self::Repository | Self::Comment(_) | Self::Post => None,
        }
    }

    /// Returns the kind of comment, if it is one.
    pub fn as_comment(self) -> Option<CommentKind> {
        match self {
            Self::Comment(kind) => Some(kind),
            Self::Repository | Self::Thread(_) | Self::Post => None,
        }
    }
}

impl ThreadKind {
    pub const ALL: [Self; 3] = [Self::Discussion, Self::Issue, Self::PullRequest];

    /// Returns the name used in tables and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discussion => "discussion",
            Self::Issue => "issue",
            Self::PullRequest => "pull_request",
        }
    }

    /// Returns the kinds of comments that such a thread can have.
    pub fn comment_kinds(self) -> &'static [CommentKind] {
        match self {
            Self::Discussion => &[CommentKind::DiscussionComment],
            Self::Issue => &[CommentKind::Conversation],
            Self::PullRequest => {
                &[CommentKind::Conversation, CommentKind::ReviewComment, CommentKind::Review]
            }
        }
    }
}

impl CommentKind {
    pub const ALL: [Self; 4] =
        [Self::Conversation, Self::ReviewComment, Self::Review, Self::DiscussionComment];

    /// Returns the name used in tables and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conversation => "issue_comment",
            Self::ReviewComment => "review_comment",
            Self::Review => "review",
            Self::DiscussionComment => "discussion_comment",
        }
    }

    /// Returns the kinds of threads that can have such a comment.
    pub fn thread_kinds(self) -> &'static [ThreadKind] {
        match self {
            // pull requests have a conversation, too
            Self::Conversation => &[ThreadKind::Issue, ThreadKind::PullRequest],
            Self::ReviewComment | Self::Review => &[ThreadKind::PullRequest],
            Self::DiscussionComment => &[ThreadKind::Discussion],
        }
    }
}

impl From<ThreadKind> for ObjectKind {
    fn from(kind: ThreadKind) -> Self {
        Self::Thread(kind)
    }
}

impl From<CommentKind> for ObjectKind {
    fn from(kind: CommentKind) -> Self {
        Self::Comment(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_of_their_own() {
        for kind in ObjectKind::ALL {
            assert_eq!(ObjectKind::from_name(kind.name()), Some(kind));
        }
    }

    #[test]
    fn comment_kinds_are_stored_under_their_names() {
        for kind in CommentKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }

    #[test]
    fn comment_kinds_and_thread_kinds_agree() {
        for (thread, comment) in ThreadKind::ALL
            .into_iter()
            .flat_map(|thread| CommentKind::ALL.map(|kind| (thread, kind)))
        {
            let has = thread.comment_kinds().contains(&comment);
            assert_eq!(has, comment.thread_kinds().contains(&thread), "{thread:?} {comment:?}");
        }
    }
}
