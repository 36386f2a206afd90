//! One turn of one feed: how far it is read, and what it has brought.

use hw_rules::bluesky::account_schedule::{self, FeedDue, ProfileSign};
use hw_rules::bluesky::feed_coverage::FeedDepth;
use hw_rules::bluesky::polling_settings::PollKind;
use hw_rules::lane::Lane;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;
use hw_sources::bluesky::feed::FeedPage;
use hw_store::{AccountRow, FinishedFeed, IngestCounts};

use super::feed_read::FeedWalk;
use super::removals;
use super::round::Round;
use crate::api_client::FetchError;

/// What a turn has brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FeedCounts {
    pub(super) pages: u32,
    /// Pages that had rows: the last one of a feed may be empty.
    pub(super) filled_pages: u32,
    /// New posts and reposts.
    pub(super) posts: u64,
    /// Their links.
    pub(super) links: u64,
    pub(super) edited: u64,
    pub(super) removed: u64,
    pub(super) quarantined: u64,
    /// True if a part is left for the next turn.
    pub(super) is_unfinished: bool,
}

pub(super) struct FeedTurn<'a> {
    pub(super) round: &'a Round<'a>,
    pub(super) account: &'a AccountRow,
    pub(super) lane: Lane,
    pub(super) depth: FeedDepth,
    /// Rows to request per page.
    pub(super) page_size: u32,
    pub(super) max_pages: u32,
    /// The number of posts in the profile; none if it is unknown.
    pub(super) posts_count: Option<i64>,
    pub(super) counts: FeedCounts,
    /// True if the feed had items when it was read before.
    had_head: bool,
    rows: SeenRows,
}

/// The rows that a turn has read.
#[derive(Default)]
struct SeenRows {
    count: u32,
    oldest: Option<SourceInstant>,
    /// The server's time of the last page.
    date: Option<SourceInstant>,
}

impl<'a> FeedTurn<'a> {
    pub(super) fn new(
        round: &'a Round<'a>,
        account: &'a AccountRow,
        due: FeedDue,
        sign: ProfileSign,
    ) -> Self {
        let settings = &round.spec.settings;
        let kind = if due.is_whole_read() { PollKind::First } else { PollKind::Regular };
        let posts_count = match sign {
            ProfileSign::Readable { posts_count } => posts_count,
            ProfileSign::Unknown | ProfileSign::Unreadable => None,
        };
        Self {
            round,
            account,
            lane: Lane::account_feed(&round.spec.host, account.feed.did.clone()),
            depth: FeedDepth {
                lookback: round.lookback_floor(&account.feed),
                is_whole: due.is_whole_read(),
            },
            page_size: if due == FeedDue::Daily {
                settings.second_page_size()
            } else {
                settings.posts_per_page
            },
            max_pages: settings.max_pages(kind),
            posts_count,
            counts: FeedCounts::default(),
            had_head: false,
            rows: SeenRows::default(),
        }
    }

    pub(super) fn counts(&self) -> FeedCounts {
        self.counts
    }

    pub(super) fn lane(&self) -> &Lane {
        &self.lane
    }

    /// Reads what the feed has brought, and, if it is read whole, removes what it no longer shows.
    pub(super) async fn read(&mut self) -> Result<(), FetchError> {
        let (host, did) = (self.round.spec.host.clone(), self.account.feed.did.clone());
        let lane = self.lane.clone();
        let state = move |store: &hw_store::LeasedStore| {
            store.restart_reset_account(&host, &did)?;
            store.lane_state(&lane)
        };
        let state = self.round.write(state).await?;
        let coverage = self.depth.open_turn(state.coverage);
        if coverage.gap.is_some() {
            // what an earlier turn has left comes first; the whole read is due again in the next round
            self.depth.is_whole = false;
        }
        self.had_head = coverage.through.is_some_and(|head| head != SourceInstant::BEGINNING);
        let walk = FeedWalk::new(self, coverage).run().await?;
        self.counts.is_unfinished = !walk.is_finished;
        if let Some(range) = walk.whole_range {
            self.counts.removed += removals::remove_unlisted(self, range).await?;
            let (host, did) = (self.round.spec.host.clone(), self.account.feed.did.clone());
            let now_ms = self.round.now_ms();
            let record =
                move |store: &hw_store::LeasedStore| store.record_daily_read(&host, &did, now_ms);
            self.round.write(record).await?;
        }
        Ok(())
    }

    pub(super) fn observe_page(&mut self, page: &FeedPage) {
        self.counts.pages += 1;
        self.counts.filled_pages += u32::from(page.rows.count > 0);
        let rows = &mut self.rows;
        rows.count = rows.count.saturating_add(u32::try_from(page.rows.count).unwrap_or(u32::MAX));
        rows.oldest = rows.oldest.into_iter().chain(page.rows.oldest).min();
        rows.date = Some(page.listing.date);
    }

    pub(super) fn count_page(&mut self, counts: &IngestCounts) {
        self.counts.posts += counts.created + counts.revived;
        self.counts.links += counts.links;
        self.counts.edited += counts.edited;
        self.counts.quarantined += counts.quarantined;
    }

    /// Returns the state of the account once its turn has ended.
    pub(super) fn finished_feed(&self) -> FinishedFeed {
        let SeenRows { count, oldest, date } = self.rows;
        let span_ms = match (oldest, date) {
            (Some(oldest), Some(date)) => date.0.saturating_sub(oldest.0),
            _ => 0,
        };
        let posts_per_page = self.round.spec.settings.posts_per_page;
        let known_count = self.account.feed.posts_count;
        // an empty answer may be a fault: the count still shows that there is something to read
        let is_doubtful = count == 0 && self.had_head;
        let posts_count = self.posts_count.filter(|count| !is_doubtful || *count == 0);
        FinishedFeed {
            read_ms: self.round.now_ms(),
            posts_count: posts_count.or(known_count),
            interval_ms: account_schedule::feed_interval_ms(count, span_ms, posts_per_page),
        }
    }
}

/// What the walks of a turn have reached.
pub(super) struct WalkEnd {
    /// False if a part of the feed is left for the next turn.
    pub(super) is_finished: bool,
    /// The range that was read without a break from the top, if the feed was to be read whole.
    pub(super) whole_range: Option<WholeRange>,
}

/// A range of a feed whose items the server has listed, as far as it shows them.
#[derive(Debug, Clone, Copy)]
pub(super) struct WholeRange {
    pub(super) floor: SourceInstant,
    /// The server's time when reading it began: what was not seen since is not listed.
    pub(super) began: SourceInstant,
}

impl WholeRange {
    pub(super) fn new(floor: ListingFloor, began: SourceInstant) -> Self {
        let floor = match floor {
            ListingFloor::Beginning => SourceInstant::BEGINNING,
            ListingFloor::At(floor) => floor,
        };
        Self { floor, began }
    }
}
