//! The birth of a world: its people, its repositories and what was said before anybody looked.

use std::collections::HashMap;

use super::objects::{CommentKind, ThreadKind};
use super::texts::Author;
use super::threads::{close, toggle_label};
use super::{Found, Ids, User, UserEntry, World, node_id};
use crate::spec::WorldSpec;

const NAMES: [&str; 12] = [
    "pump",
    "gauge",
    "tide-tables",
    "lock-keeper",
    "sluice",
    "drydock",
    "mooring",
    "beacon",
    "chartroom",
    "ballast",
    "semaphore",
    "capstan",
];
const LOGINS: [&str; 12] = [
    "anchor", "bosun", "cooper", "docker", "ensign", "ferryman", "gunnel", "halyard", "inlet",
    "jetty", "keel", "lanyard",
];
const DAY_MS: i64 = 86_400_000;

impl World {
    /// A world as its spec asks for, the same for the same seed.
    pub(crate) fn born(spec: &WorldSpec, seed: u64) -> Self {
        let mut world = Self::empty(spec, seed);
        let threads = spec.repositories * (spec.issues + spec.pull_requests + spec.discussions);
        world.threads.reserve_exact(threads);
        world.nodes.reserve(threads);
        world.thread_ids.reserve(threads);
        world.people(spec.users.max(1));
        let birth = spec.start_ms - i64::from(spec.history_days) * DAY_MS;
        for index in 0..spec.repositories {
            world.seed_repository(spec, index, birth);
        }
        world.list_lag_ms = spec.list_lag_ms;
        world
    }

    fn empty(spec: &WorldSpec, seed: u64) -> Self {
        let node = node_id("O", 1);
        let mut dice = fastrand::Rng::with_seed(seed);
        let author = Author::new(spec.hostile_text, spec.body_bytes, &mut dice);
        Self {
            organization: spec.organization.as_str().into(),
            web_url: spec.web_url.as_str().into(),
            viewer: 0,
            repositories: Vec::new(),
            threads: Vec::new(),
            comments: Vec::new(),
            users: Vec::new(),
            nodes: HashMap::from([(node, Found::Organization)]),
            names: HashMap::new(),
            thread_ids: HashMap::new(),
            ids: Ids::new(),
            dice,
            author,
            list_lag_ms: 0,
            writers: spec.writers.clone(),
            next_action_ms: spec.start_ms,
            clock_offset_ms: 0,
            hidden: Default::default(),
            shown_again: Default::default(),
            threads_shown_again: Default::default(),
            had_hidden_threads: Default::default(),
        }
    }

    /// Plain users, and one of each of the stranger sorts of author when there is room.
    fn people(&mut self, count: usize) {
        for index in 0..count {
            let (prefix, type_name) = match index {
                3 => ("BOT", "Bot"),
                5 => ("M", "Mannequin"),
                7 => ("EUA", "EnterpriseUserAccount"),
                _ => ("U", "User"),
            };
            let id = 1000 + i64::try_from(index).unwrap_or(0) * 7;
            let login = match LOGINS.get(index) {
                Some(login) => (*login).to_owned(),
                None => format!("hand-{index}"),
            };
            let node_id = node_id(prefix, id);
            self.nodes.insert(node_id.clone(), Found::User(index));
            let user = User { id, node_id, login: login.into(), type_name };
            self.users.push(UserEntry { user, is_deleted: false });
        }
    }

    fn seed_repository(&mut self, spec: &WorldSpec, index: usize, birth: i64) {
        let name = match NAMES.get(index) {
            Some(name) => (*name).to_owned(),
            None => format!("yard-{index}"),
        };
        let repository = self.add_repository(&name, birth);
        let counts = [spec.issues, spec.pull_requests, spec.discussions];
        let mut births = self.births(counts, birth, spec.start_ms);
        births.sort_unstable();
        for (created, kind) in births {
            self.seed_thread(spec, repository, kind, created);
        }
        self.put_in_order(repository);
        match index % 7 {
            _ if spec.plain => {}
            3 => self.change_repository(repository, birth, |it| it.is_archived = true),
            5 => self.change_repository(repository, birth, |it| it.is_fork = true),
            _ => {}
        }
    }

    fn births(&mut self, counts: [usize; 3], from: i64, until: i64) -> Vec<(i64, ThreadKind)> {
        let mut births = Vec::new();
        for (kind, count) in ThreadKind::ALL.into_iter().zip(counts) {
            for _ in 0..count {
                births.push((self.dice.i64(from..until.max(from + 1)), kind));
            }
        }
        births
    }

    fn seed_thread(&mut self, spec: &WorldSpec, repository: usize, kind: ThreadKind, at_ms: i64) {
        let title = self.author.title(&mut self.dice);
        let body = self.author.body(&mut self.dice);
        let thread = self.add_thread(kind, repository, title, body, at_ms);
        let mut moments: Vec<i64> = (0..self.dice.usize(0..=2 * spec.comments_per_thread))
            .map(|_| self.dice.i64(at_ms..spec.start_ms.max(at_ms + 1)))
            .collect();
        moments.sort_unstable();
        for moment in &moments {
            self.comment_somehow(thread, *moment);
        }
        let last = moments.last().copied().unwrap_or(at_ms);
        if self.dice.bool() {
            let label = self.author.label(&mut self.dice);
            self.change_thread(thread, last, |thread| toggle_label(thread, label, at_ms));
        }
        if self.dice.u8(0..3) == 0 {
            self.close_or_merge(thread, last);
        }
    }

    pub(super) fn close_or_merge(&mut self, thread: usize, now_ms: i64) {
        let merged = self.dice.bool();
        self.change_thread(thread, now_ms, |thread| {
            close(thread, now_ms);
            if thread.kind == ThreadKind::PullRequest && merged {
                thread.merged_ms = Some(now_ms);
            }
        });
    }

    /// A comment, a reply, a review or a line of one: whatever the thread can hold.
    pub(super) fn comment_somehow(&mut self, thread: usize, now_ms: i64) {
        let Some(kind) = self.threads[thread].versions.now().map(|thread| thread.kind) else {
            return;
        };
        let body = self.author.remark(&mut self.dice);
        let (plain, parent_kind, child) = match kind {
            ThreadKind::Issue => (CommentKind::Conversation, None, CommentKind::Conversation),
            ThreadKind::PullRequest if self.dice.bool() => {
                (CommentKind::Review, Some(CommentKind::Review), CommentKind::ReviewComment)
            }
            ThreadKind::PullRequest => (CommentKind::Conversation, None, CommentKind::Conversation),
            ThreadKind::Discussion => {
                (CommentKind::Discussion, Some(CommentKind::Discussion), CommentKind::Reply)
            }
        };
        let parent = parent_kind.and_then(|kind| self.parent_for(thread, kind));
        let kind = if parent.is_some() { child } else { plain };
        self.insert_comment(kind, thread, parent, body, now_ms);
    }

    fn parent_for(&mut self, thread: usize, kind: CommentKind) -> Option<usize> {
        let held: Vec<usize> = self.threads[thread]
            .comments
            .iter()
            .filter_map(|index| self.comments[*index].versions.now())
            .filter(|comment| comment.kind == kind && comment.thread == thread)
            .map(|comment| comment.index)
            .collect();
        let parent = held.get(self.dice.usize(0..held.len().max(1))).copied();
        parent.filter(|_| self.dice.bool())
    }
}
