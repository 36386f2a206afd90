//! The things of the world, as one snapshot of each looks.

use std::sync::Arc;

use super::texts::Text;

/// What a numbered conversation is. All three share one sequence of numbers per repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadKind {
    Issue,
    PullRequest,
    Discussion,
}

impl ThreadKind {
    pub const ALL: [Self; 3] = [Self::Issue, Self::PullRequest, Self::Discussion];

    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Issue => "Issue",
            Self::PullRequest => "PullRequest",
            Self::Discussion => "Discussion",
        }
    }

    /// The word in its web address.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Issue => "issues",
            Self::PullRequest => "pull",
            Self::Discussion => "discussions",
        }
    }
}

/// What a remark is, and so where it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommentKind {
    /// Below an issue or a pull request.
    Conversation,
    /// On a line of a pull request.
    ReviewComment,
    /// The body of a review.
    Review,
    /// Below a discussion.
    Discussion,
    /// Below a comment of a discussion; its ids come from the same sequence.
    Reply,
}

impl CommentKind {
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Conversation => "IssueComment",
            Self::ReviewComment => "PullRequestReviewComment",
            Self::Review => "PullRequestReview",
            Self::Discussion | Self::Reply => "DiscussionComment",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Repository {
    pub(crate) index: usize,
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) description: Text,
    pub(crate) is_archived: bool,
    pub(crate) is_fork: bool,
    /// Whether the token has no access to it.
    pub(crate) is_hidden: bool,
    pub(crate) has_issues: bool,
    pub(crate) has_discussions: bool,
    pub(crate) created_ms: i64,
    /// Moved by settings only: neither issues nor discussions move it.
    pub(crate) updated_ms: i64,
    pub(crate) pushed_ms: i64,
}

impl Repository {
    /// Whether threads of a kind are switched on; pull requests always are.
    pub(crate) fn has(&self, kind: ThreadKind) -> bool {
        match kind {
            ThreadKind::Issue => self.has_issues,
            ThreadKind::PullRequest => true,
            ThreadKind::Discussion => self.has_discussions,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Thread {
    pub(crate) index: usize,
    pub(crate) kind: ThreadKind,
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    /// The id of the issue behind it; for a pull request that is not its own id.
    pub(crate) issue_id: i64,
    pub(crate) number: i64,
    pub(crate) repository: usize,
    pub(crate) title: Text,
    pub(crate) body: Text,
    pub(crate) open: bool,
    pub(crate) state_reason: Option<&'static str>,
    pub(crate) author: Option<usize>,
    pub(crate) labels: Vec<Arc<str>>,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    /// When it is being changed.
    pub(crate) touched_ms: Option<i64>,
    pub(crate) closed_ms: Option<i64>,
    pub(crate) merged_ms: Option<i64>,
    pub(crate) is_draft: bool,
    /// What its commit id is made of.
    pub(crate) head_seed: u64,
    /// The numbers of the issues that merging it closes.
    pub(crate) closes: Vec<i64>,
    pub(crate) category: &'static str,
    pub(crate) is_answered: bool,
}

impl Thread {
    pub(crate) fn state(&self) -> &'static str {
        match (self.open, self.merged_ms) {
            (true, _) => "OPEN",
            (false, Some(_)) => "MERGED",
            (false, None) => "CLOSED",
        }
    }

    /// The branch a pull request comes from.
    pub(crate) fn head_ref(&self) -> String {
        format!("change-{}", self.number)
    }

    pub(crate) fn head_oid(&self) -> String {
        format!("{:016x}{:024x}", self.head_seed, self.head_seed.rotate_left(17))
    }

    /// Whether somebody answered; `None` where the category takes no answers.
    pub(crate) fn answered(&self) -> Option<bool> {
        takes_answers(self.category).then_some(self.is_answered)
    }

    /// Marks the moment of a change, which the record turns into a stamp of the service's clock.
    pub(crate) fn touch(&mut self, now_ms: i64) {
        self.touched_ms = Some(now_ms);
    }
}

/// Whether discussions of a category are questions.
pub(crate) fn takes_answers(category: &str) -> bool {
    category == "Q&A"
}

#[derive(Debug, Clone)]
pub(crate) struct Comment {
    pub(crate) index: usize,
    pub(crate) kind: CommentKind,
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    pub(crate) thread: usize,
    /// The comment it answers, or the review it belongs to.
    pub(crate) parent: Option<usize>,
    pub(crate) body: Text,
    pub(crate) author: Option<usize>,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    /// The verdict of a review.
    pub(crate) verdict: &'static str,
}

#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    pub(crate) login: Arc<str>,
    pub(crate) type_name: &'static str,
}
