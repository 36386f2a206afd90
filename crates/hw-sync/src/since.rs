//! Reads lists that take `since`: the newest page first, then a walk through what does not fit on it.

use hw_rules::coverage::{Coverage, CoverageError};
use hw_rules::lane::SinceList;
use hw_rules::page_guard::SinceGuard;
use hw_rules::row_subject::RowSubject;
use hw_rules::since_walk::SinceWalk;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::error::SourceError;
use hw_sources::github::since_lists::{ListPart, SinceListPage, SinceListQuery, SinceListResult};
use hw_store::{Etag, IngestPage};

use crate::SyncError;
use crate::api_client::FetchError;
use crate::lane_turn::LaneTurn;
use crate::quarantine;
use crate::reading_log::{self, ScanResult};
use crate::retry_policy::RequestOptions;
use crate::turn::{PullTally, ReadingPurpose};

/// Attempts to read the pages of one second before they are left to the next turn.
const MAX_UNSTABLE_TRIES: u32 = 3;
/// Time after which a page is read without its ETag.
const ETAG_LIFETIME_MS: i64 = 24 * 3_600_000;
/// Oversized rows that one turn accepts: finding each one takes several large responses.
const MAX_OVERSIZED_ROWS: u32 = 20;

/// A list that is being read.
pub(crate) struct SinceReader<'t, 'a> {
    pub(crate) turn: &'t mut LaneTurn<'a>,
    pub(crate) list: SinceList,
    /// Rows that were too large to read.
    pub(crate) oversized_rows: u32,
}

/// A page within one second of the source's time, on which the next page depends.
struct SameSecondPage {
    walk: SinceWalk,
    requested_rows: u32,
    etag: Option<String>,
}

/// Rows to store, down to a floor.
struct RetainedPage {
    page: SinceListPage,
    floor: ListingFloor,
}

/// Reads a list until its walk is complete.
pub(crate) async fn scan_since(turn: &mut LaneTurn<'_>, list: SinceList) -> Result<(), FetchError> {
    let LaneTurn { context, target, .. } = *turn;
    let window = turn.window();
    if !target.can_be_swept() {
        // comments that are hidden now reappear with their old times, where a scan does not find them
        context.store.request_sweep(&target.lane, 0)?;
    }
    let coverage = turn.state.coverage.clone().open_since(window);
    let is_watched = matches!(context.reading, ReadingPurpose::Watches(_));
    if is_watched {
        reading_log::scan_started(&target.lane, coverage.through);
    }
    let mut reader = SinceReader { turn, list, oversized_rows: 0 };
    match reader.read_all(coverage, window).await {
        // without issues this list may not exist, even if there are pull requests
        Err(FetchError::Source(SourceError::Hidden(_)))
            if !target.repository.has_issues_enabled =>
        {
            Ok(reader.record_missing_list().await?)
        }
        Err(error) => Err(reader.confine_to_lane(error)),
        Ok(through) => {
            if is_watched {
                let PullTally { pages, seen: fetched, stored, .. } = turn.tally;
                let result = ScanResult { pages, fetched, stored };
                reading_log::scan_completed(&target.lane, through, result);
            }
            quarantine::retry_quarantined(turn).await
        }
    }
}

impl SinceReader<'_, '_> {
    async fn read_all(
        &mut self,
        coverage: Coverage,
        window: ListingFloor,
    ) -> Result<Option<SourceInstant>, FetchError> {
        let coverage = if coverage.since.is_none() {
            self.read_newest(coverage, window).await?
        } else {
            coverage
        };
        let coverage = self.walk_pages(coverage, window).await?.open_since(window);
        // a walk that began with a narrower window left rows below it unread
        Ok(self.walk_pages(coverage, window).await?.through)
    }

    /// Reads the newest page, unless its ETag shows that it is unchanged.
    async fn read_newest(
        &mut self,
        coverage: Coverage,
        window: ListingFloor,
    ) -> Result<Coverage, FetchError> {
        let LaneTurn { context, target, .. } = *self.turn;
        let principal = context.client.principal();
        let (lane, user) = (target.lane.clone(), principal.clone());
        let known = context.ask_store(move |store| store.lane_etag(&lane, &user)).await?;
        let known = known.filter(|etag| coverage.through.is_some() && self.is_etag_fresh(etag));
        let value = known.map(|etag| etag.value);
        let result = self.fetch_list(ListPart::Newest, value.as_deref()).await;
        let mut page = match self.quarantine_oversized(result, "the newest page")? {
            SinceListResult::NotModified(date) => {
                let next = coverage.confirm_unchanged(date);
                self.store_page(None, &next, Some(date.0), None).await?;
                return Ok(next);
            }
            SinceListResult::Page(page) => page,
        };
        let before = coverage.since_retention_floor(window);
        let stop = coverage.newest_page_stop(window, context.reading.overlap_ms());
        let next = match coverage.apply_newest_page(&page.since_page, stop) {
            Err(CoverageError::FutureWatermark { date, .. }) => {
                return Ok(self.turn.reset_watermark(date)?);
            }
            other => other.map_err(|error| self.turn.page_error(error))?,
        };
        if next.since.is_some() {
            // a walk follows and brings these rows itself, perhaps from a replica that lacks some of them; so
            // neither the rows nor the ETag, which would vouch for them, are stored
            self.store_page(None, &next, None, None).await?;
            return Ok(next);
        }
        // a page that is the whole list claims everything in it, whatever the window is
        let floor = before.min(next.since_retention_floor(window));
        let date = page.since_page.date;
        // what lies below the stop was reported when it moved
        page.moved_threads.retain(|moved| !stop.is_above(moved.updated_at.instant()));
        let etag = page.etag.take().filter(|_| page.since_page.reaches_settled_rows());
        let etag = etag.map(|value| Etag { principal, value, sent_at: Some(date) });
        self.store_page(Some(RetainedPage { page, floor }), &next, Some(date.0), etag).await?;
        Ok(next)
    }

    /// Returns true if an ETag can be relied on. Some ETags miss a change, so once a day of the source's time the
    /// page is read without it.
    fn is_etag_fresh(&self, etag: &Etag) -> bool {
        let times = etag.sent_at.zip(self.turn.client().last_source_date());
        times.is_some_and(|(at, now)| now < at.plus_ms(ETAG_LIFETIME_MS))
    }

    /// Reads everything since the walk's start, oldest change first.
    async fn walk_pages(
        &mut self,
        mut coverage: Coverage,
        window: ListingFloor,
    ) -> Result<Coverage, FetchError> {
        let mut same_second = Vec::new();
        let mut guard = SinceGuard::default();
        let mut tries = 0;
        if let Some(walk) = &coverage.since {
            reading_log::scan_backfill(&self.turn.target.lane, walk.floor);
        }
        while let Some(walk) = coverage.since.clone() {
            let page = self.read_page(&walk).await?;
            let next = match coverage.clone().apply_since_page(&page.since_page) {
                Err(CoverageError::FutureWatermark { date, .. }) => {
                    self.turn.reset_watermark(date)?
                }
                other => other.map_err(|error| self.turn.page_error(error))?,
            };
            if next.since.is_some() && !is_oversized_row(&page) {
                guard
                    .check_page(walk.since, page.row_ids())
                    .map_err(|error| self.turn.page_error(error.into()))?;
            }
            let leaves_second = next.since.as_ref().is_none_or(|next| next.since != walk.since);
            if leaves_second && !self.are_pages_unchanged(&same_second).await? {
                tries += 1;
                if tries >= MAX_UNSTABLE_TRIES {
                    let reason = "the list kept changing while it was read";
                    return Err(self.turn.incomplete_error(reason).into());
                }
                same_second.clear();
                guard.restart_anchor();
                coverage.since = Some(SinceWalk { page: 1, ..walk });
                continue;
            }
            if leaves_second {
                same_second.clear();
                tries = 0;
            } else {
                let (requested_rows, etag) = (page.requested_rows, page.etag.clone());
                same_second.push(SameSecondPage { walk, requested_rows, etag });
                // a larger second page would begin after the end of the smaller first one
                self.turn.page_size = requested_rows;
            }
            let checked_at = next.since.is_none().then_some(page.since_page.date.0);
            let floor =
                coverage.since_retention_floor(window).min(next.since_retention_floor(window));
            self.store_page(Some(RetainedPage { page, floor }), &next, checked_at, None).await?;
            coverage = next;
        }
        Ok(coverage)
    }

    /// Reads one page of a walk.
    pub(crate) async fn read_page(
        &mut self,
        walk: &SinceWalk,
    ) -> Result<SinceListPage, FetchError> {
        let result = self.fetch_list(ListPart::Since(walk.position()), None).await;
        match self.quarantine_oversized(result, &walk.position().to_string())? {
            SinceListResult::Page(page) => Ok(page),
            SinceListResult::NotModified(_) => Err(FetchError::Source(
                SourceError::InvalidResponse("not modified, but no ETag was sent".into()),
            )),
        }
    }

    /// Replaces a single row that the source cannot serve by an empty page: the row is quarantined by its position,
    /// and the walk continues with the next one.
    fn quarantine_oversized(
        &mut self,
        result: Result<SinceListResult, FetchError>,
        position: &str,
    ) -> Result<SinceListResult, FetchError> {
        let reason = match result {
            Err(FetchError::Source(SourceError::TooExpensive(reason)))
                if self.turn.page_size == 1 =>
            {
                reason
            }
            other => return other,
        };
        self.oversized_rows += 1;
        if self.oversized_rows > MAX_OVERSIZED_ROWS {
            return Err(self
                .turn
                .incomplete_error(&format!("too many rows are too large: {reason}"))
                .into());
        }
        let subject = RowSubject::Position { at: PageCursor(position.to_owned()), after: None };
        let row = self.turn.oversized_row(subject, reason);
        Ok(SinceListResult::Page(SinceListPage::oversized_row(row, self.turn.source_date())))
    }

    /// Returns true if the pages of one second are unchanged. A row that left them shifted the others, and one of
    /// those may have moved from a page not yet read to one that was.
    async fn are_pages_unchanged(&mut self, pages: &[SameSecondPage]) -> Result<bool, FetchError> {
        for SameSecondPage { walk, requested_rows, etag } in pages {
            let Some(etag) = etag else { continue };
            self.turn.page_size = *requested_rows;
            let result = self.fetch_list(ListPart::Since(walk.position()), Some(etag)).await?;
            if let SinceListResult::Page(_) = result {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Marks the lane as checked, so that a list that does not exist is not requested in every pull.
    async fn record_missing_list(&self) -> Result<(), SyncError> {
        let LaneTurn { context, target, .. } = *self.turn;
        let date = context.client.last_source_date();
        let checked_lane = date.map(|date| (target.lane.clone(), date.0));
        let page = IngestPage {
            checked_lanes: checked_lane.into_iter().collect(),
            ..self.turn.empty_page()
        };
        context.ask_store(move |store| store.ingest_page(&page).map(drop)).await
    }

    async fn fetch_list(
        &mut self,
        part: ListPart,
        etag: Option<&str>,
    ) -> Result<SinceListResult, FetchError> {
        let repository_id = self.turn.target.repository.id;
        let query = SinceListQuery { list: self.list, repository_id, part, etag };
        self.turn.fetch(&query, RequestOptions::PAGE).await
    }

    /// Stores a page down to its floor, together with the coverage after it.
    async fn store_page(
        &mut self,
        page: Option<RetainedPage>,
        next: &Coverage,
        checked_at: Option<i64>,
        etag: Option<Etag>,
    ) -> Result<(), FetchError> {
        let lane = &self.turn.target.lane;
        let mut ingest_page = IngestPage {
            coverage: Some(next.clone()),
            checked_lanes: checked_at.map(|at| (lane.clone(), at)).into_iter().collect(),
            etag,
            ..self.turn.empty_page()
        };
        if let Some(RetainedPage { page, floor }) = page {
            ingest_page.observations = page.observations;
            ingest_page.observations.retain(|row| !floor.is_above(row.item.updated_at().instant()));
            ingest_page.moved_threads = page.moved_threads;
            ingest_page.quarantined =
                page.unreadable.iter().map(quarantine::quarantine_row).collect();
        }
        Ok(self.turn.store_page(ingest_page).await?)
    }

    /// Turns a rejected token into an error of this lane alone: a token may be denied one list and read the others.
    pub(crate) fn confine_to_lane(&self, error: FetchError) -> FetchError {
        match &error {
            FetchError::Source(SourceError::TokenRejected(reason)) => {
                self.turn.incomplete_error(&format!("the token cannot read it: {reason}")).into()
            }
            FetchError::Source(_) | FetchError::Sync(_) => error,
        }
    }
}

/// Returns true if a page stands for an oversized row: it is empty, and the row is known by its position alone.
pub(crate) fn is_oversized_row(page: &SinceListPage) -> bool {
    page.since_page.rows.is_empty()
        && page.unreadable.iter().any(|row| matches!(row.subject, RowSubject::Position { .. }))
}
