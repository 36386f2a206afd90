//! The objects of the world, each as one snapshot.

use std::sync::Arc;

use super::text_generator::WireText;
use crate::world_spec::OwnerKind;

/// The kind of a thread. All three share one sequence of numbers per repository.
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

    /// Returns the segment in its web URL.
    pub(crate) fn url_segment(self) -> &'static str {
        match self {
            Self::Issue => "issues",
            Self::PullRequest => "pull",
            Self::Discussion => "discussions",
        }
    }
}

/// The kind of a comment, which decides the lists that contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommentKind {
    /// On an issue or a pull request.
    Conversation,
    /// On a line of a pull request.
    ReviewComment,
    /// The body of a review.
    Review,
    /// On a discussion.
    Discussion,
    /// A reply to a comment on a discussion; its ids come from the same sequence.
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

/// An account that owns repositories.
#[derive(Debug, Clone)]
pub(crate) struct SimOwner {
    pub(crate) kind: OwnerKind,
    /// True if the account is not found, for example because it is suspended.
    pub(crate) is_hidden: bool,
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    pub(crate) login: Arc<str>,
}

#[derive(Debug, Clone)]
pub(crate) struct SimRepository {
    pub(crate) index: usize,
    pub(crate) owner: usize,
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    pub(crate) name: Arc<str>,
    pub(crate) description: WireText,
    pub(crate) is_archived: bool,
    pub(crate) is_fork: bool,
    /// True if the token has no access to it.
    pub(crate) is_hidden: bool,
    pub(crate) has_issues: bool,
    pub(crate) has_discussions: bool,
    pub(crate) created_ms: i64,
    /// Changed by settings only, not by issues or discussions.
    pub(crate) updated_ms: i64,
    pub(crate) pushed_ms: i64,
    pub(crate) stars: i64,
}

impl SimRepository {
    /// Returns true if threads of a kind are enabled; pull requests always are.
    pub(crate) fn has_threads(&self, kind: ThreadKind) -> bool {
        match kind {
            ThreadKind::Issue => self.has_issues,
            ThreadKind::PullRequest => true,
            ThreadKind::Discussion => self.has_discussions,
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SimThread {
    pub(crate) index: usize,
    pub(crate) kind: ThreadKind,
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    /// The id of the issue behind it; for a pull request it differs from its own id.
    pub(crate) issue_id: i64,
    pub(crate) number: i64,
    pub(crate) repository: usize,
    pub(crate) title: WireText,
    pub(crate) body: WireText,
    pub(crate) is_open: bool,
    pub(crate) state_reason: Option<&'static str>,
    pub(crate) author: Option<usize>,
    pub(crate) labels: Vec<Arc<str>>,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    /// The time of a change that is not recorded yet.
    pub(crate) touched_ms: Option<i64>,
    pub(crate) closed_ms: Option<i64>,
    pub(crate) merged_ms: Option<i64>,
    pub(crate) is_draft: bool,
    /// The seed of its commit ids.
    pub(crate) head_seed: u64,
    /// The number of pushes since it was opened, or since its head was reset to the first commit.
    pub(crate) push_count: u64,
    /// The number of times that its history was rewritten.
    pub(crate) rewrite_count: u64,
    /// The numbers of the issues that it closes when merged.
    pub(crate) closes: Vec<i64>,
    pub(crate) category: &'static str,
    pub(crate) is_answered: bool,
}

impl SimThread {
    pub(crate) fn state(&self) -> &'static str {
        match (self.is_open, self.merged_ms) {
            (true, _) => "OPEN",
            (false, Some(_)) => "MERGED",
            (false, None) => "CLOSED",
        }
    }

    /// Returns the branch of a pull request.
    pub(crate) fn head_ref(&self) -> String {
        format!("change-{}", self.number)
    }

    pub(crate) fn head_oid(&self) -> String {
        let seed = self.head_seed.wrapping_add(self.push_count);
        format!("{seed:016x}{:024x}", seed.rotate_left(17).wrapping_add(self.rewrite_count))
    }

    /// Pushes a commit to the branch of an open pull request at some times and not at others. Draws no random number,
    /// so that the other actions of a seed do not depend on it.
    pub(crate) fn push_sometimes(&mut self, now_ms: i64) {
        let choice = self.head_seed.rotate_left(7) ^ now_ms.unsigned_abs();
        let is_pushed = choice.count_ones().is_multiple_of(2);
        if self.kind == ThreadKind::PullRequest && self.is_open && is_pushed {
            self.push_count += 1;
        }
    }

    /// Returns true if the question was answered; `None` if the category does not allow answers.
    pub(crate) fn answer_status(&self) -> Option<bool> {
        is_answerable(self.category).then_some(self.is_answered)
    }

    /// Names another issue, or none, in the new text of a pull request. Draws no random number, so that the other actions
    /// of a seed do not depend on it.
    pub(crate) fn rename_closed_issue(&mut self, now_ms: i64) {
        if self.kind != ThreadKind::PullRequest {
            return;
        }
        let choice = self.head_seed.rotate_left(23) ^ now_ms.unsigned_abs();
        let number = 1 + i64::try_from(choice % self.number.unsigned_abs()).unwrap_or(0);
        let is_named = choice.count_ones().is_multiple_of(2) && number < self.number;
        self.closes = if is_named { vec![number] } else { Vec::new() };
    }

    /// Marks the time of a change, which becomes a timestamp of the service's clock when it is recorded.
    pub(crate) fn mark_touched(&mut self, now_ms: i64) {
        self.touched_ms = Some(now_ms);
    }
}

/// Returns true if discussions of a category are questions.
pub(crate) fn is_answerable(category: &str) -> bool {
    category == "Q&A"
}

#[derive(Debug, Clone)]
pub(crate) struct SimComment {
    pub(crate) index: usize,
    pub(crate) kind: CommentKind,
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    pub(crate) thread: usize,
    /// The comment it replies to, or the review it belongs to.
    pub(crate) parent: Option<usize>,
    /// The first comment on the same line, of a reply on a line.
    pub(crate) reply_to: Option<usize>,
    pub(crate) body: WireText,
    pub(crate) author: Option<usize>,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    /// The verdict of a review.
    pub(crate) review_state: &'static str,
}

impl SimComment {
    /// Returns the first comment on its line.
    pub(crate) fn root_index(&self) -> usize {
        self.reply_to.unwrap_or(self.index)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct SimUser {
    pub(crate) id: i64,
    pub(crate) node_id: Arc<str>,
    pub(crate) login: Arc<str>,
    pub(crate) type_name: &'static str,
}

impl SimUser {
    /// Returns the type in the REST API, which has no type for a member of an enterprise.
    pub(crate) fn rest_type(&self) -> &'static str {
        match self.type_name {
            "EnterpriseUserAccount" => "User",
            name => name,
        }
    }
}
