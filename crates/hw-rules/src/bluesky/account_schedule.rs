//! Decides when the feed of an account is read.
//!
//! The counts of posts in the profiles, 25 accounts a request, show which feeds moved. Reposts do not move them, so a
//! feed that is often written to is also read by the clock, and each feed once a day down to the look-back: that read
//! also finds back-dated posts, and those that are gone.

use sha2::{Digest as _, Sha256};

use super::account_state::AccountState;
use super::did::Did;

const HOUR_MS: i64 = 3_600_000;
/// The time between two reads of a feed down to its look-back.
pub const DAY_MS: i64 = 24 * HOUR_MS;
/// The shortest time between two reads that no sign requested.
const MIN_INTERVAL_MS: i64 = HOUR_MS;
/// The delay before the first retry of an account that is unavailable.
const FIRST_RETRY_MS: i64 = HOUR_MS;

/// The state of an account and its feed when a round begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountFeed {
    pub did: Did,
    pub state: AccountState,
    /// The number of times in a row that it was unavailable, and the last one.
    pub failures: u32,
    pub failed_ms: Option<i64>,
    /// The profile's count of posts when the feed was last read.
    pub posts_count: Option<i64>,
    /// The last time the feed was read; none before the first one.
    pub read_ms: Option<i64>,
    /// The last time it was read down to the look-back. The first read is one.
    pub daily_read_ms: Option<i64>,
    /// The time between two reads without a sign, from [`feed_interval_ms`].
    pub interval_ms: i64,
    /// True if the last read left a part of the feed for the next one.
    pub is_unfinished: bool,
    /// True if a user asked for it.
    pub is_requested: bool,
}

/// The state of an account as its profile shows it in this round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileSign {
    /// The profile was not read, or the answer left it out.
    Unknown,
    /// The account is there, and its posts can be read.
    Readable { posts_count: Option<i64> },
    /// The account is there, but its posts cannot be read.
    Unreadable,
}

/// The reason to read a feed in this round, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedDue {
    /// A user asked for it, and it was read before.
    Requested,
    /// It was never read, and nothing keeps it from being read now.
    First,
    /// The last read left a part for this one.
    Unfinished,
    /// The account was unavailable, and its profile is back.
    Returned,
    /// The account is unavailable, and it is time to try again.
    Retry,
    /// Its profile shows that something changed.
    Moved,
    /// It was not read down to the look-back since its time of the day.
    Daily,
    /// As often as it is written to, something new is expected.
    Rate,
    NotDue,
}

impl FeedDue {
    pub fn is_due(self) -> bool {
        self != Self::NotDue
    }

    /// Returns true if the feed is read down to the look-back.
    pub fn is_whole_read(self) -> bool {
        match self {
            Self::First | Self::Daily => true,
            Self::Requested
            | Self::Unfinished
            | Self::Returned
            | Self::Retry
            | Self::Moved
            | Self::Rate
            | Self::NotDue => false,
        }
    }
}

/// Decides whether a feed is read in this round.
pub fn judge_feed_due(account: &AccountFeed, profile: ProfileSign, now_ms: i64) -> FeedDue {
    match (judge_read_feed(account, profile, now_ms), account.read_ms) {
        (due, None) if due.is_due() => FeedDue::First,
        (due, _) => due,
    }
}

/// Decides about a feed as if it had been read before. A daily read comes first, because it finds whatever the others
/// would: an account that always has something new would never have one otherwise.
fn judge_read_feed(account: &AccountFeed, profile: ProfileSign, now_ms: i64) -> FeedDue {
    if !account.state.is_active() {
        return match account.is_requested {
            true => FeedDue::Requested,
            false => judge_unavailable(account, profile, now_ms),
        };
    }
    let Some(read_ms) = account.read_ms else { return FeedDue::First };
    let daily_ms = last_daily_time_ms(&account.did, now_ms);
    if account.daily_read_ms.is_none_or(|read_ms| !(daily_ms..=now_ms).contains(&read_ms)) {
        return FeedDue::Daily;
    }
    if account.is_requested {
        return FeedDue::Requested;
    }
    if account.is_unfinished {
        return FeedDue::Unfinished;
    }
    if has_moved(account, profile) {
        return FeedDue::Moved;
    }
    // a time in the future is from a clock that was set back since
    let is_recent = (0..account.interval_ms).contains(&now_ms.saturating_sub(read_ms));
    if account.interval_ms < DAY_MS && !is_recent { FeedDue::Rate } else { FeedDue::NotDue }
}

fn judge_unavailable(account: &AccountFeed, profile: ProfileSign, now_ms: i64) -> FeedDue {
    let is_shown = matches!(profile, ProfileSign::Readable { .. });
    if is_shown && account.state.is_shown_by_profile() {
        return FeedDue::Returned;
    }
    let delay_ms = unavailable_delay_ms(account.failures);
    let waited_ms = account.failed_ms.map(|failed_ms| now_ms.saturating_sub(failed_ms));
    let has_to_wait = waited_ms.is_some_and(|waited_ms| (0..delay_ms).contains(&waited_ms));
    if has_to_wait { FeedDue::NotDue } else { FeedDue::Retry }
}

/// Returns true if the count of posts changed, or the account is blocked: the read shows what that means. A count that
/// shrank is a sign, too: something was deleted.
fn has_moved(account: &AccountFeed, profile: ProfileSign) -> bool {
    match profile {
        ProfileSign::Readable { posts_count: Some(count) } => account.posts_count != Some(count),
        ProfileSign::Unreadable => true,
        ProfileSign::Readable { posts_count: None } | ProfileSign::Unknown => false,
    }
}

/// Returns the delay before an account that was unavailable n times in a row is tried again: an hour, doubling up to a
/// day. It never ends, because suspended and deactivated accounts come back.
pub fn unavailable_delay_ms(failures: u32) -> i64 {
    let doublings = failures.saturating_sub(1).min(8);
    (FIRST_RETRY_MS << doublings).min(DAY_MS)
}

/// Returns the last time at which the daily read of a feed became due.
///
/// It is at another time of the day for each account, so that the reads are spread over the day.
pub fn last_daily_time_ms(did: &Did, now_ms: i64) -> i64 {
    now_ms - now_ms.saturating_sub(daily_offset_ms(did)).rem_euclid(DAY_MS)
}

/// Returns how far back the daily read of a feed reaches: over the time since the last one, and the look-back before
/// that. So it finds whatever was back-dated by no more than the look-back, and every deletion of a post that was no older
/// than that.
pub fn daily_read_span_ms(account: &AccountFeed, lookback_ms: i64, now_ms: i64) -> i64 {
    let since_last_ms = account.daily_read_ms.map_or(0, |read_ms| now_ms.saturating_sub(read_ms));
    lookback_ms.saturating_add(since_last_ms.max(0))
}

fn daily_offset_ms(did: &Did) -> i64 {
    let digest = Sha256::digest(did.as_str());
    let first = digest.first_chunk().expect("a SHA-256 has 32 bytes");
    i64::from(u32::from_be_bytes(*first)) % DAY_MS
}

/// Returns the time after which a feed is read without a sign: that in which half a page is expected, but at least an
/// hour. A day leaves it to the daily read.
///
/// `rows` is the number of rows of the feed in the last `span_ms`, silence up to now included. Fewer rows than half a page
/// are all that a young feed has, and say nothing about its rate.
pub fn feed_interval_ms(rows: u32, span_ms: i64, posts_per_page: u32) -> i64 {
    let expected_rows = i64::from(posts_per_page / 2).max(1);
    if i64::from(rows) < expected_rows {
        return DAY_MS;
    }
    let interval_ms = span_ms.max(0).saturating_mul(expected_rows) / i64::from(rows);
    interval_ms.clamp(MIN_INTERVAL_MS, DAY_MS)
}

#[cfg(test)]
#[path = "account_schedule_tests.rs"]
mod tests;
