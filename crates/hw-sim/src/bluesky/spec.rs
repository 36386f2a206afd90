//! The configuration of a simulated AppView and its world.

use std::ops::RangeInclusive;

use super::faults::BlueskyFaults;

/// 2026-01-02T03:04:05Z, the start of the predefined worlds.
const DEFAULT_START_MS: i64 = 1_767_323_045_000;
const HOUR_MS: i64 = 3_600_000;

/// The size, behavior and activity of a world of accounts.
#[derive(Debug, Clone)]
pub struct BlueskySpec {
    pub accounts: usize,
    /// The posts of an account before the first request, reposts not counted. The first accounts post more than the
    /// last ones; the very last one posts as little as the range allows.
    pub posts_per_account: RangeInclusive<usize>,
    /// How many of a hundred posts are followed by a repost.
    pub repost_percent: u8,
    /// How many of a hundred posts have the time of the post before them, to the millisecond.
    pub equal_time_percent: u8,
    pub follows_per_account: usize,
    /// The end of the seeded history, which covers the `history_hours` before it.
    pub start_ms: i64,
    pub history_hours: u32,
    /// Texts, names and URLs that have broken readers before.
    pub hostile_text: bool,
    pub activity: BlueskyActivity,
    /// The time from posting to being visible. A post whose author claims the time of posting then appears below
    /// posts that were indexed faster.
    pub index_lag_ms: RangeInclusive<u64>,
    pub cursor_format: CursorFormat,
    pub feed_end: FeedEnd,
    /// True if reads need a session, as on an account's own server.
    pub requires_session: bool,
    /// The password of every account.
    pub app_password: String,
    pub access_token_ms: i64,
    pub refresh_token_ms: i64,
    pub limits: XrpcLimits,
    pub faults: BlueskyFaults,
    pub latency_ms: RangeInclusive<u64>,
    /// The error of the clock that `Date` comes from.
    pub date_offset_ms: i64,
}

/// The text of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorFormat {
    /// A time, as in production. Items with the time of a page's last item are lost to the next page.
    IsoTime,
    /// `milliseconds__cid`, as in the reference implementation.
    MillisecondsCid,
}

/// What shows that a feed has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedEnd {
    /// An empty page without a cursor; every other page has one.
    EmptyPage,
    /// The last page has no cursor.
    MissingCursor,
}

/// The limits of one client address.
#[derive(Debug, Clone)]
pub struct XrpcLimits {
    pub requests_per_window: u32,
    pub window_ms: i64,
    /// Of `createSession`, in the same window.
    pub logins_per_window: u32,
    /// True if responses report the limit: an account's own server does, the AppView does not.
    pub has_headers: bool,
}

impl Default for XrpcLimits {
    fn default() -> Self {
        Self {
            requests_per_window: 3000,
            window_ms: 300_000,
            logins_per_window: 30,
            has_headers: false,
        }
    }
}

impl BlueskySpec {
    /// Returns a world of six accounts with a little of everything, without faults or activity.
    #[must_use]
    pub fn small() -> Self {
        Self {
            accounts: 6,
            posts_per_account: 0..=60,
            repost_percent: 15,
            equal_time_percent: 0,
            follows_per_account: 3,
            start_ms: DEFAULT_START_MS,
            history_hours: 72,
            hostile_text: false,
            activity: BlueskyActivity::none(),
            index_lag_ms: 0..=0,
            cursor_format: CursorFormat::IsoTime,
            feed_end: FeedEnd::EmptyPage,
            requires_session: false,
            app_password: "abcd-efgh-ijkl-mnop".to_owned(),
            access_token_ms: 2 * HOUR_MS,
            refresh_token_ms: 60 * 24 * HOUR_MS,
            limits: XrpcLimits::default(),
            faults: BlueskyFaults::none(),
            latency_ms: 40..=120,
            date_offset_ms: 0,
        }
    }

    /// Returns a world whose accounts have no posts yet.
    #[must_use]
    pub fn silent(accounts: usize) -> Self {
        Self { accounts, posts_per_account: 0..=0, ..Self::small() }
    }

    /// Returns a dozen fictional accounts that share links, large enough to explore.
    #[must_use]
    pub fn demo() -> Self {
        Self {
            accounts: 12,
            posts_per_account: 4..=60,
            history_hours: 30,
            latency_ms: 5..=25,
            ..Self::small()
        }
    }
}

/// The activity of a world's accounts.
#[derive(Debug, Clone)]
pub struct BlueskyActivity {
    pub actions_per_minute: u32,
    pub until_ms: i64,
    pub weights: BlueskyActionWeights,
}

impl BlueskyActivity {
    #[must_use]
    pub fn none() -> Self {
        Self { actions_per_minute: 0, until_ms: i64::MIN, weights: BlueskyActionWeights::default() }
    }

    /// Returns this many of the usual actions per minute, until this time.
    #[must_use]
    pub fn busy(actions_per_minute: u32, until_ms: i64) -> Self {
        Self { actions_per_minute, until_ms, weights: BlueskyActionWeights::default() }
    }

    /// Returns the same, including actions that make accounts unavailable.
    #[must_use]
    pub fn disruptive(actions_per_minute: u32, until_ms: i64) -> Self {
        Self { actions_per_minute, until_ms, weights: BlueskyActionWeights::disruptive() }
    }
}

/// The relative frequency of each action.
#[derive(Debug, Clone)]
pub struct BlueskyActionWeights {
    pub post: u32,
    pub reply: u32,
    pub quote: u32,
    pub repost: u32,
    pub self_repost: u32,
    /// Up to sixty posts within a minute.
    pub burst: u32,
    /// Two posts with one time.
    pub equal_times: u32,
    /// A post that claims to be hours or days older.
    pub backdated_post: u32,
    /// A post that claims to come from the future.
    pub future_post: u32,
    pub edit: u32,
    pub delete_post: u32,
    /// A post, and the deletion of another one: the number of posts stays the same.
    pub replace_post: u32,
    pub delete_repost: u32,
    pub pin: u32,
    pub follow: u32,
    pub rename: u32,
    pub change_handle: u32,
    /// A handle goes to another account, and the old one is left without.
    pub move_handle: u32,
    /// An account becomes unavailable for a while, or available again.
    pub deactivate_or_reactivate: u32,
    pub take_down: u32,
    pub delete_account: u32,
}

impl BlueskyActionWeights {
    /// Returns the usual actions, and those that make accounts unavailable.
    #[must_use]
    pub fn disruptive() -> Self {
        Self {
            move_handle: 1,
            deactivate_or_reactivate: 3,
            take_down: 1,
            delete_account: 1,
            ..Self::default()
        }
    }
}

impl Default for BlueskyActionWeights {
    fn default() -> Self {
        Self {
            post: 40,
            reply: 10,
            quote: 5,
            repost: 12,
            self_repost: 3,
            burst: 1,
            equal_times: 3,
            backdated_post: 3,
            future_post: 2,
            edit: 5,
            delete_post: 5,
            replace_post: 2,
            delete_repost: 3,
            pin: 1,
            follow: 1,
            rename: 1,
            change_handle: 1,
            move_handle: 0,
            deactivate_or_reactivate: 0,
            take_down: 0,
            delete_account: 0,
        }
    }
}
