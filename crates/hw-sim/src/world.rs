//! The simulated world: everything that was ever written, with its history.
//!
//! Only verbs change it, each at a moment its caller names. Nobody in here knows that it is read.

mod comments;
mod hiding;
mod ledger;
mod objects;
mod repositories;
mod seeding;
mod shelf;
mod texts;
mod threads;
mod versions;
mod view;
mod writers;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub(crate) use objects::{Comment, Repository, Thread, User, takes_answers};
pub use objects::{CommentKind, ThreadKind};
use shelf::Shelf;
pub(crate) use shelf::{OrderBy, Place};
use texts::Author;
pub use texts::Text;
pub(crate) use versions::Versions;
pub(crate) use view::{Departure, Found, View};

use crate::spec::Writers;

/// The first id of issues, pull requests and comments alike: beyond 32 bits, and the same for all,
/// because GitHub's ids are unique within one kind only.
const WIDE_IDS_FROM: i64 = 3_000_000_000;

/// Everything that is and was.
#[derive(Debug)]
pub struct World {
    organization: Arc<str>,
    web_url: Arc<str>,
    viewer: usize,
    repositories: Vec<RepositoryEntry>,
    threads: Vec<ThreadEntry>,
    comments: Vec<CommentEntry>,
    users: Vec<UserEntry>,
    nodes: HashMap<Arc<str>, Found>,
    /// Whoever had a name, oldest first, in lower case.
    names: HashMap<String, Vec<usize>>,
    thread_ids: HashMap<(ThreadKind, i64), usize>,
    ids: Ids,
    dice: fastrand::Rng,
    author: Author,
    list_lag_ms: u64,
    writers: Writers,
    next_action_ms: i64,
    /// How far the service's clock is from the true time; stamps are made by it.
    clock_offset_ms: i64,
    /// What somebody wrote who is hidden now.
    hidden: hiding::Hidden,
    /// Comments that were hidden for a while: they came back with their old times.
    shown_again: HashSet<usize>,
    threads_shown_again: HashSet<usize>,
    /// Repositories in which a thread was ever hidden with its author.
    pub(crate) had_hidden_threads: HashSet<usize>,
}

#[derive(Debug)]
struct RepositoryEntry {
    versions: Versions<Repository>,
    /// In the order of [`ThreadKind::ALL`].
    threads: [Shelf; 3],
    /// Whoever got each number, from 1 on; numbers are never given twice.
    numbered: Vec<usize>,
}

#[derive(Debug)]
struct ThreadEntry {
    versions: Versions<Thread>,
    /// Every comment that ever was here; a transfer takes them along.
    comments: Vec<usize>,
    moved_to: Option<usize>,
    /// Before this moment no list shows it, whatever becomes of it.
    unlisted_until_ms: i64,
}

#[derive(Debug)]
struct CommentEntry {
    versions: Versions<Comment>,
    /// Replies to it, or the line comments of a review.
    children: Vec<usize>,
}

#[derive(Debug)]
struct UserEntry {
    user: User,
    is_deleted: bool,
}

/// The last id given out, per sequence.
#[derive(Debug)]
struct Ids {
    repository: i64,
    issue: i64,
    pull_request: i64,
    discussion: i64,
    conversation: i64,
    review_comment: i64,
    review: i64,
    discussion_comment: i64,
}

impl Ids {
    fn new() -> Self {
        Self {
            repository: 700_000_000,
            issue: WIDE_IDS_FROM,
            pull_request: WIDE_IDS_FROM,
            discussion: 7_000_000,
            conversation: WIDE_IDS_FROM,
            review_comment: WIDE_IDS_FROM,
            review: WIDE_IDS_FROM,
            discussion_comment: 12_000_000,
        }
    }

    fn thread(&mut self, kind: ThreadKind) -> &mut i64 {
        match kind {
            ThreadKind::Issue => &mut self.issue,
            ThreadKind::PullRequest => &mut self.pull_request,
            ThreadKind::Discussion => &mut self.discussion,
        }
    }

    fn comment(&mut self, kind: CommentKind) -> &mut i64 {
        match kind {
            CommentKind::Conversation => &mut self.conversation,
            CommentKind::ReviewComment => &mut self.review_comment,
            CommentKind::Review => &mut self.review,
            CommentKind::Discussion | CommentKind::Reply => &mut self.discussion_comment,
        }
    }
}

impl World {
    /// The organisation's login.
    #[must_use]
    pub fn organization(&self) -> &str {
        &self.organization
    }

    /// The login behind every token.
    #[must_use]
    pub fn viewer(&self) -> &str {
        self.users.get(self.viewer).map_or("", |entry| &entry.user.login)
    }

    /// What a replica that stopped at a moment shows.
    pub(crate) fn view(&self, at_ms: i64) -> View<'_> {
        View::new(self, at_ms)
    }

    /// What a thread was whenever it, or the repository it is in, changed; oldest first, whether a
    /// reader could see it or not.
    ///
    /// Of two changes in one millisecond both are told: a list may show the first of them for a while.
    pub(crate) fn states_of(&self, kind: ThreadKind, id: i64) -> Vec<(i64, &Thread)> {
        let Some(index) = self.thread_ids.get(&(kind, id)) else { return Vec::new() };
        let versions = &self.threads[*index].versions;
        let own = versions.iter().filter_map(|it| Some((it.at_ms, it.state.as_ref()?)));
        let mut states: Vec<(i64, &Thread)> = own.collect();
        let home = states.first().map(|(_, thread)| &self.repositories[thread.repository]);
        let moves = home.into_iter().flat_map(|home| home.versions.iter());
        states.extend(moves.filter_map(|it| Some((it.at_ms, versions.at(it.at_ms)?))));
        states.sort_by_key(|(at_ms, _)| *at_ms);
        let was_there = |(at_ms, thread): &(i64, &Thread)| {
            self.view(*at_ms).of_everything().repository(thread.repository).is_some()
        };
        states.retain(was_there);
        states
    }

    /// Sets the service's clock.
    pub(crate) fn set_clock_by(&mut self, ms: i64) {
        self.clock_offset_ms += ms;
    }

    pub(crate) fn clock_offset_ms(&self) -> i64 {
        self.clock_offset_ms
    }

    /// A moment as the service's clock tells it.
    fn stamp(&self, now_ms: i64) -> i64 {
        now_ms + self.clock_offset_ms
    }

    /// When a change made now reaches the lists: often at once.
    fn listed_from(&mut self, now_ms: i64) -> i64 {
        if self.list_lag_ms == 0 || self.dice.bool() {
            return now_ms;
        }
        let lag = self.dice.u64(0..=self.list_lag_ms);
        now_ms.saturating_add_unsigned(lag)
    }

    fn living_user(&mut self) -> Option<usize> {
        let alive: Vec<usize> =
            (0..self.users.len()).filter(|index| !self.users[*index].is_deleted).collect();
        alive.get(self.dice.usize(0..alive.len().max(1))).copied()
    }
}

/// An opaque id in the newer of GitHub's two formats.
fn node_id(prefix: &str, id: i64) -> Arc<str> {
    format!("{prefix}_kwDO{}", URL_SAFE_NO_PAD.encode(id.to_be_bytes())).into()
}

/// The next id of a sequence; ids have gaps, as everywhere.
fn next_id(last: &mut i64, dice: &mut fastrand::Rng) -> i64 {
    *last += dice.i64(1..=3);
    *last
}
