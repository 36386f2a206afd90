//! Reads the inventory of a lane page by page, with the strategy of its surface.

use hw_rules::item::ThreadKind;
use hw_rules::lane::{PerThreadCommentKind, ReadStrategy, SinceList};
use hw_rules::page_guard::PageGuard;
use hw_rules::since_walk::{SincePosition, SinceWalk};
use hw_rules::version::ObservedAt;
use hw_rules::walk::{ListingFloor, PageCursor};
use hw_sources::error::SourceError;
use hw_sources::github::threads::ThreadInventoryQuery;
use hw_sources::page::InventoryPage;
use hw_store::{StageOutcome, SweepPage};

use super::{LaneSweep, since_inventory};
use crate::api_client::FetchError;
use crate::lane_turn::LaneTurn;
use crate::retry_policy::RequestOptions;
use crate::since::{SinceReader, is_oversized_row};
use crate::thread_comments::ThreadCommentReader;

/// Attempts at an inventory page with unreadable rows.
const MAX_PAGE_TRIES: u32 = 4;

impl LaneSweep<'_, '_> {
    /// Stages the rest of the inventory.
    pub(super) async fn stage_inventory(&mut self) -> Result<(), FetchError> {
        let LaneTurn { context, target, .. } = *self.turn;
        let lane = &target.lane;
        let staged = context.store.sweep_state(lane)?;
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
                    context.store.restart_sweep(lane)?;
                    self.guard = PageGuard::default();
                    (began, after) = (None, None);
                    continue;
                }
                other => other?,
            };
            if let StageOutcome::SharedId(id) =
                self.stage_page(&page, *began.get_or_insert(page.observed_at))?
            {
                context.store.restart_sweep(lane)?;
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
        self.turn.tally.pages += 1;
        Ok(self.turn.context.store.stage_sweep_page(&self.turn.target.lane, &page)?)
    }

    /// Reads one inventory page with all rows readable: holes in an inventory would create false suspects.
    async fn read_inventory_page(
        &mut self,
        after: Option<&PageCursor>,
    ) -> Result<InventoryPage, FetchError> {
        match self.turn.target.strategy {
            ReadStrategy::NewestFirst(kind) => self.read_listing_page(kind, after).await,
            ReadStrategy::Since(list) => self.read_since_page(list, after).await,
            ReadStrategy::PerThread(kind) => self.read_thread_page(kind, after).await,
        }
    }

    /// Reads a page of the inventory that threads have of their own.
    async fn read_listing_page(
        &mut self,
        kind: ThreadKind,
        after: Option<&PageCursor>,
    ) -> Result<InventoryPage, FetchError> {
        let query = ThreadInventoryQuery(self.turn.target.thread_listing(kind, after));
        for _ in 0..MAX_PAGE_TRIES {
            let page = self.turn.fetch(&query, RequestOptions::SWEEP).await?;
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
        list: SinceList,
        after: Option<&PageCursor>,
    ) -> Result<InventoryPage, FetchError> {
        let walk = match after.map(|cursor| SincePosition::parse(&cursor.0)) {
            // a position that cannot be read is the beginning
            Some(position) => position.map_or_else(
                || SinceWalk::from_floor(ListingFloor::Beginning),
                SinceWalk::from_position,
            ),
            None => {
                let LaneTurn { context, target, .. } = *self.turn;
                let coverage = context.store.lane_state(&target.lane)?.coverage;
                SinceWalk::from_floor(coverage.from.unwrap_or(ListingFloor::Beginning))
            }
        };
        let mut reader =
            SinceReader { turn: &mut *self.turn, list, oversized_rows: self.oversized_rows };
        let page = reader.read_page(&walk).await.map_err(|error| reader.confine_to_lane(error))?;
        self.oversized_rows = reader.oversized_rows;
        if page.since_page.has_next && !is_oversized_row(&page) {
            let checked = self.since_guard.check_page(walk.since, page.row_ids());
            checked.map_err(|error| self.stopped_error(&error.to_string()))?;
        }
        let inventory = since_inventory::build_inventory_page(&walk, &page);
        let next = inventory.as_ref().and_then(|inventory| inventory.next);
        if next.is_some_and(|next| next.page > 1) {
            // a numbered page begins where the last one ended only if both have the same size
            self.turn.page_size = page.requested_rows;
        }
        let ingest_page = self.build_ingest_page(page.observations, &page.unreadable);
        self.turn.store_page(ingest_page).await?;
        let inventory = inventory.map(|inventory| inventory.page);
        inventory.ok_or_else(|| self.stopped_error("the list repeats itself").into())
    }

    /// Reads and stores the comments of the next threads, whether they moved or not.
    async fn read_thread_page(
        &mut self,
        kind: PerThreadCommentKind,
        after: Option<&PageCursor>,
    ) -> Result<InventoryPage, FetchError> {
        let LaneTurn { context, target, .. } = *self.turn;
        let date = self.turn.source_date();
        let mut reader = ThreadCommentReader::new(self.turn, kind);
        let after = after.and_then(|cursor| cursor.0.parse().ok()).unwrap_or(i64::MIN);
        let threads = context.store.lane_threads(&target.lane, after, reader.batch_limit())?;
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
