//! Creates a world from its spec: users, repositories and the history before the first request.

use std::collections::HashMap;

use super::objects::{CommentKind, ThreadKind};
use super::random_activity::pick_from;
use super::text_generator::TextGenerator;
use super::threads::{mark_closed, toggle_label};
use super::{IdSequences, NodeTarget, SimOwner, SimUser, UserEntry, World, node_id};
use crate::world_spec::{OwnerKind, WorldSpec};

const REPOSITORY_NAMES: [&str; 12] = [
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

/// A thread to be seeded; ordered by its creation.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PlannedThread {
    created_ms: i64,
    kind: ThreadKind,
}

impl World {
    /// Creates a world from its spec, the same for the same seed.
    pub(crate) fn from_spec(spec: &WorldSpec, seed: u64) -> Self {
        let mut world = Self::new_empty(spec, seed);
        let threads = spec.repositories * (spec.issues + spec.pull_requests + spec.discussions);
        world.threads.reserve_exact(threads);
        world.nodes.reserve(threads);
        world.thread_ids.reserve(threads);
        world.create_users(spec.users.max(1));
        let created_ms = spec.start_ms - i64::from(spec.history_days) * DAY_MS;
        for index in 0..spec.repositories {
            world.seed_repository(spec, 0, index, created_ms);
        }
        for (owner, other) in (1..).zip(&spec.other_owners) {
            for index in 0..other.repositories {
                world.seed_repository(spec, owner, index, created_ms);
            }
        }
        world.list_lag_ms = spec.list_lag_ms;
        world
    }

    fn new_empty(spec: &WorldSpec, seed: u64) -> Self {
        let owners = owners_of_spec(spec);
        let nodes = owners.iter().enumerate();
        let nodes = nodes.map(|(index, owner)| (owner.node_id.clone(), NodeTarget::Owner(index)));
        let mut rng = fastrand::Rng::with_seed(seed);
        let texts = TextGenerator::new(spec.hostile_text, spec.body_bytes, &mut rng);
        Self {
            nodes: nodes.collect(),
            owners,
            web_url: spec.web_url.as_str().into(),
            viewer: 0,
            repositories: Vec::new(),
            threads: Vec::new(),
            comments: Vec::new(),
            users: Vec::new(),
            name_holders: HashMap::new(),
            thread_ids: HashMap::new(),
            ids: IdSequences::new(),
            rng,
            texts,
            list_lag_ms: 0,
            activity: spec.activity.clone(),
            next_action_ms: spec.start_ms,
            clock_offset_ms: 0,
            associations: HashMap::new(),
            hidden: Default::default(),
            unhidden_comments: Default::default(),
            unhidden_threads: Default::default(),
            had_hidden_threads: Default::default(),
        }
    }

    /// Creates plain users, and one of each of the rarer kinds of author if there are enough.
    fn create_users(&mut self, count: usize) {
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
            self.nodes.insert(node_id.clone(), NodeTarget::User(index));
            let user = SimUser { id, node_id, login: login.into(), type_name };
            self.users.push(UserEntry { user, is_deleted: false });
        }
    }

    fn seed_repository(&mut self, spec: &WorldSpec, owner: usize, index: usize, created_ms: i64) {
        let name = match REPOSITORY_NAMES.get(index) {
            Some(name) => (*name).to_owned(),
            None => format!("yard-{index}"),
        };
        let repository = self.add_repository(owner, &name, created_ms);
        for thread in self.plan_threads(spec, created_ms) {
            self.seed_thread(spec, repository, thread.kind, thread.created_ms);
        }
        self.build_updated_order(repository);
        match index % 7 {
            _ if spec.no_archives_or_forks => {}
            3 => {
                self.change_repository(repository, created_ms, |repository| {
                    repository.is_archived = true;
                });
            }
            5 => {
                self.change_repository(repository, created_ms, |repository| {
                    repository.is_fork = true;
                });
            }
            _ => {}
        }
    }

    /// Picks the creation times of a repository's threads, oldest first.
    fn plan_threads(&mut self, spec: &WorldSpec, from_ms: i64) -> Vec<PlannedThread> {
        let mut planned = Vec::new();
        for (kind, count) in [
            (ThreadKind::Issue, spec.issues),
            (ThreadKind::PullRequest, spec.pull_requests),
            (ThreadKind::Discussion, spec.discussions),
        ] {
            for _ in 0..count {
                let created_ms = self.rng.i64(from_ms..spec.start_ms.max(from_ms + 1));
                planned.push(PlannedThread { created_ms, kind });
            }
        }
        planned.sort_unstable();
        planned
    }

    fn seed_thread(&mut self, spec: &WorldSpec, repository: usize, kind: ThreadKind, at_ms: i64) {
        let title = self.texts.write_title(&mut self.rng);
        let body = self.texts.write_body(&mut self.rng);
        let thread = self.add_thread(kind, repository, title, body, at_ms);
        let mut moments: Vec<i64> = (0..self.rng.usize(0..=2 * spec.comments_per_thread))
            .map(|_| self.rng.i64(at_ms..spec.start_ms.max(at_ms + 1)))
            .collect();
        moments.sort_unstable();
        for moment in &moments {
            self.add_random_comment(thread, *moment);
        }
        let last = moments.last().copied().unwrap_or(at_ms);
        if self.rng.bool() {
            let label = self.texts.pick_label(&mut self.rng);
            self.change_thread(thread, last, |thread| toggle_label(thread, label, at_ms));
        }
        let is_closed = match spec.open_pull_request_percent {
            Some(percent) if kind == ThreadKind::PullRequest => self.rng.u8(0..100) >= percent,
            _ => self.rng.u8(0..3) == 0,
        };
        if is_closed {
            self.close_or_merge(thread, last);
        }
    }

    pub(super) fn close_or_merge(&mut self, thread: usize, now_ms: i64) {
        let is_merged = self.rng.bool();
        self.change_thread(thread, now_ms, |thread| {
            mark_closed(thread, now_ms);
            if thread.kind == ThreadKind::PullRequest && is_merged {
                thread.merged_ms = Some(now_ms);
            }
        });
    }

    /// Adds a random kind of comment that the thread allows: a comment, a reply, a review or a comment on a line.
    pub(super) fn add_random_comment(&mut self, thread: usize, now_ms: i64) {
        let Some(kind) = self.threads[thread].versions.current().map(|thread| thread.kind) else {
            return;
        };
        let body = self.texts.write_comment(&mut self.rng);
        let (plain, parent_kind, child) = match kind {
            ThreadKind::Issue => (CommentKind::Conversation, None, CommentKind::Conversation),
            ThreadKind::PullRequest if self.rng.bool() => {
                (CommentKind::Review, Some(CommentKind::Review), CommentKind::ReviewComment)
            }
            ThreadKind::PullRequest => (CommentKind::Conversation, None, CommentKind::Conversation),
            ThreadKind::Discussion => {
                (CommentKind::Discussion, Some(CommentKind::Discussion), CommentKind::Reply)
            }
        };
        let parent = parent_kind.and_then(|kind| self.pick_parent(thread, kind));
        let kind = if parent.is_some() { child } else { plain };
        self.insert_comment(kind, thread, parent, body, now_ms);
    }

    fn pick_parent(&mut self, thread: usize, kind: CommentKind) -> Option<usize> {
        let parents: Vec<usize> = self.threads[thread]
            .comments
            .iter()
            .filter_map(|index| self.comments[*index].versions.current())
            .filter(|comment| comment.kind == kind && comment.thread == thread)
            .map(|comment| comment.index)
            .collect();
        let parent = pick_from(&parents, &mut self.rng).copied();
        parent.filter(|_| self.rng.bool())
    }
}

/// Creates the organization and the other owners of a spec.
fn owners_of_spec(spec: &WorldSpec) -> Vec<SimOwner> {
    let organization = (spec.organization.as_str(), OwnerKind::Organization);
    let others = spec.other_owners.iter().map(|other| (other.login.as_str(), other.kind));
    let owners = (1..).zip([organization].into_iter().chain(others));
    owners
        .map(|(id, (login, kind))| SimOwner {
            kind,
            is_hidden: false,
            id,
            node_id: node_id(kind.node_prefix(), id),
            login: login.into(),
        })
        .collect()
}
