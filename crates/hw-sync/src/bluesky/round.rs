//! One round of polls: the profiles of all accounts, then the feeds that are due.

use std::sync::{Mutex, MutexGuard};

use futures_util::stream::{self, StreamExt as _};
use hw_rules::bluesky::account_schedule::{self, AccountFeed, FeedDue, ProfileSign};
use hw_rules::bluesky::account_state::AccountState;
use hw_rules::bluesky::poll_lines::{self, PollCounts};
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::source_time::SourceInstant;
use hw_rules::walk::ListingFloor;
use hw_sources::error::{SourceError, UnavailableAccount};
use hw_store::{AccountRow, LeasedStore, PollRound, StoreError};

use super::client::BlueskyClient;
use super::feed_turn::{FeedCounts, FeedTurn};
use super::poll::{PollFailure, PollSpec, PollSummary};
use super::profiles::{ProfileSigns, check_profiles};
use crate::SyncError;
use crate::api_client::{FetchError, RequestCost};
use crate::rate_limiter::lock_unpoisoned;
use crate::work_threads::WorkThreads;

/// Feeds that are read at once. The rate limiter decides how many of them send a request.
const MAX_CONCURRENT_FEEDS: usize = 16;

pub(super) struct Round<'a> {
    pub(super) store: &'a LeasedStore,
    pub(super) client: &'a BlueskyClient,
    pub(super) spec: &'a PollSpec,
    summary: Mutex<PollSummary>,
    /// A post that this round has seen. It vouches for the answers of lookups.
    seen_post: Mutex<Option<RecordUri>>,
    /// Held while pages are written to a file. A server has a queue of its own.
    write_turn: tokio::sync::Mutex<()>,
    cost_before: RequestCost,
}

impl<'a> Round<'a> {
    pub(super) fn new(
        store: &'a LeasedStore,
        client: &'a BlueskyClient,
        spec: &'a PollSpec,
    ) -> Self {
        Self {
            store,
            client,
            spec,
            summary: Mutex::default(),
            seen_post: Mutex::default(),
            write_turn: tokio::sync::Mutex::default(),
            cost_before: client.api().cost(),
        }
    }

    pub(super) async fn run(&self) -> Result<PollSummary, SyncError> {
        let began_ms = self.now_ms();
        let accounts = self.load_accounts()?;
        let signs = check_profiles(self, &accounts).await?;
        // the profiles may have brought new names
        let accounts = self.load_accounts()?;
        for account in &accounts {
            if let Some(unavailable) = signs.unavailable.get(&account.feed.did) {
                self.skip_account(account, unavailable)?;
            }
        }
        self.read_feeds(&accounts, &signs).await?;
        self.finish(began_ms, accounts.len())
    }

    async fn read_feeds(
        &self,
        accounts: &[AccountRow],
        signs: &ProfileSigns,
    ) -> Result<(), SyncError> {
        let now_ms = self.now_ms();
        let due = accounts.iter().filter_map(|account| {
            let did = &account.feed.did;
            let sign = signs.signs.get(did).copied().unwrap_or(ProfileSign::Unknown);
            let due = account_schedule::judge_feed_due(&account.feed, sign, now_ms);
            let is_read = due.is_due() && !signs.unavailable.contains_key(did);
            is_read.then_some((account, due, sign))
        });
        let mut turns = stream::iter(due)
            .map(|(account, due, sign)| self.read_feed(account, due, sign))
            .buffer_unordered(MAX_CONCURRENT_FEEDS);
        while let Some(read) = turns.next().await {
            read?;
        }
        Ok(())
    }

    /// Reads a feed, and reports what became of it. An error ends the round.
    async fn read_feed(
        &self,
        account: &AccountRow,
        due: FeedDue,
        sign: ProfileSign,
    ) -> Result<(), SyncError> {
        let mut turn = FeedTurn::new(self, account, due, sign);
        let result = turn.read().await;
        let counts = turn.counts();
        self.count_read(&counts);
        match result {
            Ok(()) => {
                self.report_read(account, due, &counts);
                Ok(())
            }
            Err(FetchError::Source(SourceError::AccountUnavailable(unavailable))) => {
                self.skip_account(account, &judge_unavailable(unavailable, sign))
            }
            // everything else can be read without a session
            Err(FetchError::Source(SourceError::TokenRejected(reason)))
                if sign != ProfileSign::Unknown && !self.client.has_credentials() =>
            {
                let (state, reason) = (AccountState::Private, format!(", {reason}"));
                self.skip_account(account, &UnavailableAccount { state, status: 401, reason })
            }
            Err(FetchError::Source(error)) => {
                let lane = turn.lane().to_string();
                self.fail_account(account, SyncError::Source { lane, error })
            }
            Err(FetchError::Sync(error)) => self.fail_account(account, error),
        }
    }

    fn report_read(&self, account: &AccountRow, due: FeedDue, counts: &FeedCounts) {
        let FeedCounts { posts, links: urls, filled_pages: pages, .. } = *counts;
        let line_counts = PollCounts { posts, urls, pages };
        let mut summary = self.summary();
        summary.round.feeds += 1;
        summary.unfinished += u64::from(counts.is_unfinished);
        if due == FeedDue::First {
            summary.round.initial += 1;
            drop(summary);
            self.print(&poll_lines::initial_line(account.name(), line_counts));
        } else if posts > 0 {
            summary.round.active += 1;
            drop(summary);
            self.print(&poll_lines::poll_line(account.name(), line_counts));
        }
    }

    /// Counts profiles that could not be read. Each is a failure, too: whether the feed moved is unknown.
    pub(super) fn count_unread_profiles(&self, count: u64) {
        let mut summary = self.summary();
        summary.unread_profiles += count;
        summary.round.failed += count;
    }

    fn count_read(&self, counts: &FeedCounts) {
        let mut summary = self.summary();
        summary.round.posts += counts.posts;
        summary.round.links += counts.links;
        summary.round.removed += counts.removed;
        summary.edited += counts.edited;
        summary.quarantined += counts.quarantined;
    }

    /// Records that an account is unavailable. Its coverage stays as it is.
    fn skip_account(
        &self,
        account: &AccountRow,
        unavailable: &UnavailableAccount,
    ) -> Result<(), SyncError> {
        let UnavailableAccount { state, status, .. } = unavailable;
        let (host, did) = (&self.spec.host, &account.feed.did);
        let reason = unavailable.to_string();
        self.store.record_unavailable_account(host, did, *state, &reason, self.now_ms())?;
        self.summary().round.skipped += 1;
        self.print(&poll_lines::skip_line(account.name(), *status));
        Ok(())
    }

    /// Records that an account could not be read. An error that concerns all of them ends the round.
    fn fail_account(&self, account: &AccountRow, error: SyncError) -> Result<(), SyncError> {
        if !error.is_lane_error() {
            return Err(error);
        }
        let reason = error.reason();
        self.store.record_failed_account(&self.spec.host, &account.feed.did, &reason)?;
        self.print(&poll_lines::error_line(account.name(), &reason));
        let name = account.name().to_owned();
        let failure = PollFailure { account: name, reason, is_brake: error.is_brake() };
        let mut summary = self.summary();
        summary.round.failed += 1;
        summary.failures.push(failure);
        Ok(())
    }

    /// Records the round, and returns its results.
    fn finish(&self, began_ms: i64, accounts: usize) -> Result<PollSummary, SyncError> {
        let cost = self.client.api().cost();
        let mut summary = std::mem::take(&mut *self.summary());
        summary.round = PollRound {
            began_ms,
            took_ms: self.now_ms() - began_ms,
            accounts: accounts as u64,
            requests: cost.requests - self.cost_before.requests,
            ..summary.round
        };
        summary.cost = cost;
        self.store.record_poll(&self.spec.host, &summary.round)?;
        Ok(summary)
    }

    fn load_accounts(&self) -> Result<Vec<AccountRow>, SyncError> {
        let mut accounts = self.store.accounts()?;
        accounts.retain(|account| account.host == self.spec.host);
        Ok(accounts)
    }

    /// Returns the time down to which a feed is read whole, by the server's own clock.
    pub(super) fn lookback_floor(&self, account: &AccountFeed) -> ListingFloor {
        let now = self.client.api().last_source_date().unwrap_or(SourceInstant(self.now_ms()));
        let lookback_ms = self.spec.settings.lookback_ms();
        let span_ms = account_schedule::daily_read_span_ms(account, lookback_ms, self.now_ms());
        ListingFloor::At(now.minus_ms(span_ms))
    }

    pub(super) fn now_ms(&self) -> i64 {
        self.client.api().clock().now_ms()
    }

    pub(super) fn print(&self, line: &str) {
        (self.spec.print_line)(line);
    }

    pub(super) fn summary(&self) -> MutexGuard<'_, PollSummary> {
        lock_unpoisoned(&self.summary)
    }

    /// Takes note of a post that the server shows now.
    pub(super) fn note_seen_post(&self, uri: &RecordUri) {
        *lock_unpoisoned(&self.seen_post) = Some(uri.clone());
    }

    pub(super) fn seen_post(&self) -> Option<RecordUri> {
        lock_unpoisoned(&self.seen_post).clone()
    }

    /// Writes beside the task that sends requests: other feeds go on.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        action: impl FnOnce(&LeasedStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, SyncError> {
        let threads: WorkThreads = self.client.api().work_threads();
        let store = self.store.clone();
        let turn = match store.has_server() {
            true => None,
            false => Some(self.write_turn.lock().await),
        };
        let written = threads.run(move || action(&store)).await;
        drop(turn);
        Ok(written?)
    }
}

/// Returns the state of an account whose feed was refused. One whose profile is shown all the same does not come back
/// with its profile, so it is tried again at growing intervals.
fn judge_unavailable(unavailable: UnavailableAccount, sign: ProfileSign) -> UnavailableAccount {
    let is_shown = matches!(sign, ProfileSign::Readable { .. });
    let state = if is_shown { AccountState::Refused } else { unavailable.state };
    UnavailableAccount { state, ..unavailable }
}
