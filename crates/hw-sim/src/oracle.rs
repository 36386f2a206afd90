//! The oracle: the true content of the world, for tests to compare a mirror with.

mod events;
mod snapshot;

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{CommentKind, ThreadKind, World};
pub use events::{EventFloor, EventOracle, EventWatch, SeenChange, SeenEvent, SeenState, SeenText};
use snapshot::SnapshotBuilder;

/// Everything that a reader can know now, keyed by numeric id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroundTruth {
    /// All that exist, including archived ones and forks.
    pub repositories: BTreeMap<i64, TrueRepository>,
    /// Ids are unique within one kind of thread only.
    pub threads: BTreeMap<(ThreadKind, i64), TrueThread>,
    /// Ids are unique within one kind of comment only.
    pub comments: BTreeMap<(CommentKind, i64), TrueComment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueRepository {
    pub id: i64,
    pub node_id: String,
    pub owner: String,
    pub name: String,
    pub url: String,
    pub is_archived: bool,
    pub is_fork: bool,
    pub has_issues_enabled: bool,
    pub has_discussions_enabled: bool,
    pub created_at: String,
    pub updated_at: String,
}

/// An issue, a pull request or a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueThread {
    pub kind: ThreadKind,
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    /// Its name, without the owner.
    pub repository: String,
    pub url: String,
    pub title: String,
    pub body: String,
    /// `OPEN`, `CLOSED` or, for a pull request, `MERGED`.
    pub state: String,
    pub state_reason: Option<String>,
    pub labels: Vec<String>,
    pub author: Option<String>,
    /// `None` also for the one kind of author without a numeric id.
    pub author_id: Option<i64>,
    /// `User`, `Bot`, …: the type in the REST API.
    pub author_type: Option<String>,
    pub author_association: String,
    pub created_at: String,
    pub updated_at: String,
    pub closed_at: Option<String>,
    /// The fields of a pull request.
    pub pull_request: Option<TruePullRequest>,
    /// The fields of a discussion.
    pub discussion: Option<TrueDiscussion>,
    /// True if it was hidden for a while, which changes none of its times.
    pub was_hidden: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruePullRequest {
    pub is_draft: bool,
    pub merged_at: Option<String>,
    pub head_ref_name: String,
    pub head_ref_oid: String,
    /// Numbers of the visible issues of the same repository that it closes.
    pub closing_issues: Vec<i64>,
    /// All numbers that it would close, whether there is such an issue or not.
    pub mentioned_issues: Vec<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueDiscussion {
    pub category: String,
    /// `None` if the category does not allow answers.
    pub is_answered: Option<bool>,
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
    /// True if it came with a thread from another repository, which changes none of its times.
    pub was_transferred: bool,
    /// True if it was hidden for a while, which changes none of its times.
    pub was_hidden: bool,
    /// The id of the comment it replies to, or of the review it belongs to.
    pub parent_id: Option<i64>,
    /// The id of the first comment on the same line, if this is a reply on a line.
    pub reply_to_id: Option<i64>,
    pub url: String,
    pub body: String,
    /// The verdict of a review.
    pub review_state: Option<String>,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    /// `User`, `Bot`, …: the type in the REST API.
    pub author_type: Option<String>,
    pub author_association: String,
    pub created_at: String,
    pub updated_at: String,
}

impl GroundTruth {
    /// Returns the threads of one kind, by id.
    pub fn threads_of_kind(&self, kind: ThreadKind) -> impl Iterator<Item = &TrueThread> {
        self.threads.range((kind, i64::MIN)..=(kind, i64::MAX)).map(|(_, thread)| thread)
    }

    #[must_use]
    pub fn thread_ids(&self, kind: ThreadKind) -> Vec<i64> {
        self.threads_of_kind(kind).map(|thread| thread.id).collect()
    }
}

impl World {
    /// Returns the content of a complete mirror of the repositories that are neither archived nor forks.
    ///
    /// Everything that is disabled, or to which the token has no access, is left out.
    #[must_use]
    pub fn truth(&self) -> GroundTruth {
        self.truth_where(|repository| !repository.is_archived && !repository.is_fork)
    }

    /// Returns the same for the repositories that a test selects; `repositories` always contains all.
    #[must_use]
    pub fn truth_where(&self, is_selected: impl Fn(&TrueRepository) -> bool) -> GroundTruth {
        let view = self.view_at(i64::MAX);
        let builder = SnapshotBuilder::new(self, i64::MAX);
        let mut truth = GroundTruth::default();
        let mut selected = BTreeSet::new();
        for repository in view.repositories() {
            let snapshot = builder.build_repository(repository);
            if is_selected(&snapshot) {
                selected.insert(repository.index);
            }
            truth.repositories.insert(snapshot.id, snapshot);
        }
        for thread in view.threads().filter(|thread| selected.contains(&thread.repository)) {
            truth.threads.insert((thread.kind, thread.id), builder.build_thread(thread));
        }
        for comment in view.comments() {
            let Some(thread) = view.thread(comment.thread) else { continue };
            if selected.contains(&thread.repository) {
                let snapshot = builder.build_comment(comment, thread);
                truth.comments.insert((snapshot.kind, snapshot.id), snapshot);
            }
        }
        truth
    }

    /// Returns every state that a thread was ever in, with the time at which it began, visible or not.
    ///
    /// The name of its repository is part of the state. The issues that a pull request closes are those of that
    /// time: their own changes make no new state.
    #[must_use]
    pub fn thread_history(&self, kind: ThreadKind, id: i64) -> Vec<(i64, TrueThread)> {
        let mut history: Vec<(i64, TrueThread)> = Vec::new();
        for (at_ms, thread) in self.thread_states(kind, id) {
            let state = SnapshotBuilder::including_hidden(self, at_ms).build_thread(thread);
            if history.last().is_none_or(|(_, last)| *last != state) {
                history.push((at_ms, state));
            }
        }
        history
    }

    /// Returns true if a repository's issues were always visible: never disabled, the repository never hidden or
    /// archived, and none of their authors hidden.
    #[must_use]
    pub fn were_issues_always_visible(&self, repository: i64) -> bool {
        self.repository_states(repository).all(|state| {
            state.has_issues
                && !state.is_hidden
                && !state.is_archived
                && !self.had_hidden_threads.contains(&state.index)
        })
    }

    /// Returns true if a repository was always completely readable: never hidden or archived, and nothing disabled.
    #[must_use]
    pub fn was_always_visible(&self, repository: i64) -> bool {
        self.repository_states(repository).all(|state| {
            state.has_issues && state.has_discussions && !state.is_hidden && !state.is_archived
        })
    }
}
