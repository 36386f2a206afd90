//! One turn of one lane: what its readers share, and how it ends.

use hw_rules::backoff;
use hw_rules::coverage::{Coverage, CoverageError};
use hw_rules::lane::ReadStrategy;
use hw_rules::plan::{ChangeSign, LanePlan, LaneState};
use hw_rules::row_subject::RowSubject;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::ListingFloor;
use hw_sources::github::source::GithubSource;
use hw_sources::page::UnreadableRow;
use hw_sources::query::Query;
use hw_store::{IngestPage, TurnFailure};

use crate::SyncError;
use crate::api_client::{FetchError, GithubClient};
use crate::retry_policy::RequestOptions;
use crate::turn::{
    IngestedPage, LaneTarget, PullContext, PullTally, ReadingPurpose, WatchReading, into_lane_error,
};
use crate::{newest_first, quarantine, reading_log, since, sweep, thread_comments};

/// A turn in progress.
pub(crate) struct LaneTurn<'a> {
    pub(crate) context: &'a PullContext<'a>,
    pub(crate) target: &'a LaneTarget,
    /// The state that the last turn left.
    pub(crate) state: LaneState,
    /// Rows to request per page; adapts to what the source can serve.
    pub(crate) page_size: u32,
    pub(crate) tally: PullTally,
}

/// How far this pull has read a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LaneReading {
    /// Not at all: its turn begins at the stored state.
    Unread,
    /// To the middle of a walk from the top, or of the gap below it.
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

impl<'a> LaneTurn<'a> {
    pub(crate) fn new(
        context: &'a PullContext<'a>,
        target: &'a LaneTarget,
        state: LaneState,
    ) -> Self {
        let page_size = state.page_size;
        Self { context, target, state, page_size, tally: PullTally::default() }
    }

    /// Does what is planned. A failed turn is recorded in the lane's row.
    pub(crate) async fn run(
        mut self,
        plan: LanePlan,
        reading: LaneReading,
    ) -> Result<PullTally, SyncError> {
        match self.follow_plan(plan, reading).await {
            Ok(()) => {
                if self.state.failures > 0 {
                    self.context.store.finish_turn(&self.target.lane)?;
                }
                Ok(self.tally)
            }
            Err(error) => Err(self.fail(error)?),
        }
    }

    async fn follow_plan(
        &mut self,
        plan: LanePlan,
        reading: LaneReading,
    ) -> Result<(), FetchError> {
        match plan {
            LanePlan::Skip | LanePlan::Sleep { .. } => Ok(()),
            // a first page of its own is the beginning of a scan
            LanePlan::FirstPage { .. } | LanePlan::Scan => self.read_changes(reading).await,
            LanePlan::Sweep { scan_first } => {
                if scan_first {
                    self.read_changes(reading).await?;
                }
                let quarantined_before = self.tally.quarantined;
                sweep::sweep_lane(self).await?;
                if self.tally.quarantined > quarantined_before {
                    quarantine::retry_taken_ids(self).await?;
                }
                Ok(())
            }
        }
    }

    /// Reads what changed, with the strategy of the lane's surface, and then what earlier turns could not read.
    async fn read_changes(&mut self, reading: LaneReading) -> Result<(), FetchError> {
        match self.target.strategy {
            ReadStrategy::NewestFirst(kind) => {
                newest_first::scan_newest_first(self, kind, reading).await
            }
            ReadStrategy::Since(list) => since::scan_since(self, list).await,
            ReadStrategy::PerThread(kind) => {
                thread_comments::scan_thread_comments(self, kind).await
            }
        }
    }

    pub(crate) fn client(&self) -> &'a GithubClient {
        self.context.client
    }

    /// Returns how far back the lane is mirrored.
    pub(crate) fn window(&self) -> ListingFloor {
        let read = self.state.coverage.from;
        match (self.context.reading, read) {
            (ReadingPurpose::Watches(WatchReading { floor: None, .. }), Some(read)) => read,
            (ReadingPurpose::Watches(_) | ReadingPurpose::Mirror { .. }, _) => {
                self.context.window_floor(self.target.surface())
            }
        }
    }

    /// Sends a query for as many rows as the server can serve, up to the size of a page.
    pub(crate) async fn fetch<Q: Query>(
        &mut self,
        query: &Q,
        options: RequestOptions<'static>,
    ) -> Result<Q::Page, FetchError>
    where
        GithubSource: AsRef<Q::Endpoint>,
    {
        let options = self.target.request_options(options);
        self.client().fetch(query, options, &mut self.page_size).await
    }

    /// Returns a page of this lane without rows, which leaves its coverage as it is.
    pub(crate) fn empty_page(&self) -> IngestPage {
        let page = IngestPage::new(self.target.lane.clone(), self.page_size);
        IngestPage { lane_use: self.context.reading.lane_use(), ..page }
    }

    /// Stores a page, counts it, and emits its event.
    pub(crate) async fn store_page(&mut self, page: IngestPage) -> Result<(), SyncError> {
        for IngestedPage { surface, seen, counts } in self.context.ingest_pages(vec![page]).await? {
            self.tally.count_page(&counts, seen);
            self.context.emit_page_stored(surface, self.tally.pages, seen, &counts);
        }
        Ok(())
    }

    /// Returns the source's own time, as of its last response.
    pub(crate) fn source_date(&self) -> SourceInstant {
        self.client().last_source_date().unwrap_or(SourceInstant::BEGINNING)
    }

    /// Describes a row that the source cannot serve.
    pub(crate) fn oversized_row(&self, subject: RowSubject, reason: String) -> UnreadableRow {
        let at_ms = self.client().last_source_date().map_or(0, |date| date.0);
        UnreadableRow {
            subject,
            reason,
            raw: String::new(),
            updated_at: None,
            observed_at: ObservedAt::new(at_ms, 0),
        }
    }

    /// Resets a watermark that lies beyond the source's own time, `date`, and returns the coverage after that.
    pub(crate) fn reset_watermark(&self, date: SourceInstant) -> Result<Coverage, SyncError> {
        const REASON: &str = "it is later than the source's clock";
        let (store, lane) = (self.context.store, &self.target.lane);
        reading_log::cursor_invalid(lane, REASON);
        let to = date.minus_ms(self.context.reading.safe_backfill_ms());
        store.reset_lane_to(lane, date, to, REASON)?;
        Ok(store.lane_state(lane)?.coverage)
    }

    /// Returns the error of a page that contradicts the coverage.
    pub(crate) fn page_error(&self, error: CoverageError) -> SyncError {
        SyncError::RejectedPage { lane: self.target.lane.to_string(), error }
    }

    /// Returns the error of a part that could not be read.
    pub(crate) fn incomplete_error(&self, reason: &str) -> SyncError {
        let lane = self.target.lane.to_string();
        SyncError::IncompleteRead { lane, reason: reason.to_owned() }
    }

    /// Returns the error that ends the turn. One of this lane alone is recorded, with the time of the next attempt.
    fn fail(&self, error: FetchError) -> Result<SyncError, SyncError> {
        let error = into_lane_error(error, &self.target.lane);
        if error.is_lane_error() && !matches!(error, SyncError::Yielded) {
            self.postpone(&error)?;
        }
        Ok(error)
    }

    /// Records that the lane failed, and when to retry it.
    pub(crate) fn postpone(&self, error: &SyncError) -> Result<(), SyncError> {
        let failures = self.state.failures.saturating_add(1);
        let wait = backoff::failed_turn_delay_ms(failures, self.client().jitter());
        let due_ms = self.client().clock().now_ms() + wait;
        let (page_size, message) = (self.page_size, error.to_string());
        let failure = TurnFailure { due_ms, failures, page_size, message };
        Ok(self.context.store.postpone_lane(&self.target.lane, failure)?)
    }
}
