//! Walks a feed: from the top down to what is known, then the gap below it.

use hw_rules::bluesky::feed_coverage;
use hw_rules::bluesky::feed_end::{FeedEnd, FeedPosition};
use hw_rules::bluesky::poll_lines;
use hw_rules::coverage::{Coverage, CoverageError, LaneSection, PageRequest};
use hw_rules::item::{ItemObservation, MirrorItem};
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;
use hw_sources::bluesky::feed::{self, AuthorFeedQuery, FeedPage};
use hw_sources::error::SourceError;
use hw_store::{AccountName, FeedProgress, IngestPage};

use super::feed_turn::{FeedTurn, WalkEnd, WholeRange};
use crate::api_client::FetchError;
use crate::{SyncError, quarantine};

/// The part of a feed that is read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stretch {
    /// The rest of an earlier turn's walk from the top.
    UnfinishedHead,
    /// From the top down.
    Head,
    Gap,
    Done,
}

/// The walks of one turn.
pub(super) struct FeedWalk<'t, 'a> {
    turn: &'t mut FeedTurn<'a>,
    coverage: Coverage,
    stretch: Stretch,
    /// True until a page of this stretch was read: its cursor is from an earlier turn.
    is_saved: bool,
    /// True once a cursor was refused. A server that refuses a second one is failing.
    has_restarted: bool,
    whole: WholeWalk,
}

/// The walk from the top, as far as it was read.
#[derive(Debug, Clone, Copy, Default)]
struct WholeWalk {
    began: Option<SourceInstant>,
    oldest: Option<SourceInstant>,
    /// Its stop, once it has ended. What is not listed above it is looked for, even where the end is not proven.
    ended_at: Option<ListingFloor>,
}

impl<'t, 'a> FeedWalk<'t, 'a> {
    pub(super) fn new(turn: &'t mut FeedTurn<'a>, coverage: Coverage) -> Self {
        let is_resumed = coverage.has_unfinished_head();
        let stretch = if is_resumed { Stretch::UnfinishedHead } else { Stretch::Head };
        let (is_saved, has_restarted, whole) = (true, false, WholeWalk::default());
        Self { turn, coverage, stretch, is_saved, has_restarted, whole }
    }

    /// Reads page after page until nothing is left, or the turn has read its share.
    pub(super) async fn run(mut self) -> Result<WalkEnd, FetchError> {
        while let Some(request) = self.next_request() {
            self.read_page(&request).await?;
            if self.is_at_limit() {
                break;
            }
        }
        Ok(self.end())
    }

    fn next_request(&self) -> Option<PageRequest> {
        match self.stretch {
            Stretch::UnfinishedHead | Stretch::Head => {
                Some(self.turn.depth.next_head_request(&self.coverage))
            }
            Stretch::Gap => self.coverage.next_gap_request(),
            Stretch::Done => None,
        }
    }

    fn is_at_limit(&self) -> bool {
        self.turn.counts.pages >= self.turn.max_pages
    }

    async fn read_page(&mut self, request: &PageRequest) -> Result<(), FetchError> {
        let position = match &request.after {
            None => FeedPosition::Top,
            Some(cursor) if self.is_saved => FeedPosition::AfterSaved(cursor),
            Some(cursor) => FeedPosition::After(cursor),
        };
        let page = match self.fetch(position).await {
            Err(FetchError::Source(error)) if feed::is_cursor_refusal(&error, position) => {
                return self.restart(request.section, error);
            }
            page => page?,
        };
        self.turn.observe_page(&page);
        let end = page.judge_end(position, request.stop);
        match &end {
            FeedEnd::CursorRefused => {
                let error = SourceError::InvalidCursor("the page after it is empty".into());
                return self.restart(request.section, error);
            }
            FeedEnd::Unsaid { oldest: None } => {
                let lane = self.turn.lane.to_string();
                let reason = "the feed ended with rows that cannot be read".to_owned();
                return Err(SyncError::IncompleteRead { lane, reason }.into());
            }
            FeedEnd::Continues(_)
            | FeedEnd::ReachedStop
            | FeedEnd::Empty
            | FeedEnd::Unsaid { oldest: Some(_) } => {}
        }
        self.take_in(request, page, &end).await
    }

    async fn fetch(&self, position: FeedPosition<'_>) -> Result<FeedPage, FetchError> {
        let FeedTurn { round, account, page_size, .. } = &*self.turn;
        let query = AuthorFeedQuery { did: &account.feed.did, position };
        round.client.fetch(&query, *page_size).await
    }

    /// Stores a page together with how far it got, and decides what is read next.
    async fn take_in(
        &mut self,
        request: &PageRequest,
        page: FeedPage,
        end: &FeedEnd,
    ) -> Result<(), FetchError> {
        let floor = self.turn.depth.retention_floor(&self.coverage, request);
        let applied =
            feed_coverage::apply_feed_page(self.coverage.clone(), request, &page.listing, end);
        let next = match applied {
            Ok(next) => next,
            Err(error) => return self.recover(error),
        };
        self.observe_whole_walk(request, &page, end);
        self.announce_high_volume(page.rows.count, end);
        let stretch = self.stretch_after(&next);
        let is_last = stretch == Stretch::Done || self.is_at_limit();
        self.store_page(request, page, floor, &next, is_last).await?;
        self.is_saved = stretch != self.stretch;
        self.stretch = stretch;
        self.coverage = next;
        Ok(())
    }

    fn stretch_after(&self, next: &Coverage) -> Stretch {
        match self.stretch {
            Stretch::UnfinishedHead | Stretch::Head if next.has_unfinished_head() => self.stretch,
            Stretch::UnfinishedHead => Stretch::Head,
            Stretch::Head | Stretch::Gap if next.gap.is_some() => Stretch::Gap,
            Stretch::Head | Stretch::Gap | Stretch::Done => Stretch::Done,
        }
    }

    async fn store_page(
        &mut self,
        request: &PageRequest,
        page: FeedPage,
        floor: ListingFloor,
        next: &Coverage,
        is_last: bool,
    ) -> Result<(), FetchError> {
        let turn = &mut *self.turn;
        if let Some(seen) = page.posts.iter().find(|seen| seen.post.uri.is_post()) {
            turn.round.note_seen_post(&seen.post.uri);
        }
        let checked_lane = next.checked_at(request).map(|date| (turn.lane.clone(), date.0));
        let kept =
            page.posts.into_iter().filter(|seen| !floor.is_above(seen.post.sort_at.instant()));
        let observations = kept.map(|seen| ItemObservation {
            item: MirrorItem::Post(seen.post),
            observed_at: seen.observed_at,
        });
        let ingest = IngestPage {
            observations: observations.collect(),
            coverage: Some(next.clone()),
            checked_lanes: checked_lane.into_iter().collect(),
            quarantined: page.unreadable.iter().map(quarantine::quarantine_row).collect(),
            ..IngestPage::new(turn.lane.clone(), turn.page_size)
        };
        let names =
            page.handles.into_iter().map(|(did, handle)| AccountName { did, handle }).collect();
        let finished = is_last.then(|| turn.finished_feed());
        let progress = FeedProgress { names, finished };
        let store = move |store: &hw_store::LeasedStore| {
            let prepared = store.page_preparer().prepare_page(ingest);
            store.ingest_feed_page(&prepared, &progress)
        };
        let counts = turn.round.write(store).await?;
        turn.count_page(&counts);
        Ok(())
    }

    /// Starts over at the top: once, because the server may be of another version than the one that sent the cursor.
    fn restart(&mut self, section: LaneSection, error: SourceError) -> Result<(), FetchError> {
        if self.has_restarted {
            return Err(FetchError::Source(error));
        }
        tracing::warn!(lane = %self.turn.lane, %error, "the server refused a cursor; restarting");
        self.has_restarted = true;
        self.coverage = std::mem::take(&mut self.coverage).restart_walk(section);
        if section == LaneSection::Head {
            self.stretch = Stretch::Head;
            self.whole = WholeWalk::default();
        }
        Ok(())
    }

    /// Resets a watermark from the future and reads the feed again from there; any other error is final.
    fn recover(&mut self, error: CoverageError) -> Result<(), FetchError> {
        let (store, lane) = (self.turn.round.store, &self.turn.lane);
        let CoverageError::FutureWatermark { date, .. } = error else {
            return Err(SyncError::RejectedPage { lane: lane.to_string(), error }.into());
        };
        store.reset_lane(lane, date, "it is later than the source's clock")?;
        self.coverage = self.turn.depth.open_turn(store.lane_state(lane)?.coverage);
        self.stretch = Stretch::Head;
        self.whole = WholeWalk::default();
        Ok(())
    }

    fn observe_whole_walk(&mut self, request: &PageRequest, page: &FeedPage, end: &FeedEnd) {
        if self.stretch != Stretch::Head {
            return;
        }
        if request.after.is_none() {
            self.whole = WholeWalk { began: Some(page.listing.date), ..WholeWalk::default() };
        }
        self.whole.oldest = self.whole.oldest.into_iter().chain(page.rows.oldest).min();
        self.whole.ended_at = end.reached_floor(request.stop).map(|_| request.stop);
    }

    fn announce_high_volume(&self, rows: usize, end: &FeedEnd) {
        let turn = &self.turn;
        let is_first_page = self.stretch == Stretch::Head && turn.counts.pages == 1;
        // servers leave some rows out; a page that is mostly empty is the end of a short feed
        let is_full = 2 * rows >= turn.page_size as usize && matches!(end, FeedEnd::Continues(_));
        if is_first_page && is_full && !turn.depth.is_whole {
            turn.round.print(&poll_lines::high_volume_line(turn.account.name()));
        }
    }

    fn end(self) -> WalkEnd {
        let WholeWalk { began, oldest, ended_at } = self.whole;
        let floor = ended_at.or(oldest.map(ListingFloor::At));
        let range = began.zip(floor).filter(|_| self.turn.depth.is_whole);
        WalkEnd {
            is_finished: self.stretch == Stretch::Done,
            whole_range: range.map(|(began, floor)| WholeRange::new(floor, began)),
        }
    }
}
