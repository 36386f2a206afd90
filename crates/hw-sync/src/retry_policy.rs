//! Decides how often and how long a request is retried.

use std::sync::atomic::{AtomicI64, Ordering};

use hw_rules::backoff::{self, Jitter, RetryDelays};
use hw_rules::bluesky::polling_settings::PollingSettings;
use hw_rules::page_size;
use hw_rules::rate_limit::RequestClass;
use hw_sources::error::{RetryDecision, SourceError};

use crate::SyncError;
use crate::yield_signal::YieldSignal;

/// The delays between the attempts at one request, their number, and the active time that they may take together. Waits
/// for rate limits do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    pub delays: RetryDelays,
    pub max_tries: u32,
    pub max_active_ms: i64,
}

impl RetryPolicy {
    pub const GITHUB: Self = Self {
        delays: RetryDelays::Growing,
        max_tries: backoff::MAX_SERVER_ATTEMPTS,
        max_active_ms: 5 * 60_000,
    };

    /// Returns the policy for Bluesky: at once, then after 1, 2 and 4 s, unless the settings say otherwise. Its retries are
    /// few, because another round comes soon.
    pub fn bluesky(settings: &PollingSettings) -> Self {
        Self {
            delays: settings.retry_delays(),
            max_tries: settings.max_retries + 1,
            max_active_ms: i64::MAX,
        }
    }

    /// Returns the policy for a host that was never reached in this run. A wrong address or certificate stays wrong; two
    /// more tries over three seconds are for a network that is just coming up.
    #[must_use]
    pub(crate) fn for_first_contact(self) -> Self {
        self.limited_to(3, 8_000)
    }

    fn limited_to(self, max_tries: u32, max_active_ms: i64) -> Self {
        Self {
            max_tries: self.max_tries.min(max_tries),
            max_active_ms: self.max_active_ms.min(max_active_ms),
            ..self
        }
    }
}

/// Ranks a request among others that wait, and says how much it is worth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestOptions<'a> {
    pub(crate) class: RequestClass,
    effort: RequestEffort,
    /// Budget that the requests of one repository share.
    repository_budget: Option<&'a RepositoryRetryBudget>,
    /// Raised when the request has to give way.
    yield_signal: Option<&'a YieldSignal>,
}

/// The effort that a request is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestEffort {
    /// All attempts of the policy.
    Full,
    /// Two attempts: the lane does not wait for it.
    Low,
}

/// Active time that all requests of a repository may take together without one usable response. A usable response
/// resets it, so a large repository is never given up.
#[derive(Debug, Default)]
pub(crate) struct RepositoryRetryBudget(AtomicI64);

impl RepositoryRetryBudget {
    const MAX_ACTIVE_MS: i64 = 3 * 60_000;

    fn spend_ms(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }

    fn is_exhausted(&self) -> bool {
        self.0.load(Ordering::Relaxed) > Self::MAX_ACTIVE_MS
    }

    fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl RequestOptions<'static> {
    /// For a page of a listing.
    pub(crate) const PAGE: Self = Self {
        class: RequestClass::Mirror,
        effort: RequestEffort::Full,
        repository_budget: None,
        yield_signal: None,
    };
    /// For a page of a sweep.
    pub(crate) const SWEEP: Self = Self { class: RequestClass::Sweeps, ..Self::PAGE };
    /// For everything that concerns accounts and their feeds.
    pub(crate) const FEED: Self = Self { class: RequestClass::Accounts, ..Self::PAGE };
    /// For everything that watches need.
    pub(crate) const WATCH: Self = Self { class: RequestClass::WatchedThreads, ..Self::PAGE };
    /// For one row among others.
    pub(crate) const ROW: Self = Self { effort: RequestEffort::Low, ..Self::PAGE };

    /// Returns the same options for requests that share a repository's budget, and give way at its signal.
    pub(crate) fn for_repository<'a>(
        self,
        budget: &'a RepositoryRetryBudget,
        signal: &'a YieldSignal,
    ) -> RequestOptions<'a> {
        RequestOptions { repository_budget: Some(budget), yield_signal: Some(signal), ..self }
    }
}

impl RequestOptions<'_> {
    /// Returns the same options for requests of another class.
    pub(crate) fn with_class(self, class: RequestClass) -> Self {
        Self { class, ..self }
    }

    /// Returns the part of the policy that a request is worth.
    pub(crate) fn limit_policy(self, policy: RetryPolicy) -> RetryPolicy {
        match self.effort {
            RequestEffort::Full => policy,
            RequestEffort::Low => policy.limited_to(2, 30_000),
        }
    }

    /// Waits, unless the request has to give way before.
    pub(crate) async fn wait_or_yield<T>(
        self,
        wait: impl Future<Output = Result<T, SyncError>>,
    ) -> Result<T, SyncError> {
        let Some(signal) = self.yield_signal else { return wait.await };
        tokio::select! {
            biased;
            () = signal.wait() => Err(SyncError::Yielded),
            result = wait => result,
        }
    }

    /// Resets the repository's budget after a usable response.
    pub(crate) fn reset_budget(self) {
        self.repository_budget.inspect(|budget| budget.reset());
    }
}

/// Attempts and active time of one request so far.
#[derive(Debug, Default)]
pub(crate) struct RetryState {
    server_errors: u32,
    network_errors: u32,
    refusals: u32,
    active_ms: i64,
}

impl RetryState {
    pub(crate) fn add_active_ms(&mut self, ms: i64, options: RequestOptions<'_>) {
        self.active_ms += ms;
        options.repository_budget.inspect(|budget| budget.spend_ms(ms));
    }

    /// Returns the wait before the next attempt; none gives up. Shrinks `size` when fewer rows may help.
    pub(crate) fn next_delay(
        &mut self,
        error: &SourceError,
        policy: RetryPolicy,
        options: RequestOptions<'_>,
        size: &mut u32,
        jitter: Jitter,
    ) -> Option<i64> {
        let growing_ms = match error.retry_decision() {
            // the rate limiter waits for the end of a limit, however long it lasts
            RetryDecision::Pause => return Some(0),
            RetryDecision::GiveUp => return None,
            RetryDecision::RequestLess => {
                *size = page_size::shrink_page(*size);
                self.server_errors += 1;
                backoff::smaller_page_delay_ms(jitter)
            }
            RetryDecision::RetryServer => {
                self.server_errors += 1;
                // some timeouts look like any other failure
                if self.server_errors.is_multiple_of(2) {
                    *size = page_size::shrink_page(*size);
                }
                backoff::server_error_delay_ms(self.server_errors, jitter)
            }
            RetryDecision::RetryNetwork => {
                self.network_errors += 1;
                // a response that breaks off every time may be too large for the connection
                if self.network_errors.is_multiple_of(2) {
                    *size = page_size::shrink_page(*size);
                }
                backoff::network_error_delay_ms(self.network_errors, jitter)
            }
            RetryDecision::RetryOnce => {
                self.refusals += 1;
                if self.refusals > 1 {
                    return None;
                }
                backoff::refusal_delay_ms(jitter)
            }
        };
        let failures = self.server_errors + self.network_errors;
        let wait = policy.delays.delay_ms(failures.max(self.refusals), growing_ms)?;
        self.add_active_ms(wait, options);
        let is_over = failures >= policy.max_tries
            || self.active_ms > policy.max_active_ms
            || options.repository_budget.is_some_and(RepositoryRetryBudget::is_exhausted);
        (!is_over).then_some(wait)
    }
}

#[cfg(test)]
mod tests {
    use hw_sources::error::{LimitWait, RateLimit, RateLimitKind};

    use super::*;

    #[test]
    fn retry_halves_a_page_down_to_one_row_and_gives_up_at_the_tenth_try() {
        let mut size = 100;
        let error = SourceError::TooExpensive(String::new());
        let tries = count_tries(&error, RequestOptions::PAGE, &mut size);
        assert_eq!((tries, size), (10, 1));
    }

    #[test]
    fn retry_gives_up_a_failing_server_after_five_minutes() {
        let tries = count_tries(&SourceError::Server(String::new()), RequestOptions::PAGE, &mut 1);
        assert_eq!(tries, 6, "5 + 10 + 20 + 40 + 80 s, and 160 more would be too long");
    }

    #[test]
    fn retry_repeats_a_refused_request_once_after_five_seconds() {
        let (forbidden, mut state) = (SourceError::Forbidden(String::new()), RetryState::default());
        let waits: Vec<_> = (0..2)
            .map(|_| {
                state.next_delay(
                    &forbidden,
                    RetryPolicy::GITHUB,
                    RequestOptions::PAGE,
                    &mut 100,
                    Jitter(0.0),
                )
            })
            .collect();
        assert_eq!(waits, [Some(5_000), None]);
    }

    #[test]
    fn retry_gives_up_an_unreachable_host_after_three_seconds() {
        let (error, mut state) = (SourceError::Unreachable(String::new()), RetryState::default());
        let policy = RetryPolicy::GITHUB.for_first_contact();
        let waits: Vec<_> = (0..3)
            .map(|_| state.next_delay(&error, policy, RequestOptions::PAGE, &mut 100, Jitter(1.0)))
            .collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), None]);
    }

    #[test]
    fn retry_requests_a_single_row_twice() {
        assert_eq!(
            count_tries(&SourceError::Network(String::new()), RequestOptions::ROW, &mut 1),
            2
        );
    }

    #[test]
    fn retry_of_bluesky_waits_one_two_and_four_seconds_and_gives_up() {
        let policy = RetryPolicy::bluesky(&PollingSettings::default());
        let errors = [
            SourceError::Network(String::new()),
            SourceError::Server(String::new()),
            SourceError::InvalidResponse(String::new()),
            SourceError::Server(String::new()),
        ];
        let waits = waits_after(policy, errors);
        assert_eq!(waits, [Some(1_000), Some(2_000), Some(4_000), None]);
    }

    #[test]
    fn retry_of_bluesky_follows_its_settings() {
        let mut settings = PollingSettings { max_retries: 0, ..PollingSettings::default() };
        let server = || SourceError::Server(String::new());
        assert_eq!(waits_after(RetryPolicy::bluesky(&settings), [server()]), [None]);
        settings = PollingSettings { max_retries: 2, retry_backoff_ms: 50, ..settings };
        let waits = waits_after(RetryPolicy::bluesky(&settings), [server(), server(), server()]);
        assert_eq!(waits, [Some(50), Some(100), None]);
    }

    #[test]
    fn retry_of_bluesky_repeats_no_answer_about_an_account() {
        let policy = RetryPolicy::bluesky(&PollingSettings::default());
        let expired = SourceError::SessionExpired(String::new());
        assert_eq!(waits_after(policy, [expired]), [None], "the session is refreshed first");
        let cursor = SourceError::InvalidCursor(String::new());
        assert_eq!(waits_after(policy, [cursor]), [None]);
    }

    #[test]
    fn retry_never_gives_up_for_a_rate_limit() {
        let limit = silent_limit();
        let mut state = RetryState::default();
        for _ in 0..1_000 {
            let limited = SourceError::RateLimited(limit.clone());
            assert_eq!(
                state.next_delay(
                    &limited,
                    RetryPolicy::GITHUB,
                    RequestOptions::PAGE,
                    &mut 1,
                    Jitter(0.5)
                ),
                Some(0)
            );
        }
    }

    #[test]
    fn retry_waits_for_a_rate_limit_even_with_an_exhausted_repository_budget() {
        let signal = YieldSignal::default();
        let budget = RepositoryRetryBudget::default();
        let options = RequestOptions::PAGE.for_repository(&budget, &signal);
        RetryState::default().add_active_ms(10 * 60_000, options);
        let limited = SourceError::RateLimited(silent_limit());
        assert_eq!(
            RetryState::default().next_delay(
                &limited,
                RetryPolicy::GITHUB,
                options,
                &mut 1,
                Jitter(0.5)
            ),
            Some(0)
        );
    }

    #[test]
    fn retry_gives_up_a_repository_after_three_minutes_without_a_response_not_for_being_large() {
        let signal = YieldSignal::default();
        let budget = RepositoryRetryBudget::default();
        let options = RequestOptions::PAGE.for_repository(&budget, &signal);
        for _ in 0..1_000 {
            RetryState::default().add_active_ms(10_000, options);
            options.reset_budget();
        }
        let server = SourceError::Server(String::new());
        assert_eq!(count_tries(&server, options, &mut 1), 6, "one lane: 5 + 10 + 20 + 40 + 80 s");
        assert_eq!(count_tries(&server, options, &mut 1), 1, "and its other lanes at once");
    }

    /// Returns the waits after these failures of one request.
    fn waits_after<const N: usize>(
        policy: RetryPolicy,
        errors: [SourceError; N],
    ) -> [Option<i64>; N] {
        let mut state = RetryState::default();
        errors.map(|error| {
            state.next_delay(&error, policy, RequestOptions::PAGE, &mut 100, Jitter(0.5))
        })
    }

    /// Returns a limit that does not name its end.
    fn silent_limit() -> RateLimit {
        RateLimit { kind: RateLimitKind::Primary, wait: LimitWait::Unspecified, date: None }
    }

    /// Counts the attempts at a request that always fails with the same error.
    fn count_tries(error: &SourceError, options: RequestOptions<'_>, size: &mut u32) -> u32 {
        let mut state = RetryState::default();
        let policy = options.limit_policy(RetryPolicy::GITHUB);
        let retries = (1..)
            .take_while(|_| state.next_delay(error, policy, options, size, Jitter(0.0)).is_some());
        u32::try_from(retries.count()).unwrap() + 1
    }
}
