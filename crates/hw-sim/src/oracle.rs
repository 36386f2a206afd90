//! The judge: what is true in the world, for a test to compare a reader's memory with.

mod told;

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{CommentKind, Thread, ThreadKind, World};
use told::Teller;

/// Everything a reader of the organisation could know now, keyed by numeric id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// All that exist, archived ones and forks included.
    pub repositories: BTreeMap<i64, TrueRepository>,
    pub issues: BTreeMap<i64, TrueIssue>,
    pub pull_requests: BTreeMap<i64, TruePullRequest>,
    pub discussions: BTreeMap<i64, TrueDiscussion>,
    /// Ids are unique within one kind of comment only.
    pub comments: BTreeMap<(CommentKind, i64), TrueComment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueRepository {
    pub id: i64,
    pub node_id: String,
    pub name: String,
    pub url: String,
    pub is_archived: bool,
    pub is_fork: bool,
    pub has_issues_enabled: bool,
    pub has_discussions_enabled: bool,
    pub created_at: String,
    pub updated_at: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueIssue {
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    /// Its name, without the organisation.
    pub repository: String,
    pub url: String,
    pub title: String,
    pub body: String,
    /// `OPEN` or `CLOSED`.
    pub state: String,
    pub state_reason: Option<String>,
    pub author: Option<String>,
    /// `None` also for the one sort of author that has no numeric id.
    pub author_id: Option<i64>,
    pub labels: Vec<String>,
    pub created_at: String,
    pub updated_at: String,
    pub closed_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruePullRequest {
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    pub repository: String,
    pub url: String,
    pub title: String,
    pub body: String,
    /// `OPEN`, `CLOSED` or `MERGED`.
    pub state: String,
    pub is_draft: bool,
    pub head_ref_name: String,
    /// Numbers of existing issues of the same repository.
    pub closing_issues: Vec<i64>,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub labels: Vec<String>,
    pub created_at: String,
    pub updated_at: String,
    pub closed_at: Option<String>,
    pub merged_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueDiscussion {
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    pub repository: String,
    pub url: String,
    pub title: String,
    pub body: String,
    pub closed: bool,
    pub state_reason: Option<String>,
    pub is_answered: bool,
    pub category: String,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub labels: Vec<String>,
    pub created_at: String,
    pub updated_at: String,
    pub closed_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueComment {
    pub id: i64,
    pub node_id: String,
    pub kind: CommentKind,
    pub thread_kind: ThreadKind,
    /// The id of the issue, pull request or discussion it belongs to.
    pub thread_id: i64,
    pub thread_number: i64,
    pub repository_id: i64,
    /// The id of the comment it answers, or of the review it belongs to.
    pub parent_id: Option<i64>,
    pub url: String,
    pub body: String,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub created_at: String,
    pub updated_at: String,
}

impl World {
    /// What a complete mirror of the repositories that are neither archived nor forks holds.
    ///
    /// What the token has no access to is left out, and so are issues that are switched off.
    #[must_use]
    pub fn truth(&self) -> Truth {
        self.truth_where(|repository| !repository.is_archived && !repository.is_fork)
    }

    /// The same for the repositories a test chooses; `repositories` always lists all.
    #[must_use]
    pub fn truth_where(&self, keep: impl Fn(&TrueRepository) -> bool) -> Truth {
        let teller = Teller::new(self, i64::MAX);
        let mut truth = Truth::default();
        let mut kept = BTreeSet::new();
        for repository in self.view(i64::MAX).repositories() {
            let told = teller.repository(repository);
            if keep(&told) {
                kept.insert(repository.index);
            }
            truth.repositories.insert(told.id, told);
        }
        let threads = self.view(i64::MAX).threads();
        for thread in threads.filter(|thread| kept.contains(&thread.repository)) {
            keep_thread(&mut truth, teller, thread);
        }
        for comment in self.view(i64::MAX).comments() {
            let told = teller.comment(comment);
            truth.comments.extend(
                told.filter(|(at, _)| kept.contains(at))
                    .map(|(_, told)| ((told.kind, told.id), told)),
            );
        }
        truth
    }

    /// Every state an issue was ever in, with the moment it began; the name of its repository is
    /// part of it.
    #[must_use]
    pub fn history_of_issue(&self, id: i64) -> Vec<(i64, TrueIssue)> {
        let mut history: Vec<(i64, TrueIssue)> = Vec::new();
        for moment in self.moments_of(ThreadKind::Issue, id) {
            let Some(thread) = self.thread_by_id(ThreadKind::Issue, id, moment) else { continue };
            let told = Teller::of_everything(self, moment).issue(thread);
            if history.last().is_none_or(|(_, last)| *last != told) {
                history.push((moment, told));
            }
        }
        history
    }
}

fn keep_thread(truth: &mut Truth, teller: Teller<'_>, thread: &Thread) {
    match thread.kind {
        ThreadKind::Issue => {
            truth.issues.insert(thread.id, teller.issue(thread));
        }
        ThreadKind::PullRequest => {
            truth.pull_requests.insert(thread.id, teller.pull_request(thread));
        }
        ThreadKind::Discussion => {
            truth.discussions.insert(thread.id, teller.discussion(thread));
        }
    }
}
