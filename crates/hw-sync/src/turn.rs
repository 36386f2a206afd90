//! What the turns of a pull share: the lanes' targets, the context, and the tally.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use hw_rules::OVERLAP_MS;
use hw_rules::chunk_size::GAP_MS;
use hw_rules::follow_reason::LaneUse;
use hw_rules::item::{CommentKind, Repository, ThreadKind};
use hw_rules::lane::{Lane, ReadStrategy, Surface};
use hw_rules::plan::{LaneRequest, LaneState, SweepRequest, TurnTiming};
use hw_rules::rate_limit::RequestClass;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_clock::SAFE_BACKFILL_MS;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::github::threads::ThreadListing;
use hw_store::{IngestCounts, IngestPage, LeasedStore, PreparedPage, StoreError};
use tokio::sync::{Mutex, Semaphore};

use crate::SyncError;
use crate::api_client::{FetchError, GithubClient};
use crate::progress::ProgressEvent;
use crate::retry_policy::{RepositoryRetryBudget, RequestOptions};
use crate::run_removals::RunRemovals;
use crate::work_threads::WorkThreads;
use crate::yield_signal::YieldSignal;

/// A followed lane and its repository.
#[derive(Debug, Clone)]
pub(crate) struct LaneTarget {
    pub(crate) lane: Lane,
    /// How the lane's surface is read.
    pub(crate) strategy: ReadStrategy,
    pub(crate) repository: Arc<TargetRepository>,
}

/// A repository whose lanes are followed.
#[derive(Debug)]
pub(crate) struct TargetRepository {
    pub(crate) id: i64,
    pub(crate) node_id: String,
    /// Owner and name, as printed.
    pub(crate) full_name: String,
    pub(crate) has_issues_enabled: bool,
    pub(crate) retry_budget: RepositoryRetryBudget,
    /// The class of all requests about it; none if each has the class of its purpose.
    pub(crate) class: Option<RequestClass>,
    /// Raised when the reading of its lists has to give way to a poll.
    pub(crate) yield_signal: YieldSignal,
}

impl TargetRepository {
    pub(crate) fn from_repository(repository: &Repository) -> Arc<Self> {
        Arc::new(Self::new(repository, None))
    }

    /// Returns the target whose requests come before those of the mirror, because somebody waits for what they bring.
    pub(crate) fn for_watches(repository: &Repository) -> Arc<Self> {
        Arc::new(Self::new(repository, Some(RequestClass::WatchedThreads)))
    }

    fn new(repository: &Repository, class: Option<RequestClass>) -> Self {
        Self {
            id: repository.id,
            node_id: repository.node_id.clone(),
            full_name: format!("{}/{}", repository.owner, repository.name),
            has_issues_enabled: repository.has_issues_enabled,
            retry_budget: RepositoryRetryBudget::default(),
            class,
            yield_signal: YieldSignal::default(),
        }
    }

    /// Returns the options with the repository's shared retry budget and signal, and its class if it has one.
    pub(crate) fn request_options(&self, options: RequestOptions<'static>) -> RequestOptions<'_> {
        let options = options.for_repository(&self.retry_budget, &self.yield_signal);
        self.class.map_or(options, |class| options.with_class(class))
    }

    /// Returns the options of a sweep, whatever the class of other requests is.
    pub(crate) fn sweep_options(&self) -> RequestOptions<'_> {
        RequestOptions::SWEEP.for_repository(&self.retry_budget, &self.yield_signal)
    }
}

impl LaneTarget {
    /// Returns the target of a lane of this repository; none for a list of repositories, which no turn reads.
    pub(crate) fn new(lane: Lane, repository: Arc<TargetRepository>) -> Option<Self> {
        let strategy = lane.surface.read_strategy()?;
        Some(Self { lane, strategy, repository })
    }

    pub(crate) fn surface(&self) -> Surface {
        self.lane.surface
    }

    /// Returns the lane of the threads that these comments belong to, if they are read thread by thread.
    pub(crate) fn threads_lane(&self) -> Option<Lane> {
        let surface = Surface::Threads(self.surface().per_thread_kind()?);
        Some(Lane::for_repository(RepositoryKey::new(&self.lane.host, self.repository.id), surface))
    }

    /// Returns the lane's name as printed: `acme/pump issues`.
    pub(crate) fn display_name(&self) -> String {
        format!("{} {}", self.repository.full_name, self.surface().name())
    }

    /// Returns true if an absence from the lane's list means a deletion.
    ///
    /// While issues are disabled, their comments are hidden and look the same as deleted ones.
    pub(crate) fn can_be_swept(&self) -> bool {
        self.surface() != Surface::Comments(CommentKind::Conversation)
            || self.repository.has_issues_enabled
    }

    /// Returns the repository's listing of threads, from a cursor on.
    pub(crate) fn thread_listing<'a>(
        &'a self,
        kind: ThreadKind,
        after: Option<&'a PageCursor>,
    ) -> ThreadListing<'a> {
        let repository = &self.repository;
        ThreadListing { kind, repository_id: repository.id, node_id: &repository.node_id, after }
    }

    /// Returns the options with the repository's shared retry budget and signal.
    pub(crate) fn request_options(&self, options: RequestOptions<'static>) -> RequestOptions<'_> {
        self.repository.request_options(options)
    }
}

/// Everything that the turns of a duty share.
#[derive(Clone, Copy)]
pub(crate) struct PullContext<'a> {
    /// Writes under the lease of the duty.
    pub(crate) store: &'a LeasedStore,
    pub(crate) client: &'a GithubClient,
    pub(crate) reading: ReadingPurpose,
    pub(crate) allow_mass_removal: bool,
    pub(crate) sweeps: SweepPolicy,
    pub(crate) run: &'a RunState,
}

/// What lanes are read for, and with that how far back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadingPurpose {
    /// The mirror: so many days of history, or all of it.
    Mirror {
        window_days: Option<u32>,
    },
    Watches(WatchReading),
}

/// How the lanes of a watched repository are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WatchReading {
    /// How far back lanes are read; none as far as they were read before, and from now on in one that was never read.
    pub(crate) floor: Option<ListingFloor>,
    /// How far below the watermark rows are read again, at least [`OVERLAP_MS`].
    pub(crate) overlap_ms: i64,
    /// How far back a lane is read again whose cursor is invalid.
    pub(crate) safe_backfill_ms: i64,
}

impl ReadingPurpose {
    pub(crate) fn lane_use(self) -> LaneUse {
        match self {
            Self::Mirror { .. } => LaneUse::Mirror,
            Self::Watches(_) => LaneUse::Watch,
        }
    }

    pub(crate) fn overlap_ms(self) -> i64 {
        match self {
            Self::Mirror { .. } => OVERLAP_MS,
            Self::Watches(reading) => reading.overlap_ms,
        }
    }

    pub(crate) fn safe_backfill_ms(self) -> i64 {
        match self {
            Self::Mirror { .. } => SAFE_BACKFILL_MS,
            Self::Watches(reading) => reading.safe_backfill_ms,
        }
    }
}

/// Whether a turn may sweep its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SweepPolicy {
    Allowed,
    /// Sweeps stay due: removals of a run are counted together, by the worker that performs its pull.
    LeftToOthers,
}

/// Everything that the duties of a run share.
pub(crate) struct RunState {
    pub(crate) removals: RunRemovals,
    /// Rows that first pages may have together in one request; adapts to what the source can serve.
    pub(crate) batch_rows: AtomicU32,
    /// Limits the responses that are prepared and written at once. Others wait as they are, which takes less memory.
    ingest_permits: Semaphore,
    /// Held while pages are written to a file. A server has a queue of its own.
    write_turn: Mutex<()>,
}

impl RunState {
    pub(crate) fn new(largest_page: u32) -> Self {
        Self {
            removals: RunRemovals::default(),
            batch_rows: AtomicU32::new(largest_page),
            ingest_permits: Semaphore::new(MAX_CONCURRENT_INGESTS),
            write_turn: Mutex::default(),
        }
    }
}

/// The number of responses that are prepared and written at once: one is written, one waits for its turn, and one is
/// prepared.
const MAX_CONCURRENT_INGESTS: usize = 3;

/// A page that was stored.
pub(crate) struct IngestedPage {
    pub(crate) surface: Surface,
    /// The number of its items.
    pub(crate) seen: usize,
    pub(crate) counts: IngestCounts,
}

fn ingest_prepared(
    store: &LeasedStore,
    pages: &[PreparedPage<'_>],
) -> Result<Vec<IngestedPage>, SyncError> {
    let counts = store.ingest_prepared(pages)?;
    let pages = pages.iter().map(PreparedPage::page).zip(counts).map(|(page, counts)| {
        IngestedPage { surface: page.lane.surface, seen: page.observations.len(), counts }
    });
    Ok(pages.collect())
}

/// Counts of what a turn, or a whole pull, did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PullTally {
    pub pages: u64,
    pub seen: u64,
    pub stored: u64,
    pub removed: u64,
    pub quarantined: u64,
    /// Failures.
    pub errors: u64,
}

impl PullTally {
    pub fn add(&mut self, other: &Self) {
        self.pages += other.pages;
        self.seen += other.seen;
        self.stored += other.stored;
        self.removed += other.removed;
        self.quarantined += other.quarantined;
        self.errors += other.errors;
    }

    pub(crate) fn count_page(&mut self, ingested: &IngestCounts, seen: usize) {
        self.pages += 1;
        self.seen += seen as u64;
        self.stored += ingested.created + ingested.edited + ingested.revived;
        self.removed += ingested.removed;
        self.quarantined += ingested.quarantined;
    }
}

pub(crate) fn into_lane_error(error: FetchError, lane: &Lane) -> SyncError {
    match error {
        FetchError::Source(error) => SyncError::Source { lane: lane.to_string(), error },
        FetchError::Sync(error) => error,
    }
}

impl<'a> PullContext<'a> {
    /// Returns the context of another duty of the same run.
    pub(crate) fn with_store<'b>(&self, store: &'b LeasedStore) -> PullContext<'b>
    where
        'a: 'b,
    {
        PullContext { store, ..*self }
    }

    /// Returns how far back a lane of this surface is mirrored, by the source's own time.
    ///
    /// In whole days, because the source's clocks disagree by a second, and a window that moves back by a second
    /// looks wider.
    pub(crate) fn window_floor(&self, surface: Surface) -> ListingFloor {
        const DAY_MS: i64 = 86_400_000;
        let window_days = match self.reading {
            ReadingPurpose::Mirror { window_days } => window_days,
            ReadingPurpose::Watches(reading) => {
                return reading.floor.unwrap_or_else(|| self.present_floor());
            }
        };
        match (window_days, self.client.last_source_date()) {
            (Some(days), Some(SourceInstant(date))) if surface.has_window() => {
                let first = date.saturating_sub(i64::from(days) * DAY_MS);
                ListingFloor::At(SourceInstant(first.div_euclid(DAY_MS) * DAY_MS))
            }
            _ => ListingFloor::Beginning,
        }
    }

    /// Returns the floor that leaves out everything before now; the beginning while the source's time is not known.
    fn present_floor(&self) -> ListingFloor {
        let now = self.client.last_source_date();
        now.map_or(ListingFloor::Beginning, |now| ListingFloor::At(now.minus_ms(OVERLAP_MS)))
    }

    /// Returns the request for a turn of a lane. A user started this pull, so the lane is due even if it was postponed.
    pub(crate) fn lane_request(&self, target: &LaneTarget, sweep: SweepRequest) -> LaneRequest {
        LaneRequest {
            window: self.window_floor(target.surface()),
            has_quarantined: false,
            sweep: match self.sweeps {
                SweepPolicy::Allowed if target.can_be_swept() => sweep,
                SweepPolicy::Allowed | SweepPolicy::LeftToOthers => SweepRequest::Never,
            },
            timing: TurnTiming::AtOnce,
        }
    }

    /// Returns the time of the last listing of the lane's threads.
    pub(crate) async fn threads_checked_at(
        &self,
        target: &LaneTarget,
    ) -> Result<Option<i64>, SyncError> {
        let Some(lane) = target.threads_lane() else { return Ok(None) };
        Ok(self.lane_state(&lane).await?.checked_at_ms)
    }

    /// Loads the state of a lane.
    pub(crate) async fn lane_state(&self, lane: &Lane) -> Result<LaneState, SyncError> {
        let lane = lane.clone();
        self.ask_store(move |store| store.lane_state(&lane)).await
    }

    /// Asks the store. If a server has to answer, that happens on another thread, and other lanes go on meanwhile; a file
    /// answers sooner than another thread could.
    pub(crate) async fn ask_store<T: Send + 'static>(
        &self,
        question: impl FnOnce(&LeasedStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, SyncError> {
        let store = self.store.clone();
        let threads = match store.has_server() {
            true => self.client.work_threads(),
            false => WorkThreads::Inline,
        };
        Ok(threads.run(move || question(&store)).await?)
    }

    /// Emits the event of a page request.
    pub(crate) fn emit_page_requested(&self, target: &LaneTarget, page: u64) {
        let (surface, scope) = (target.surface(), &target.repository.full_name);
        self.client.progress().emit(|| ProgressEvent::RequestingPage {
            surface,
            scope: scope.clone(),
            page,
        });
    }

    /// Stores the pages of one response, all of them or none, beside the task that sends requests: other lanes go on.
    pub(crate) async fn ingest_pages(
        &self,
        pages: Vec<IngestPage>,
    ) -> Result<Vec<IngestedPage>, SyncError> {
        let _permit = self.run.ingest_permits.acquire().await;
        let threads = self.client.work_threads();
        let preparer = self.store.page_preparer();
        let prepared: Vec<_> = threads
            .run(move || pages.into_iter().map(|page| preparer.prepare_page(page)).collect())
            .await;
        let store = self.store.clone();
        if store.has_server() {
            // a page that waits for its turn at the server is there when its turn comes
            return threads.run(move || ingest_prepared(&store, &prepared)).await;
        }
        let turn = self.run.write_turn.lock().await;
        let ingested = threads.run(move || ingest_prepared(&store, &prepared)).await;
        if threads == WorkThreads::Background {
            // the next page is ready, and would leave other processes no time to write
            self.client.clock().sleep_until(self.client.clock().now_ms() + GAP_MS).await;
        }
        drop(turn);
        ingested
    }

    /// Emits the event of a stored page.
    pub(crate) fn emit_page_stored(
        &self,
        surface: Surface,
        page: u64,
        seen: usize,
        counts: &IngestCounts,
    ) {
        let (seen, stored) = (seen as u64, counts.created + counts.edited + counts.revived);
        self.client.progress().emit(|| ProgressEvent::PageStored {
            surface,
            page,
            observed: seen,
            stored,
        });
    }
}
