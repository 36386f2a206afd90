//! Reads the inventory of a lane page by page, with the strategy of its surface.

use hw_rules::lane::ReadStrategy;
use hw_rules::page_guard::PageGuard;
use hw_rules::since_walk::SinceWalk;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::error::SourceError;
use hw_sources::github::threads::ThreadInventoryQuery;
use hw_sources::page::InventoryPage;
use hw_store::{StageOutcome, SweepPage};

use super::{LaneSweep, since_inventory};
use crate::api_client::FetchError;
use crate::retry_policy::RequestOptions;
use crate::since::{SinceReader, is_oversized_row};
use crate::thread_comments::ThreadCommentReader;
use crate::turn::PullTally;

/// Attempts at an inventory page with unreadable rows.
const MAX_PAGE_TRIES: u32 = 4;

impl LaneSweep<'_> {
    /// Stages the rest of the inventory.
    pub(super) async fn stage_inventory(&mut self) -> Result<(), FetchError> {
        let lane = &self.target.lane;
        let staged = self.context.store.sweep_state(lane)?;
        let mut began = staged.as_ref().map(|sweep| sweep.began_at);
        let mut complete = staged.as_ref().is_some_and(|sweep| sweep.complete);
        let mut after = staged.and_then(|sweep| sweep.cursor);
        let mut has_restarted = false;
        while !complete {
            let page = match self.read_inventory_page(after.as_ref()).await {
                Err(FetchError::Source(SourceError::InvalidCursor(_)))
                    if after.is_some() && !has_restarted =>
                {
                    has_restarted = true;
                    tracing::warn!(%lane, "the source rejected the cursor; restarting the inventory");
                    self.context.store.restart_sweep(lane)?;
                    self.guard = PageGuard::default();
                    (began, after) = (None, None);
                    continue;
                }
                other => other?,
            };
            if let StageOutcome::SharedId(id) =
                self.stage_page(&page, *began.get_or_insert(page.observed_at))?
            {
                self.context.store.restart_sweep(lane)?;
                if !std::mem::take(&mut self.is_resumed) {
                    let reason = format!("the list shows several items under one id, {id}");
                    return Err(self.stopped_error(&reason).into());
                }
                // the pages that an earlier turn staged may have been wrong
                self.guard = PageGuard::default();
                (began, after) = (None, None);
                continue;
            }
            complete = page.next.is_none();
            after = page.next;
        }
        Ok(())
    }

    fn stage_page(
        &mut self,
        page: &InventoryPage,
        began: ObservedAt,
    ) -> Result<StageOutcome, FetchError> {
        let rows = page
            .rows
            .iter()
            .map(|row| (row.id, row.node_id.clone(), row.updated_at.clone()))
            .collect();
        let (next, complete) = (page.next.clone(), page.next.is_none());
        let page = SweepPage { began_at: began, rows, next, complete };
        self.tally.pages += 1;
        Ok(self.context.store.stage_sweep_page(&self.target.lane, &page)?)
    }

    /// Reads one inventory page with all rows readable: holes in an inventory would create false suspects.
    async fn read_inventory_page(
        &mut self,
        after: Option<&PageCursor>,
    ) -> Result<InventoryPage, FetchError> {
        match self.target.surface().read_strategy() {
            ReadStrategy::Since => return self.read_since_page(after).await,
            ReadStrategy::PerThread => return self.read_thread_page(after).await,
            ReadStrategy::NewestFirst => {}
        }
        let query = ThreadInventoryQuery(self.target.thread_listing(after));
        let options = self.target.request_options(RequestOptions::SWEEP);
        for _ in 0..MAX_PAGE_TRIES {
            let page = self.context.client.fetch(&query, options, self.page_size).await?;
            if page.unreadable_count > 0 {
                continue;
            }
            if page.next.is_some() {
                let ids = page.rows.iter().map(|row| row.id);
                let checked = self.guard.check_page(ids, [], None);
                checked.map_err(|error| self.stopped_error(&error.to_string()))?;
            }
            return Ok(page);
        }
        Err(self.stopped_error("a row of the list stays unreadable").into())
    }

    /// Reads and stores a page of a list, which is also a page of its inventory.
    async fn read_since_page(
        &mut self,
        after: Option<&PageCursor>,
    ) -> Result<InventoryPage, FetchError> {
        let walk = match after {
            Some(position) => since_inventory::parse_walk_position(position),
            None => {
                let coverage = self.context.store.lane_state(&self.target.lane)?.coverage;
                SinceWalk::from_floor(coverage.from.unwrap_or(ListingFloor::Beginning))
            }
        };
        let mut list = SinceReader {
            context: self.context,
            target: self.target,
            page_size: self.page_size,
            oversized_rows: self.oversized_rows,
            tally: PullTally::default(),
        };
        let page = list.read_page(&walk).await.map_err(|error| list.confine_to_lane(error))?;
        self.oversized_rows = list.oversized_rows;
        if page.since_page.has_next && !is_oversized_row(&page) {
            let checked = self.since_guard.check_page(walk.since, page.row_ids());
            checked.map_err(|error| self.stopped_error(&error.to_string()))?;
        }
        let inventory = since_inventory::build_inventory_page(&walk, &page);
        let next = inventory.as_ref().and_then(|inventory| inventory.next.as_ref());
        if next.is_some_and(|next| since_inventory::parse_walk_position(next).page > 1) {
            // a numbered page begins where the last one ended only if both have the same size
            *self.page_size = page.requested_rows;
        }
        let ingest_page = self.build_ingest_page(page.observations, &page.unreadable);
        let ingested = self.context.store.ingest_page(&ingest_page)?;
        self.tally.count_page(&ingested, ingest_page.observations.len());
        inventory.ok_or_else(|| self.stopped_error("the list repeats itself").into())
    }

    /// Reads and stores the comments of the next threads, whether they moved or not.
    async fn read_thread_page(
        &mut self,
        after: Option<&PageCursor>,
    ) -> Result<InventoryPage, FetchError> {
        let mut reader = ThreadCommentReader::new(self.context, self.target, *self.page_size);
        let after = after.and_then(|cursor| cursor.0.parse().ok()).unwrap_or(i64::MIN);
        let threads =
            self.context.store.lane_threads(&self.target.lane, after, reader.batch_limit())?;
        let date = self.context.client.last_source_date().unwrap_or(SourceInstant::BEGINNING);
        if threads.is_empty() {
            return Ok(InventoryPage {
                date,
                observed_at: ObservedAt::new(date.0, 0),
                rows: Vec::new(),
                next: None,
                unreadable_count: 0,
            });
        }
        let batch = reader.read_batch(&threads).await?;
        reader.ensure_complete()?;
        self.tally.add(&reader.tally);
        let next = batch.thread_count.checked_sub(1).and_then(|last| threads.get(last));
        let next = next.map(|thread| PageCursor(thread.id.to_string()));
        Ok(InventoryPage {
            date,
            observed_at: batch.seen,
            rows: batch.rows,
            next,
            unreadable_count: 0,
        })
    }
}
