//! The simulated world: everything that was ever written, with its history.
//!
//! Only the public actions change it, each at a time passed in by the caller. Reading never changes it.

mod comments;
mod hidden_author;
mod objects;
mod random_activity;
mod random_conversations;
mod replica_view;
mod repositories;
mod seeding;
mod text_generator;
mod thread_index;
mod thread_store;
mod threads;
mod version_history;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub use objects::{CommentKind, ThreadKind};
pub(crate) use objects::{SimComment, SimOwner, SimRepository, SimThread, SimUser, is_answerable};
pub(crate) use replica_view::{NodeTarget, ReplicaView, ThreadDeparture};
use text_generator::TextGenerator;
pub use text_generator::WireText;
use thread_index::ThreadIndex;
pub(crate) use thread_index::{ThreadOrder, ThreadPosition};
pub(crate) use version_history::VersionHistory;

use crate::world_spec::ActivitySpec;

/// The first id of issues, pull requests and comments alike: beyond 32 bits, and the same for all,
/// because GitHub's ids are unique within one kind only.
const FIRST_WIDE_ID: i64 = 3_000_000_000;

/// Everything that exists or ever existed.
#[derive(Debug)]
pub struct World {
    /// The organization, then all others.
    owners: Vec<SimOwner>,
    web_url: Arc<str>,
    viewer: usize,
    repositories: Vec<RepositoryEntry>,
    threads: Vec<ThreadEntry>,
    comments: Vec<CommentEntry>,
    users: Vec<UserEntry>,
    nodes: HashMap<Arc<str>, NodeTarget>,
    /// The repositories that ever had a name, oldest first, by owner and name in lower case.
    name_holders: HashMap<(usize, String), Vec<usize>>,
    thread_ids: HashMap<(ThreadKind, i64), usize>,
    ids: IdSequences,
    rng: fastrand::Rng,
    texts: TextGenerator,
    list_lag_ms: u64,
    activity: ActivitySpec,
    next_action_ms: i64,
    /// The error of the service's clock, which all timestamps come from.
    clock_offset_ms: i64,
    /// The relations of accounts to repositories that were set, by the indexes of both.
    associations: HashMap<(usize, usize), &'static str>,
    /// The content of an author who is hidden now.
    hidden: hidden_author::HiddenContent,
    /// Comments that were hidden for a while and came back with their old times.
    unhidden_comments: HashSet<usize>,
    unhidden_threads: HashSet<usize>,
    /// Repositories in which a thread was ever hidden with its author.
    pub(crate) had_hidden_threads: HashSet<usize>,
}

#[derive(Debug)]
struct RepositoryEntry {
    versions: VersionHistory<SimRepository>,
    /// In the order of [`ThreadKind::ALL`].
    thread_indexes: [ThreadIndex; 3],
    /// The thread with each number, from 1 on; numbers are never reused.
    threads_by_number: Vec<usize>,
}

#[derive(Debug)]
struct ThreadEntry {
    versions: VersionHistory<SimThread>,
    /// Every comment that was ever on it; a transfer moves them along.
    comments: Vec<usize>,
    moved_to: Option<usize>,
    /// Before this time no list contains it, even if it changes.
    unlisted_until_ms: i64,
}

#[derive(Debug)]
struct CommentEntry {
    versions: VersionHistory<SimComment>,
    /// Before this time no list contains it, even if it changes.
    unlisted_until_ms: i64,
    /// Replies to it, or the line comments of a review.
    children: Vec<usize>,
}

#[derive(Debug)]
struct UserEntry {
    user: SimUser,
    is_deleted: bool,
}

/// The last id of each sequence.
#[derive(Debug)]
struct IdSequences {
    repository: i64,
    issue: i64,
    pull_request: i64,
    discussion: i64,
    conversation: i64,
    review_comment: i64,
    review: i64,
    discussion_comment: i64,
}

impl IdSequences {
    fn new() -> Self {
        Self {
            repository: 700_000_000,
            issue: FIRST_WIDE_ID,
            pull_request: FIRST_WIDE_ID,
            discussion: 7_000_000,
            conversation: FIRST_WIDE_ID,
            review_comment: FIRST_WIDE_ID,
            review: FIRST_WIDE_ID,
            discussion_comment: 12_000_000,
        }
    }

    fn thread_sequence(&mut self, kind: ThreadKind) -> &mut i64 {
        match kind {
            ThreadKind::Issue => &mut self.issue,
            ThreadKind::PullRequest => &mut self.pull_request,
            ThreadKind::Discussion => &mut self.discussion,
        }
    }

    fn comment_sequence(&mut self, kind: CommentKind) -> &mut i64 {
        match kind {
            CommentKind::Conversation => &mut self.conversation,
            CommentKind::ReviewComment => &mut self.review_comment,
            CommentKind::Review => &mut self.review,
            CommentKind::Discussion | CommentKind::Reply => &mut self.discussion_comment,
        }
    }
}

impl World {
    /// Returns the organization's login.
    #[must_use]
    pub fn organization(&self) -> &str {
        &self.owners[0].login
    }

    /// Returns the login of every token's user.
    #[must_use]
    pub fn viewer(&self) -> &str {
        self.users.get(self.viewer).map_or("", |entry| &entry.user.login)
    }

    /// Returns the view of a replica that stopped at this time.
    pub(crate) fn view_at(&self, at_ms: i64) -> ReplicaView<'_> {
        ReplicaView::new(self, at_ms)
    }

    /// Returns the states of a thread after each change to it or its repository, oldest first, visible or not.
    ///
    /// Both of two changes in one millisecond are included: a list may contain the first of them for a while.
    pub(crate) fn thread_states(&self, kind: ThreadKind, id: i64) -> Vec<(i64, &SimThread)> {
        let Some(index) = self.thread_ids.get(&(kind, id)) else { return Vec::new() };
        let versions = &self.threads[*index].versions;
        let own =
            versions.iter().filter_map(|version| Some((version.at_ms, version.state.as_ref()?)));
        let mut states: Vec<(i64, &SimThread)> = own.collect();
        let repository = states.first().map(|(_, thread)| &self.repositories[thread.repository]);
        let changes = repository.into_iter().flat_map(|repository| repository.versions.iter());
        states.extend(
            changes.filter_map(|version| Some((version.at_ms, versions.state_at(version.at_ms)?))),
        );
        states.sort_by_key(|(at_ms, _)| *at_ms);
        states.retain(|(at_ms, thread)| {
            self.view_at(*at_ms).including_hidden().repository(thread.repository).is_some()
        });
        states
    }

    pub(crate) fn thread_indexes(&self) -> impl Iterator<Item = usize> + use<> {
        0..self.threads.len()
    }

    pub(crate) fn thread_versions(&self, index: usize) -> &VersionHistory<SimThread> {
        &self.threads[index].versions
    }

    /// Returns the state of a thread, or the last one before it was deleted.
    pub(crate) fn last_thread_state(&self, index: usize) -> Option<&SimThread> {
        self.threads[index].versions.last_state_at(i64::MAX)
    }

    /// Returns the threads that were transferred to their repository from another one.
    pub(crate) fn transferred_threads(&self) -> HashSet<usize> {
        self.threads.iter().filter_map(|entry| entry.moved_to).collect()
    }

    /// Returns the comments that were ever on a thread.
    pub(crate) fn comment_indexes(&self, thread: usize) -> impl Iterator<Item = usize> {
        self.threads[thread].comments.iter().copied()
    }

    pub(crate) fn comment_versions(&self, index: usize) -> &VersionHistory<SimComment> {
        &self.comments[index].versions
    }

    pub(crate) fn comment_unlisted_until(&self, index: usize) -> i64 {
        self.comments[index].unlisted_until_ms
    }

    pub(crate) fn repository_id_at(&self, index: usize) -> Option<i64> {
        let versions = &self.repositories[index].versions;
        versions.last_state_at(i64::MAX).map(|repository| repository.id)
    }

    /// Shifts the service's clock.
    pub(crate) fn shift_clock(&mut self, ms: i64) {
        self.clock_offset_ms += ms;
    }

    pub(crate) fn clock_offset_ms(&self) -> i64 {
        self.clock_offset_ms
    }

    /// Converts a time to the service's clock.
    fn service_time(&self, now_ms: i64) -> i64 {
        now_ms + self.clock_offset_ms
    }

    /// Picks the time at which a change made now reaches the lists: often at once.
    fn pick_listing_time(&mut self, now_ms: i64) -> i64 {
        if self.list_lag_ms == 0 || self.rng.bool() {
            return now_ms;
        }
        let lag = self.rng.u64(0..=self.list_lag_ms);
        now_ms.saturating_add_unsigned(lag)
    }

    fn pick_active_user(&mut self) -> Option<usize> {
        let alive: Vec<usize> =
            (0..self.users.len()).filter(|index| !self.users[*index].is_deleted).collect();
        alive.get(self.rng.usize(0..alive.len().max(1))).copied()
    }
}

/// Returns an opaque id in the newer of GitHub's two formats.
fn node_id(prefix: &str, id: i64) -> Arc<str> {
    format!("{prefix}_kwDO{}", URL_SAFE_NO_PAD.encode(id.to_be_bytes())).into()
}

/// Returns the next id of a sequence; ids have gaps, as on GitHub.
fn next_id(last: &mut i64, rng: &mut fastrand::Rng) -> i64 {
    *last += rng.i64(1..=3);
    *last
}
