//! Compares the mirror with the simulated GitHub, so that the demo proves what it shows.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hw_rules::item::{self, Thread};
use hw_rules::lane::{PullItem, Surface};
use hw_rules::safe_text::sanitize_for_storage;
use hw_sim::{CommentKind, GroundTruth, ThreadKind, TrueThread};
use hw_store::{CommentFilter, StoreReader, ThreadFilter};

use super::server::DemoServer;
use crate::report::InternalError;

/// The number of differences to report.
const MAX_DIFFERENCES: usize = 5;

const THREAD_KINDS: [(item::ThreadKind, ThreadKind); 3] = [
    (item::ThreadKind::Discussion, ThreadKind::Discussion),
    (item::ThreadKind::Issue, ThreadKind::Issue),
    (item::ThreadKind::PullRequest, ThreadKind::PullRequest),
];

pub(super) struct MirrorComparison {
    pub(super) counts: BTreeMap<PullItem, ComparedCount>,
    pub(super) differences: Vec<String>,
}

/// The number of items of one kind on both sides.
pub(super) struct ComparedCount {
    pub(super) stored: usize,
    pub(super) simulated: usize,
}

/// The fields of a thread that are compared.
#[derive(PartialEq, Eq)]
struct ComparedThread {
    title: String,
    body: String,
    state: String,
    labels: Vec<String>,
    updated_at: String,
}

impl MirrorComparison {
    pub(super) fn from_store(store: &StoreReader, server: &DemoServer) -> anyhow::Result<Self> {
        let truth = server.truth();
        let mut comparison = Self { counts: BTreeMap::new(), differences: Vec::new() };
        comparison.compare_repositories(store, server, &truth)?;
        for (kind, simulated) in THREAD_KINDS {
            comparison.compare_threads(store, kind, truth.threads_of_kind(simulated))?;
        }
        comparison.compare_comments(store, &truth)?;
        comparison.differences.truncate(MAX_DIFFERENCES);
        Ok(comparison)
    }

    /// Compares the repositories. A pull skips archived ones and forks.
    fn compare_repositories(
        &mut self,
        store: &StoreReader,
        server: &DemoServer,
        truth: &GroundTruth,
    ) -> anyhow::Result<()> {
        let stored = store.repositories(&server.host)?.into_iter();
        let stored = stored.map(|repository| (repository.id, repository.name));
        let simulated = truth
            .repositories
            .values()
            .filter(|repository| !repository.is_archived && !repository.is_fork)
            .map(|repository| (repository.id, repository.name.clone()));
        self.compare_items(PullItem::Repositories, &stored.collect(), &simulated.collect());
        Ok(())
    }

    fn compare_threads<'a>(
        &mut self,
        store: &StoreReader,
        kind: item::ThreadKind,
        truth: impl Iterator<Item = &'a TrueThread>,
    ) -> anyhow::Result<()> {
        let mut stored = BTreeMap::new();
        store.each_thread(kind, &ThreadFilter::default(), &mut |row| {
            stored.insert(row.thread.id, ComparedThread::from_stored(row.thread));
            ControlFlow::Continue(())
        })?;
        let simulated = truth.map(|thread| (thread.id, ComparedThread::from_truth(thread)));
        self.compare_items(Surface::Threads(kind).pull_item(), &stored, &simulated.collect());
        Ok(())
    }

    fn compare_comments(&mut self, store: &StoreReader, truth: &GroundTruth) -> anyhow::Result<()> {
        let mut stored = BTreeMap::new();
        store.each_comment(&CommentFilter::default(), &mut |row| {
            let comment = row.comment;
            let compared = (comment.thread, comment.body, String::from(comment.updated_at));
            stored.insert((comment.kind, comment.id), compared);
            ControlFlow::Continue(())
        })?;
        let simulated = truth.comments.values().map(|comment| {
            let compared =
                (comment.thread_number, comment.body.clone(), comment.updated_at.clone());
            ((comment_kind(comment.kind), comment.id), compared)
        });
        self.compare_items(PullItem::Comments, &stored, &simulated.collect());
        Ok(())
    }

    fn compare_items<K: Ord + std::fmt::Debug, T: PartialEq>(
        &mut self,
        item: PullItem,
        stored: &BTreeMap<K, T>,
        simulated: &BTreeMap<K, T>,
    ) {
        let missing = simulated.keys().filter(|id| !stored.contains_key(id));
        let different =
            stored.keys().chain(missing).filter(|id| stored.get(id) != simulated.get(id));
        self.differences.extend(different.map(|id| format!("{} {id:?}", item.name())));
        let count = ComparedCount { stored: stored.len(), simulated: simulated.len() };
        self.counts.insert(item, count);
    }

    pub(super) fn is_equal(&self) -> bool {
        self.differences.is_empty()
    }

    pub(super) fn check_equal(&self) -> anyhow::Result<()> {
        if self.is_equal() {
            return Ok(());
        }
        Err(InternalError(format!(
            "the mirror differs from the simulated GitHub: {}",
            self.differences.join("; ")
        ))
        .into())
    }
}

/// Returns the item kind of a simulated comment.
fn comment_kind(kind: CommentKind) -> item::CommentKind {
    match kind {
        CommentKind::Conversation => item::CommentKind::Conversation,
        CommentKind::ReviewComment => item::CommentKind::ReviewComment,
        CommentKind::Review => item::CommentKind::Review,
        CommentKind::Discussion | CommentKind::Reply => item::CommentKind::DiscussionComment,
    }
}

impl ComparedThread {
    fn from_stored(thread: Thread) -> Self {
        let Thread { title, body, state, labels, updated_at, .. } = thread;
        Self { title, body, state, labels, updated_at: updated_at.into() }
    }

    fn from_truth(thread: &TrueThread) -> Self {
        let mut labels: Vec<String> =
            thread.labels.iter().map(|label| sanitize_for_storage(label)).collect();
        labels.sort_unstable();
        Self {
            title: sanitize_for_storage(&thread.title),
            body: thread.body.clone(),
            state: thread.state.clone(),
            labels,
            updated_at: thread.updated_at.clone(),
        }
    }
}
