//! Runs one turn of one lane: plans it, fetches pages, and stores them.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use hw_rules::backoff;
use hw_rules::coverage::Coverage;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, ReadStrategy, Surface};
use hw_rules::plan::{ChangeSign, LanePlan, LaneRequest, LaneState, SweepRequest, TurnTiming};
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::github::threads::ThreadListing;
use hw_store::{IngestCounts, IngestPage, LeasedStore, TurnFailure};

use crate::SyncError;
use crate::api_client::{FetchError, GithubClient};
use crate::progress::ProgressEvent;
use crate::retry_policy::{RepositoryRetryBudget, RequestOptions};
use crate::run_removals::RunRemovals;
use crate::{newest_first, quarantine, since, sweep, thread_comments};

/// A followed lane and its repository.
#[derive(Debug, Clone)]
pub(crate) struct LaneTarget {
    pub(crate) lane: Lane,
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
}

impl TargetRepository {
    pub(crate) fn from_repository(repository: &Repository) -> Arc<Self> {
        Arc::new(Self {
            id: repository.id,
            node_id: repository.node_id.clone(),
            full_name: format!("{}/{}", repository.owner, repository.name),
            has_issues_enabled: repository.has_issues_enabled,
            retry_budget: RepositoryRetryBudget::default(),
        })
    }
}

impl LaneTarget {
    pub(crate) fn surface(&self) -> Surface {
        self.lane.surface
    }

    /// Returns the lane of the threads that these comments belong to, if they are read thread by thread.
    pub(crate) fn threads_lane(&self) -> Option<Lane> {
        let kind = self.surface().per_thread_kind()?;
        let surface = Surface::THREADS.into_iter().find(|surface| surface.kind() == kind)?;
        Some(Lane::for_repository(&self.lane.host, self.repository.id, surface))
    }

    /// Returns the lane's name as printed: `acme/pump issues`.
    pub(crate) fn display_name(&self) -> String {
        format!("{} {}", self.repository.full_name, self.surface().name())
    }

    /// Returns true if an absence from the lane's list means a deletion.
    ///
    /// While issues are disabled, their comments are hidden and look the same as deleted ones.
    pub(crate) fn can_be_swept(&self) -> bool {
        self.surface() != Surface::IssueComments || self.repository.has_issues_enabled
    }

    /// Returns the lane's listing of threads, from a cursor on.
    pub(crate) fn thread_listing<'a>(&'a self, after: Option<&'a PageCursor>) -> ThreadListing<'a> {
        let repository = &self.repository;
        ThreadListing {
            surface: self.surface(),
            repository_id: repository.id,
            node_id: &repository.node_id,
            after,
        }
    }

    /// Returns the options with the repository's shared retry budget.
    pub(crate) fn request_options(&self, options: RequestOptions<'static>) -> RequestOptions<'_> {
        options.with_budget(&self.repository.retry_budget)
    }
}

/// Everything that the turns of a pull share.
pub(crate) struct PullContext<'a> {
    pub(crate) store: &'a LeasedStore,
    pub(crate) client: &'a GithubClient,
    /// Days of history to mirror; none mirrors all of it.
    pub(crate) window_days: Option<u32>,
    pub(crate) allow_mass_removal: bool,
    pub(crate) removals: RunRemovals,
    /// Rows that first pages may have together in one request; adapts to what the source can serve.
    pub(crate) batch_rows: AtomicU32,
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

/// How far this pull has read a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LaneReading {
    /// Not at all: its turn begins at the stored state.
    Unread,
    /// To the middle of a walk from the top.
    MidWalk(Box<Coverage>),
    /// It has seen that nothing moved, or has read what did.
    UpToDate,
}

impl LaneReading {
    pub(crate) fn change_sign(&self) -> ChangeSign<'static> {
        match self {
            Self::Unread | Self::MidWalk(_) => ChangeSign::Unknown,
            Self::UpToDate => ChangeSign::Unchanged,
        }
    }
}

/// Does what is planned for a lane with this stored state. A failed turn is recorded in the lane's row.
pub(crate) async fn run_turn(
    context: &PullContext<'_>,
    target: &LaneTarget,
    reading: LaneReading,
    state: &LaneState,
    plan: LanePlan,
) -> Result<PullTally, SyncError> {
    let mut size = state.page_size;
    let result = match plan {
        LanePlan::Skip | LanePlan::Sleep { .. } => Ok(PullTally::default()),
        // a first page of its own is the beginning of a scan
        LanePlan::FirstPage { .. } | LanePlan::Scan => {
            read_changes(context, target, reading, state, &mut size).await
        }
        LanePlan::Sweep { scan_first: false } => sweep_lane(context, target, &mut size).await,
        LanePlan::Sweep { scan_first: true } => {
            scan_and_sweep(context, target, reading, state, &mut size).await
        }
    };
    match result {
        Ok(tally) => {
            context.clear_failures(&target.lane, state)?;
            Ok(tally)
        }
        Err(error) => {
            let error = into_lane_error(error, &target.lane);
            if error.is_lane_error() {
                context.postpone_lane(&target.lane, state, size, &error)?;
            }
            Err(error)
        }
    }
}

/// Reads what changed, with the strategy of the lane's surface.
async fn read_changes(
    context: &PullContext<'_>,
    target: &LaneTarget,
    reading: LaneReading,
    state: &LaneState,
    size: &mut u32,
) -> Result<PullTally, FetchError> {
    match target.surface().read_strategy() {
        ReadStrategy::NewestFirst => {
            newest_first::scan_newest_first(context, target, reading, state, size).await
        }
        ReadStrategy::Since => since::scan_since(context, target, state, size).await,
        ReadStrategy::PerThread => {
            thread_comments::scan_thread_comments(context, target, state, *size).await
        }
    }
}

async fn scan_and_sweep(
    context: &PullContext<'_>,
    target: &LaneTarget,
    reading: LaneReading,
    state: &LaneState,
    size: &mut u32,
) -> Result<PullTally, FetchError> {
    let mut tally = read_changes(context, target, reading, state, size).await?;
    tally.add(&sweep_lane(context, target, size).await?);
    Ok(tally)
}

async fn sweep_lane(
    context: &PullContext<'_>,
    target: &LaneTarget,
    size: &mut u32,
) -> Result<PullTally, FetchError> {
    let mut swept = sweep::sweep_lane(context, target, size).await?;
    if swept.quarantined > 0 {
        quarantine::retry_taken_ids(context, target, &mut swept).await?;
    }
    Ok(swept)
}

pub(crate) fn into_lane_error(error: FetchError, lane: &Lane) -> SyncError {
    match error {
        FetchError::Source(error) => SyncError::Source { lane: lane.to_string(), error },
        FetchError::Sync(error) => error,
    }
}

impl PullContext<'_> {
    /// Returns how far back a lane of this surface is mirrored, by the source's own time.
    ///
    /// In whole days, because the source's clocks disagree by a second, and a window that moves back by a second
    /// looks wider.
    pub(crate) fn window_floor(&self, surface: Surface) -> ListingFloor {
        const DAY_MS: i64 = 86_400_000;
        match (self.window_days, self.client.last_source_date()) {
            (Some(days), Some(SourceInstant(date))) if surface.has_window() => {
                let first = date.saturating_sub(i64::from(days) * DAY_MS);
                ListingFloor::At(SourceInstant(first.div_euclid(DAY_MS) * DAY_MS))
            }
            _ => ListingFloor::Beginning,
        }
    }

    /// Returns the request for a turn of a lane. A user started this pull, so the lane is due even if it was postponed.
    pub(crate) fn lane_request(&self, target: &LaneTarget, sweep: SweepRequest) -> LaneRequest {
        LaneRequest {
            window: self.window_floor(target.surface()),
            has_quarantined: false,
            sweep: if target.can_be_swept() { sweep } else { SweepRequest::Never },
            timing: TurnTiming::AtOnce,
        }
    }

    /// Returns the time of the last listing of the lane's threads.
    pub(crate) fn threads_checked_at(&self, target: &LaneTarget) -> Result<Option<i64>, SyncError> {
        let Some(lane) = target.threads_lane() else { return Ok(None) };
        Ok(self.store.lane_state(&lane)?.checked_at_ms)
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

    /// Stores a page of a lane, counts it, and emits its event.
    pub(crate) fn ingest_page(
        &self,
        page: &IngestPage,
        tally: &mut PullTally,
    ) -> Result<(), SyncError> {
        let counts = self.store.ingest_page(page)?;
        let seen = page.observations.len();
        tally.count_page(&counts, seen);
        self.emit_page_stored(page.lane.surface, tally.pages, seen, &counts);
        Ok(())
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

    /// Clears the record of earlier failures.
    fn clear_failures(&self, lane: &Lane, state: &LaneState) -> Result<(), SyncError> {
        if state.failures > 0 {
            self.store.finish_turn(lane)?;
        }
        Ok(())
    }

    /// Records that a lane failed, and when to retry it.
    pub(crate) fn postpone_lane(
        &self,
        lane: &Lane,
        state: &LaneState,
        page_size: u32,
        error: &SyncError,
    ) -> Result<(), SyncError> {
        let failures = state.failures.saturating_add(1);
        let wait = backoff::failed_turn_delay_ms(failures, self.client.jitter());
        let due_ms = self.client.clock().now_ms() + wait;
        let failure = TurnFailure { due_ms, failures, page_size, message: error.to_string() };
        Ok(self.store.postpone_lane(lane, failure)?)
    }

    /// Resets a watermark that lies beyond the source's own time, `date`.
    pub(crate) fn reset_watermark(
        &self,
        lane: &Lane,
        date: SourceInstant,
    ) -> Result<(), SyncError> {
        Ok(self.store.reset_lane(lane, date, "it is later than the source's clock")?)
    }
}
