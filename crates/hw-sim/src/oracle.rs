//! The judge: what is true in the world, for a test to compare a reader's memory with.

mod told;

use std::collections::{BTreeMap, BTreeSet};

use crate::world::{CommentKind, ThreadKind, World};
use told::Teller;

/// Everything a reader of the organisation could know now, keyed by numeric id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// All that exist, archived ones and forks included.
    pub repositories: BTreeMap<i64, TrueRepository>,
    /// Ids are unique within one kind of thread only.
    pub threads: BTreeMap<(ThreadKind, i64), TrueThread>,
    /// As above.
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

/// An issue, a pull request or a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueThread {
    pub kind: ThreadKind,
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    /// Its name, without the organisation.
    pub repository: String,
    pub url: String,
    pub title: String,
    pub body: String,
    /// `OPEN`, `CLOSED` or, of a pull request, `MERGED`.
    pub state: String,
    pub state_reason: Option<String>,
    pub labels: Vec<String>,
    pub author: Option<String>,
    /// `None` also for the one sort of author that has no numeric id.
    pub author_id: Option<i64>,
    pub created_at: String,
    pub updated_at: String,
    pub closed_at: Option<String>,
    /// What only a pull request has.
    pub pull_request: Option<TruePull>,
    /// What only a discussion has.
    pub talk: Option<TrueTalk>,
    /// Whether it was hidden for a while: that moves none of its times.
    pub is_shown_again: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruePull {
    pub is_draft: bool,
    pub merged_at: Option<String>,
    pub head_ref_name: String,
    /// Numbers of the issues of the same repository it closes, as far as they are there to be seen.
    pub closing_issues: Vec<i64>,
    /// All numbers it would close, whether there is such an issue or not.
    pub mentions: Vec<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueTalk {
    pub category: String,
    /// `None` where the category takes no answers.
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
    /// Whether it came with a thread from another repository: that moves none of its times.
    pub is_transferred: bool,
    /// Whether it was hidden for a while: that moves none of its times, either.
    pub is_shown_again: bool,
    /// The id of the comment it answers, or of the review it belongs to.
    pub parent_id: Option<i64>,
    pub url: String,
    pub body: String,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub created_at: String,
    pub updated_at: String,
}

impl Truth {
    /// The threads of one kind, by id.
    pub fn of_kind(&self, kind: ThreadKind) -> impl Iterator<Item = &TrueThread> {
        let held = self.threads.range((kind, i64::MIN)..=(kind, i64::MAX));
        held.map(|(_, thread)| thread)
    }

    #[must_use]
    pub fn ids(&self, kind: ThreadKind) -> Vec<i64> {
        self.of_kind(kind).map(|thread| thread.id).collect()
    }
}

impl World {
    /// What a complete mirror of the repositories that are neither archived nor forks holds.
    ///
    /// What the token has no access to is left out, and so is what is switched off.
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
            truth.threads.insert((thread.kind, thread.id), teller.thread(thread));
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

    /// Every state a thread was ever in, with the moment it began, whether anybody could see it or not.
    ///
    /// The name of its repository is part of it. The issues a pull request closes are those of that
    /// moment: their own coming and going makes no new state.
    #[must_use]
    pub fn history_of(&self, kind: ThreadKind, id: i64) -> Vec<(i64, TrueThread)> {
        let mut history: Vec<(i64, TrueThread)> = Vec::new();
        for (moment, thread) in self.states_of(kind, id) {
            let told = Teller::of_everything(self, moment).thread(thread);
            if history.last().is_none_or(|(_, last)| *last != told) {
                history.push((moment, told));
            }
        }
        history
    }

    /// Whether a repository's issues could always be seen: never switched off, the repository never
    /// hidden or archived, and nobody hidden who wrote one.
    #[must_use]
    pub fn issues_always_shown(&self, repository: i64) -> bool {
        self.states_of_repository(repository).all(|it| {
            it.has_issues
                && !it.is_hidden
                && !it.is_archived
                && !self.had_hidden_threads.contains(&it.index)
        })
    }

    /// Whether a repository could always be read whole: never hidden or archived, and nothing of it switched off.
    #[must_use]
    pub fn was_always_shown(&self, repository: i64) -> bool {
        self.states_of_repository(repository)
            .all(|it| it.has_issues && it.has_discussions && !it.is_hidden && !it.is_archived)
    }
}
