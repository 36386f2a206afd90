//! The oracle: the true content of the world, for tests to compare stored feeds with.

mod feed_snapshot;

use std::collections::{BTreeMap, HashSet};

use super::author_feed::{FeedFilter, FeedRequest, read_feed_page};
use super::cursor::FeedCursor;
use super::spec::{CursorFormat, FeedEnd};
use super::world::{AccountState, BlueskyWorld, SimAccount};
use feed_snapshot::FeedSnapshot;

/// The largest page of a feed.
const LARGEST_PAGE: usize = 100;

/// Everything that a reader can know at one time, by DID.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlueskyTruth {
    pub feeds: BTreeMap<String, TrueFeed>,
}

/// An account with its feed. The items are listed whatever its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueFeed {
    pub did: String,
    /// `None` if it has none at present.
    pub handle: Option<String>,
    pub display_name: String,
    pub state: AccountState,
    pub is_blocking_viewer: bool,
    pub posts_count: usize,
    /// What the whole feed shows, by the URIs of the posts and reposts.
    pub items: BTreeMap<String, TrueFeedItem>,
    /// Reposts that exist but cannot be shown, because their post is gone or its author unavailable.
    pub hidden: BTreeMap<String, TrueFeedItem>,
    /// What was visible once and is deleted, with its last content.
    pub deleted: BTreeMap<String, DeletedFeedItem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueFeedItem {
    /// The URI of the post or of the repost.
    pub uri: String,
    /// The CID of the post or of the repost.
    pub cid: String,
    pub kind: FeedItemKind,
    /// The time that decides its place in the feed.
    pub sort_ms: i64,
    /// The time from which it was visible.
    pub visible_from_ms: i64,
    /// True if something newer in the same feed was visible before it.
    pub is_backdated: bool,
    /// The time of the last edit of the post.
    pub edited_ms: Option<i64>,
    /// The reposted post, or this one.
    pub post_uri: String,
    pub post_cid: String,
    /// The author of the post.
    pub author_did: String,
    pub text: String,
    /// The author's claim, as written.
    pub created_at: String,
    pub indexed_at: String,
    pub langs: Vec<String>,
    /// As they were written, with repetitions.
    pub links: Vec<TrueLink>,
    pub reply_root: Option<String>,
    pub reply_parent: Option<String>,
    pub quote: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedItemKind {
    Post,
    Repost,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrueLink {
    pub url: String,
    pub origin: LinkOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkOrigin {
    Facet,
    Embed,
    /// A URL in the text without a facet.
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletedFeedItem {
    pub item: TrueFeedItem,
    pub deleted_ms: i64,
}

impl TrueFeed {
    /// Returns the items whose time is not before this one.
    pub fn items_since(&self, since_ms: i64) -> impl Iterator<Item = &TrueFeedItem> {
        self.items.values().filter(move |item| item.sort_ms >= since_ms)
    }

    /// Returns the items among them that appeared below something that was visible already.
    pub fn backdated_since(&self, since_ms: i64) -> impl Iterator<Item = &TrueFeedItem> {
        self.items_since(since_ms).filter(|item| item.is_backdated)
    }

    /// Returns true if a request for the feed is answered without a session.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.state == AccountState::Active
    }
}

impl BlueskyTruth {
    /// Returns the feed of an account.
    ///
    /// # Panics
    ///
    /// Panics if there is no such account.
    #[must_use]
    pub fn feed(&self, did: &str) -> &TrueFeed {
        self.feeds.get(did).unwrap_or_else(|| panic!("no account {did} in this world"))
    }
}

impl BlueskyWorld {
    /// Returns what readers can know now. An earlier time than that of the latest request shows the present content
    /// without what was indexed later.
    #[must_use]
    pub fn truth(&self, now_ms: i64) -> BlueskyTruth {
        let feeds = self.accounts().iter().map(|account| {
            let feed = FeedSnapshot::new(self, account, now_ms).build_feed();
            (feed.did.clone(), feed)
        });
        BlueskyTruth { feeds: feeds.collect() }
    }

    /// Returns the URIs of the items that an undisturbed walk from the top with pages of this size does not show:
    /// those that share the time of a page's last item, if cursors are times.
    #[must_use]
    pub fn items_skipped_by_walk(
        &self,
        did: &str,
        page_size: usize,
        format: CursorFormat,
        now_ms: i64,
    ) -> Vec<String> {
        let snapshot = FeedSnapshot::new(self, self.known_account(did), now_ms);
        let mut shown = HashSet::new();
        let mut below = None;
        loop {
            let filter = FeedFilter::WithReplies;
            let request = FeedRequest { limit: page_size, below, filter };
            let end = FeedEnd::EmptyPage;
            let page = read_feed_page(self, snapshot.account, &request, end, now_ms);
            shown.extend(page.rows.iter().map(|key| key.row));
            let Some(next) = page.next else { break };
            below = match FeedCursor::parse(format, &next.to_text(format)) {
                FeedCursor::Below(position) => Some(position),
                FeedCursor::Outdated | FeedCursor::Malformed => break,
            };
        }
        let rows = snapshot.visible_keys().map(|key| key.row);
        let skipped = rows.filter(|row| !shown.contains(row) && snapshot.is_shown(*row));
        skipped.map(|row| snapshot.uri_of(row)).collect()
    }

    /// Returns the URIs of the items that no walk can show, whatever the size of its pages: more items than fit on one
    /// page have the same time, and cursors are times.
    #[must_use]
    pub fn unreachable_items(&self, did: &str, format: CursorFormat, now_ms: i64) -> Vec<String> {
        if format == CursorFormat::MillisecondsCid {
            return Vec::new();
        }
        let snapshot = FeedSnapshot::new(self, self.known_account(did), now_ms);
        let mut unreachable = Vec::new();
        let mut equal = EqualTimes { sort_ms: i64::MAX, count: 0 };
        for key in snapshot.visible_keys() {
            equal.count_row(key.sort_ms);
            if equal.count > LARGEST_PAGE && snapshot.is_shown(key.row) {
                unreachable.push(snapshot.uri_of(key.row));
            }
        }
        unreachable
    }

    fn known_account(&self, did: &str) -> &SimAccount {
        self.find_account(did).unwrap_or_else(|| panic!("no account {did} in this world"))
    }
}

/// The number of rows in sequence that have one time.
struct EqualTimes {
    sort_ms: i64,
    count: usize,
}

impl EqualTimes {
    fn count_row(&mut self, sort_ms: i64) {
        let count = if sort_ms == self.sort_ms { self.count + 1 } else { 1 };
        *self = Self { sort_ms, count };
    }
}
