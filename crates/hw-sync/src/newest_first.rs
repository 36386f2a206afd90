//! Reads changes newest first: the walk from the top, then the gap, then quarantined rows.

use hw_rules::coverage::{Coverage, CoverageError, LaneSection, PageRequest};
use hw_rules::item::ThreadKind;
use hw_rules::page_guard::PageGuard;
use hw_rules::walk::ListingFloor;
use hw_sources::error::SourceError;
use hw_sources::github::threads::{ThreadIdsQuery, ThreadListing, ThreadPageQuery};
use hw_sources::page::ItemsPage;
use hw_store::IngestPage;

use crate::api_client::FetchError;
use crate::lane_turn::{LaneReading, LaneTurn};
use crate::quarantine;
use crate::retry_policy::RequestOptions;
use crate::turn::LaneTarget;

/// A scan in progress.
struct NewestFirstScan<'t, 'a> {
    turn: &'t mut LaneTurn<'a>,
    kind: ThreadKind,
    window: ListingFloor,
    /// True once a cursor was rejected. A source that rejects a second, fresh cursor is failing.
    has_restarted: bool,
    /// Pages of the lane that this pull has read before.
    pages_before: u64,
    /// Detects a walk that repeats itself.
    guard: PageGuard,
}

/// Reads a lane until its walk and its gap are closed.
pub(crate) async fn scan_newest_first(
    turn: &mut LaneTurn<'_>,
    kind: ThreadKind,
    reading: LaneReading,
) -> Result<(), FetchError> {
    let (window, stored) = (turn.window(), turn.state.coverage.clone());
    let mut scan = NewestFirstScan {
        turn,
        kind,
        window,
        has_restarted: false,
        pages_before: u64::from(reading != LaneReading::Unread),
        guard: PageGuard::default(),
    };
    let mut coverage = match reading {
        LaneReading::MidWalk(coverage) if coverage.has_unfinished_head() => {
            scan.walk_head(*coverage).await?
        }
        LaneReading::MidWalk(coverage) => *coverage,
        LaneReading::Unread | LaneReading::UpToDate => {
            let mut coverage = stored.open_turn(window);
            if coverage.has_unfinished_head() {
                coverage = scan.walk_head(coverage).await?;
            }
            scan.walk_head(coverage).await?
        }
    };
    scan.guard = PageGuard::default();
    while let Some(request) = coverage.next_gap_request() {
        coverage = scan.ingest_next_page(coverage, &request).await?.open_turn(window);
    }
    quarantine::retry_quarantined(turn).await
}

impl NewestFirstScan<'_, '_> {
    async fn walk_head(&mut self, mut coverage: Coverage) -> Result<Coverage, FetchError> {
        self.guard = PageGuard::default();
        loop {
            let request = coverage.next_head_request(self.window);
            coverage = self.ingest_next_page(coverage, &request).await?;
            if !coverage.has_unfinished_head() {
                return Ok(coverage.open_turn(self.window));
            }
        }
    }

    /// Fetches one page, applies it to the coverage, and stores both together.
    async fn ingest_next_page(
        &mut self,
        coverage: Coverage,
        request: &PageRequest,
    ) -> Result<Coverage, FetchError> {
        let mut page = match self.fetch_page(request).await {
            Err(FetchError::Source(SourceError::InvalidCursor(_)))
                if request.after.is_some() && !self.has_restarted =>
            {
                self.has_restarted = true;
                tracing::warn!(lane = %self.turn.target.lane, "the source rejected the cursor; restarting the walk");
                return self
                    .restart_page(coverage.restart_walk(request.section), request.section)
                    .await;
            }
            other => other?,
        };
        if page.walk_page.next.is_some() {
            let total = page.walk_page.total_count;
            self.guard
                .check_page(page.row_ids(), page.unreadable_subjects(), total)
                .map_err(|error| self.turn.page_error(error.into()))?;
        }
        let next = match step_coverage(coverage, request, &mut page, self.window) {
            Ok(next) => next,
            Err(error) => return self.recover_rejected(error, request.section).await,
        };
        quarantine::retry_unreadable(self.turn, &mut page).await?;
        self.store_page(page, &next, request).await?;
        Ok(next)
    }

    async fn fetch_page(&mut self, request: &PageRequest) -> Result<ItemsPage, FetchError> {
        let LaneTurn { context, target, tally, .. } = *self.turn;
        let listing = target.thread_listing(self.kind, request.after.as_ref());
        context.emit_page_requested(target, self.pages_before + tally.pages + 1);
        match self.turn.fetch(&ThreadPageQuery(listing), RequestOptions::PAGE).await {
            // one row that the server cannot serve must not block all that follow it
            Err(FetchError::Source(SourceError::TooExpensive(_))) if self.turn.page_size == 1 => {
                self.fetch_id_only(listing).await
            }
            other => other,
        }
    }

    /// Fetches the id and time of the next row, without its content.
    async fn fetch_id_only(&mut self, listing: ThreadListing<'_>) -> Result<ItemsPage, FetchError> {
        let options = self.turn.target.request_options(RequestOptions::PAGE);
        self.turn.client().fetch(&ThreadIdsQuery(listing), options, &mut 1).await
    }

    async fn store_page(
        &mut self,
        page: ItemsPage,
        next: &Coverage,
        request: &PageRequest,
    ) -> Result<(), FetchError> {
        let LaneTurn { target, page_size, .. } = *self.turn;
        let page = build_ingest_page(target, page, next, request, page_size);
        Ok(self.turn.store_page(page).await?)
    }

    /// Resets a watermark from the future and reads the lane again from there; any other error is final.
    async fn recover_rejected(
        &mut self,
        error: CoverageError,
        section: LaneSection,
    ) -> Result<Coverage, FetchError> {
        let CoverageError::FutureWatermark { date, .. } = error else {
            return Err(self.turn.page_error(error).into());
        };
        let coverage = self.turn.reset_watermark(date)?.open_turn(self.window);
        self.restart_page(coverage, section).await
    }

    /// Reads the next page of the same section, with the coverage as it is now.
    async fn restart_page(
        &mut self,
        coverage: Coverage,
        section: LaneSection,
    ) -> Result<Coverage, FetchError> {
        self.guard = PageGuard::default();
        let gap_request = match section {
            LaneSection::Head => None,
            LaneSection::Gap => coverage.next_gap_request(),
        };
        let request = gap_request.unwrap_or_else(|| coverage.next_head_request(self.window));
        Box::pin(self.ingest_next_page(coverage, &request)).await
    }
}

/// Returns the coverage after this page, and drops the page's rows below the retention floor.
///
/// Rows that are retried alone afterwards took no part in this step, so none of them may be dropped.
pub(crate) fn step_coverage(
    coverage: Coverage,
    request: &PageRequest,
    page: &mut ItemsPage,
    window: ListingFloor,
) -> Result<Coverage, CoverageError> {
    let floor = coverage.retention_floor(request, window);
    let next = coverage.apply_page(request, &page.walk_page)?;
    page.observations.retain(|row| !floor.is_above(row.item.updated_at().instant()));
    Ok(next)
}

/// Builds the page to store, together with the coverage after it.
pub(crate) fn build_ingest_page(
    target: &LaneTarget,
    page: ItemsPage,
    next: &Coverage,
    request: &PageRequest,
    page_size: u32,
) -> IngestPage {
    let checked_lane = next.checked_at(request).map(|date| (target.lane.clone(), date.0));
    IngestPage {
        observations: page.observations,
        coverage: Some(next.clone()),
        checked_lanes: checked_lane.into_iter().collect(),
        quarantined: page.unreadable.iter().map(quarantine::quarantine_row).collect(),
        ..IngestPage::new(target.lane.clone(), page_size)
    }
}
