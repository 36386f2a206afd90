//! Whether the mirror equals the simulated world: the demo is its own proof.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hw_rules::clean::storable;
use hw_rules::item::{Kind, Thread};
use hw_rules::lane::{Choice, Surface};
use hw_sim::{CommentKind, ThreadKind, TrueThread, Truth};
use hw_store::{CommentFilter, Store, ThreadFilter};

use super::stage::Stage;
use crate::report::Ours;

/// How many differences are worth naming.
const NAMED: usize = 5;

const THREADS: [(Surface, ThreadKind); 3] = [
    (Surface::Discussions, ThreadKind::Discussion),
    (Surface::Issues, ThreadKind::Issue),
    (Surface::PullRequests, ThreadKind::PullRequest),
];

pub(super) struct Verdict {
    /// Held, and true.
    pub(super) counts: BTreeMap<Choice, (usize, usize)>,
    pub(super) differences: Vec<String>,
}

/// What is compared of a thread.
#[derive(PartialEq, Eq)]
struct Told {
    title: String,
    body: String,
    state: String,
    labels: Vec<String>,
    updated_at: String,
}

impl Verdict {
    pub(super) fn of(store: &Store, stage: &Stage) -> anyhow::Result<Self> {
        let truth = stage.truth();
        let mut verdict = Self { counts: BTreeMap::new(), differences: Vec::new() };
        verdict.compare_repositories(store, stage, &truth)?;
        for (surface, kind) in THREADS {
            verdict.compare_threads(store, surface, truth.of_kind(kind))?;
        }
        verdict.compare_comments(store, &truth)?;
        verdict.differences.truncate(NAMED);
        Ok(verdict)
    }

    fn compare_repositories(
        &mut self,
        store: &Store,
        stage: &Stage,
        truth: &Truth,
    ) -> anyhow::Result<()> {
        let held = store.repositories(&stage.host)?.into_iter().map(|it| (it.id, it.name));
        let is_followed = |it: &&hw_sim::TrueRepository| !it.is_archived && !it.is_fork;
        let followed = truth.repositories.values().filter(is_followed);
        let world = followed.map(|it| (it.id, it.name.clone()));
        self.compare(Choice::Repositories, &held.collect(), &world.collect());
        Ok(())
    }

    fn compare_threads<'a>(
        &mut self,
        store: &Store,
        surface: Surface,
        truth: impl Iterator<Item = &'a TrueThread>,
    ) -> anyhow::Result<()> {
        let mut held = BTreeMap::new();
        store.each_thread(surface.kind(), &ThreadFilter::default(), &mut |row| {
            held.insert(row.thread.id, Told::held(row.thread));
            ControlFlow::Continue(())
        })?;
        let world = truth.map(|it| (it.id, Told::true_of(it))).collect();
        self.compare(surface.choice(), &held, &world);
        Ok(())
    }

    fn compare_comments(&mut self, store: &Store, truth: &Truth) -> anyhow::Result<()> {
        let mut held = BTreeMap::new();
        store.each_comment(&CommentFilter::default(), &mut |row| {
            let said = row.comment;
            let told = (said.thread, said.body, String::from(said.updated_at));
            held.insert((said.kind, said.id), told);
            ControlFlow::Continue(())
        })?;
        let world = truth.comments.values().map(|it| {
            let told = (it.thread_number, it.body.clone(), it.updated_at.clone());
            ((kind(it.kind), it.id), told)
        });
        self.compare(Choice::Comments, &held, &world.collect());
        Ok(())
    }

    fn compare<K: Ord + std::fmt::Debug, T: PartialEq>(
        &mut self,
        choice: Choice,
        held: &BTreeMap<K, T>,
        world: &BTreeMap<K, T>,
    ) {
        let differs = |id: &&K| held.get(id) != world.get(id);
        let ids = held.keys().chain(world.keys().filter(|id| !held.contains_key(id)));
        self.differences.extend(ids.filter(differs).map(|id| format!("{} {id:?}", choice.name())));
        self.counts.insert(choice, (held.len(), world.len()));
    }

    pub(super) fn is_equal(&self) -> bool {
        self.differences.is_empty()
    }

    pub(super) fn or_fail(&self) -> anyhow::Result<()> {
        if self.is_equal() {
            return Ok(());
        }
        Err(Ours(format!(
            "the mirror differs from the simulated world: {}",
            self.differences.join("; ")
        ))
        .into())
    }
}

/// A sort of comment in our words.
fn kind(kind: CommentKind) -> Kind {
    match kind {
        CommentKind::Conversation => Kind::IssueComment,
        CommentKind::ReviewComment => Kind::ReviewComment,
        CommentKind::Review => Kind::Review,
        CommentKind::Discussion | CommentKind::Reply => Kind::DiscussionComment,
    }
}

impl Told {
    fn held(thread: Thread) -> Self {
        let Thread { title, body, state, labels, updated_at, .. } = thread;
        Self { title, body, state, labels, updated_at: updated_at.into() }
    }

    fn true_of(thread: &TrueThread) -> Self {
        let mut labels: Vec<String> = thread.labels.iter().map(|label| storable(label)).collect();
        labels.sort_unstable();
        Self {
            title: storable(&thread.title),
            body: thread.body.clone(),
            state: thread.state.clone(),
            labels,
            updated_at: thread.updated_at.clone(),
        }
    }
}
