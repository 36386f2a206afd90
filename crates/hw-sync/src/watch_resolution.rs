//! Finds what watches are about: the repository and the thread behind the names that a person wrote.

use hw_rules::follow_reason::LaneUse;
use hw_rules::followed_source::RepositoryName;
use hw_rules::item::{ItemObservation, MirrorItem, Repository, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::moved_thread::MovedThread;
use hw_rules::page_size::MAX_PAGE_SIZE;
use hw_rules::repository_key::{RepositoryId, RepositoryKey};
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::{Watch, WatchStart, WatchState};
use hw_sources::error::SourceError;
use hw_sources::github::repositories::{
    NamedRepositories, NamedRepositoriesQuery, ThreadRepositoryQuery,
};
use hw_sources::github::thread_by_number::{FoundThread, ThreadAnswer, ThreadByNumberQuery};
use hw_store::{IngestPage, ResolvedThread, WatchResolution};

use crate::SyncError;
use crate::api_client::FetchError;
use crate::retry_policy::RequestOptions;
use crate::turn::PullContext;
use crate::watch_context::{PollOutcome, WatchContext};

/// Repositories that are requested by name at once, which cost one point.
const NAMES_PER_REQUEST: usize = 33;
/// Transfers of one thread that are followed at once.
const MAX_TRANSFERS: u32 = 3;

/// The problem of a watch whose repository or thread is not there, or not for this token.
pub(crate) const NOT_FOUND: &str = "not found, or not visible to this token";
/// The problem of a watch whose thread was deleted.
pub(crate) const DELETED: &str = "it was deleted";

/// Resolves the watches of a host that are not resolved yet. One that cannot be resolved stays as it is, with the reason.
pub(crate) async fn resolve_watches(context: &WatchContext<'_>) -> Result<PollOutcome, SyncError> {
    let mut outcome = PollOutcome::default();
    let mut watches = context.pull.store.watches()?;
    watches.retain(|watch| {
        watch.host.as_str() == context.host && watch.state == WatchState::Unresolved
    });
    let resolver = WatchResolver { context: context.pull, host: context.host };
    for watches in watches.chunks(NAMES_PER_REQUEST) {
        let names: Vec<RepositoryName> =
            watches.iter().map(|watch| watch.subject.repository.clone()).collect();
        let found = match resolver.find_repositories(&names).await {
            Ok(found) => found,
            Err(error) if error.is_lane_error() => {
                outcome.failures.push(error.to_string());
                continue;
            }
            Err(error) => return Err(error),
        };
        for watch in watches {
            match resolver.resolve_watch(watch, &found).await {
                Ok(None) => {}
                Ok(Some(problem)) => {
                    context.pull.store.set_watch_problem(watch.id, Some(&problem))?;
                    outcome.failures.push(format!("{}: {problem}", watch.subject));
                }
                Err(error) if error.is_lane_error() => outcome.failures.push(error.to_string()),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(outcome)
}

/// Resolves watches one by one.
pub(crate) struct WatchResolver<'a> {
    pub(crate) context: PullContext<'a>,
    pub(crate) host: &'a str,
}

/// A thread and the repository that it is in.
struct LocatedThread {
    repository: ItemObservation,
    thread: FoundThread,
}

impl WatchResolver<'_> {
    const OPTIONS: RequestOptions<'static> = RequestOptions::WATCH;

    async fn find_repositories(
        &self,
        names: &[RepositoryName],
    ) -> Result<NamedRepositories, SyncError> {
        let query = NamedRepositoriesQuery { names, surfaces: &[], with_viewer: false };
        let found = self.context.client.fetch(&query, Self::OPTIONS, &mut 1).await;
        found.map_err(|error| into_resolution_error(error, "watched repositories"))
    }

    /// Resolves a watch. Returns the reason if it cannot be resolved.
    async fn resolve_watch(
        &self,
        watch: &Watch,
        found: &NamedRepositories,
    ) -> Result<Option<String>, SyncError> {
        let named = found.found.iter().find(|found| found.name.is_same(&watch.subject.repository));
        let repository = named.and_then(|named| {
            found.observations.iter().find(|found| found.key().id == named.repository_id)
        });
        let Some(repository) = repository else { return Ok(Some(NOT_FOUND.to_owned())) };
        let thread = match watch.subject.number {
            Some(number) => match self.find_thread(watch, repository.clone(), number).await? {
                ThreadSearch::Found(located) => Some(*located),
                ThreadSearch::Departed(problem) => return Ok(problem),
            },
            None => None,
        };
        let repository = match &thread {
            Some(located) => located.repository.clone(),
            None => repository.clone(),
        };
        let source_issue = match watch.source_issue {
            Some(number) => match self.find_thread(watch, repository.clone(), number).await? {
                ThreadSearch::Found(located) if located.thread.kind != ThreadKind::Issue => {
                    return Ok(Some(format!("#{number} is a pull request, not an issue")));
                }
                ThreadSearch::Found(located) => Some(located.thread),
                ThreadSearch::Departed(problem) => return Ok(problem),
            },
            None => None,
        };
        let threads = WatchedThreads { thread: thread.map(|located| located.thread), source_issue };
        self.store_resolution(watch, repository, threads)?;
        Ok(None)
    }

    /// Has a watch follow its thread to the repository to which it was transferred. Returns the reason if that fails.
    pub(crate) async fn follow_transfer(
        &self,
        watch: &Watch,
        repository: ItemObservation,
        number: i64,
    ) -> Result<Option<String>, SyncError> {
        match self.find_thread(watch, repository, number).await? {
            ThreadSearch::Found(located) => {
                let LocatedThread { repository, thread } = *located;
                let threads = WatchedThreads { thread: Some(thread), source_issue: None };
                self.store_resolution(watch, repository, threads)?;
                Ok(None)
            }
            ThreadSearch::Departed(problem) => Ok(problem),
        }
    }

    async fn find_thread(
        &self,
        watch: &Watch,
        mut repository: ItemObservation,
        mut number: i64,
    ) -> Result<ThreadSearch, SyncError> {
        let mut is_transferred = false;
        let mut repository_id = repository.key().id;
        for _ in 0..=MAX_TRANSFERS {
            let query = ThreadByNumberQuery { repository_id, number };
            match self.context.client.fetch(&query, Self::OPTIONS, &mut 1).await {
                Ok(ThreadAnswer::Found(thread)) => {
                    if is_transferred {
                        repository = self.find_home(&thread).await?;
                    }
                    return Ok(ThreadSearch::Found(Box::new(LocatedThread { repository, thread })));
                }
                Ok(ThreadAnswer::Transferred { repository_id: to, number: new }) => {
                    tracing::info!(watch = %watch.subject, to, number = new, "the thread was transferred");
                    (repository_id, number, is_transferred) = (to, new, true);
                }
                Ok(ThreadAnswer::Deleted) => {
                    let store = self.context.store;
                    store.set_watch_state(watch.id, WatchState::Gone, Some(DELETED))?;
                    return Ok(ThreadSearch::Departed(None));
                }
                Err(FetchError::Source(SourceError::Hidden(_))) => break,
                Err(error) => {
                    return Err(into_resolution_error(error, &watch.subject.to_string()));
                }
            }
        }
        Ok(ThreadSearch::Departed(Some(format!("#{number} {NOT_FOUND}"))))
    }

    /// Finds the repository of a thread that was transferred.
    async fn find_home(&self, thread: &FoundThread) -> Result<ItemObservation, SyncError> {
        let query = ThreadRepositoryQuery { thread_node_id: &thread.node_id };
        let found = self.context.client.fetch(&query, Self::OPTIONS, &mut 1).await;
        found.map_err(|error| into_resolution_error(error, "repository of a transferred thread"))
    }

    /// Stores the repository, and what the watch is about. Its threads count as moved, so that the first poll looks at them.
    fn store_resolution(
        &self,
        watch: &Watch,
        repository: ItemObservation,
        threads: WatchedThreads,
    ) -> Result<(), SyncError> {
        let MirrorItem::Repository(Repository { id, owner, name, .. }) = &repository.item else {
            return Ok(());
        };
        let (store, client) = (self.context.store, self.context.client);
        let WatchedThreads { thread, source_issue } = threads;
        let start = watch.start.unwrap_or_else(|| {
            WatchStart::default_for(thread.as_ref().map(|thread| thread.kind), watch.mode)
        });
        let date = client.last_source_date().unwrap_or(SourceInstant::BEGINNING);
        let resolution = WatchResolution {
            repository_id: RepositoryId(*id),
            repository: RepositoryName::from_known(owner, name),
            thread: thread.as_ref().map(resolved_thread),
            source_issue: source_issue.as_ref().map(resolved_thread),
            floor: start.floor(date, watch.created_ms, client.clock().now_ms()),
        };
        let lane = Lane::for_repository(RepositoryKey::new(self.host, *id), Surface::Activity);
        store.follow_lanes(&[&lane], LaneUse::Watch)?;
        let moved_threads = thread.iter().chain(&source_issue).map(|thread| MovedThread {
            number: thread.number,
            kind: thread.kind,
            node_id: thread.node_id.clone(),
            updated_at: thread.updated_at.clone(),
        });
        let page = IngestPage {
            lane_use: LaneUse::Watch,
            moved_threads: moved_threads.collect(),
            observations: vec![repository],
            ..IngestPage::new(lane, MAX_PAGE_SIZE)
        };
        store.ingest_page(&page)?;
        store.resolve_watch(watch.id, &resolution)?;
        Ok(())
    }
}

/// What became of a thread that is looked for by its number.
enum ThreadSearch {
    Found(Box<LocatedThread>),
    /// It is not there. The problem is none if the watch has ended with that.
    Departed(Option<String>),
}

/// The threads that a watch names.
struct WatchedThreads {
    thread: Option<FoundThread>,
    source_issue: Option<FoundThread>,
}

fn resolved_thread(thread: &FoundThread) -> ResolvedThread {
    ResolvedThread {
        number: thread.number,
        kind: thread.kind,
        node_id: thread.node_id.clone(),
        title: thread.title.clone(),
    }
}

fn into_resolution_error(error: FetchError, subject: &str) -> SyncError {
    match error {
        FetchError::Source(error) => SyncError::Source { lane: subject.to_owned(), error },
        FetchError::Sync(error) => error,
    }
}
