//! Decides how often and how long a request is retried.

use std::sync::atomic::{AtomicI64, Ordering};

use hw_rules::backoff::{self, Jitter};
use hw_rules::page_size;
use hw_rules::rate_limit::RequestClass;
use hw_sources::error::{RetryDecision, SourceError};

/// Ranks a request among others that wait, and limits its attempts and its active time. Waits for rate limits do not
/// count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RetryPolicy<'a> {
    pub(crate) class: RequestClass,
    pub(crate) max_tries: u32,
    pub(crate) max_active_ms: i64,
    /// Budget that the requests of one repository share.
    pub(crate) repository_budget: Option<&'a RepositoryRetryBudget>,
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

impl RetryPolicy<'_> {
    /// For a page of a listing.
    pub(crate) const PAGE: Self = Self {
        class: RequestClass::Mirror,
        max_tries: backoff::MAX_SERVER_ATTEMPTS,
        max_active_ms: 5 * 60_000,
        repository_budget: None,
    };
    /// For a host that was never reached in this run. A wrong address or certificate stays wrong; two more tries over
    /// three seconds are for a network that is just coming up.
    pub(crate) const FIRST_CONTACT: Self =
        Self { max_tries: 3, max_active_ms: 8_000, ..Self::PAGE };
    /// For a page of a sweep.
    pub(crate) const SWEEP: Self = Self { class: RequestClass::Sweeps, ..Self::PAGE };
    /// For one row among others: the lane does not wait for it.
    pub(crate) const ROW: Self = Self { max_tries: 2, max_active_ms: 30_000, ..Self::PAGE };

    /// Returns the same policy for requests that share a repository's budget.
    pub(crate) fn with_budget(self, budget: &RepositoryRetryBudget) -> RetryPolicy<'_> {
        let Self { class, max_tries, max_active_ms, .. } = self;
        RetryPolicy { class, max_tries, max_active_ms, repository_budget: Some(budget) }
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
    pub(crate) fn add_active_ms(&mut self, ms: i64, policy: RetryPolicy<'_>) {
        self.active_ms += ms;
        policy.repository_budget.inspect(|budget| budget.spend_ms(ms));
    }

    /// Returns the wait before the next attempt; none gives up. Shrinks `size` when fewer rows may help.
    pub(crate) fn next_delay(
        &mut self,
        error: &SourceError,
        policy: RetryPolicy<'_>,
        size: &mut u32,
        jitter: Jitter,
    ) -> Option<i64> {
        let wait = match error.retry_decision() {
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
        self.add_active_ms(wait, policy);
        let is_over = self.server_errors + self.network_errors >= policy.max_tries
            || self.active_ms > policy.max_active_ms
            || policy.repository_budget.is_some_and(RepositoryRetryBudget::is_exhausted);
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
        let tries =
            count_tries(&SourceError::TooExpensive(String::new()), RetryPolicy::PAGE, &mut size);
        assert_eq!((tries, size), (10, 1));
    }

    #[test]
    fn retry_gives_up_a_failing_server_after_five_minutes() {
        let tries = count_tries(&SourceError::Server(String::new()), RetryPolicy::PAGE, &mut 1);
        assert_eq!(tries, 6, "5 + 10 + 20 + 40 + 80 s, and 160 more would be too long");
    }

    #[test]
    fn retry_repeats_a_refused_request_once_after_five_seconds() {
        let (forbidden, mut state) = (SourceError::Forbidden(String::new()), RetryState::default());
        let waits: Vec<_> = (0..2)
            .map(|_| state.next_delay(&forbidden, RetryPolicy::PAGE, &mut 100, Jitter(0.0)))
            .collect();
        assert_eq!(waits, [Some(5_000), None]);
    }

    #[test]
    fn retry_gives_up_an_unreachable_host_after_three_seconds() {
        let (error, mut state) = (SourceError::Unreachable(String::new()), RetryState::default());
        let waits: Vec<_> = (0..3)
            .map(|_| state.next_delay(&error, RetryPolicy::FIRST_CONTACT, &mut 100, Jitter(1.0)))
            .collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), None]);
    }

    #[test]
    fn retry_requests_a_single_row_twice() {
        assert_eq!(count_tries(&SourceError::Network(String::new()), RetryPolicy::ROW, &mut 1), 2);
    }

    #[test]
    fn retry_never_gives_up_for_a_rate_limit() {
        let limit = RateLimit { kind: RateLimitKind::Primary, wait: LimitWait::Unspecified };
        let mut state = RetryState::default();
        for _ in 0..1_000 {
            let limited = SourceError::RateLimited(limit.clone());
            assert_eq!(state.next_delay(&limited, RetryPolicy::PAGE, &mut 1, Jitter(0.5)), Some(0));
        }
    }

    #[test]
    fn retry_waits_for_a_rate_limit_even_with_an_exhausted_repository_budget() {
        let budget = RepositoryRetryBudget::default();
        let policy = RetryPolicy::PAGE.with_budget(&budget);
        RetryState::default().add_active_ms(10 * 60_000, policy);
        let limited = SourceError::RateLimited(RateLimit {
            kind: RateLimitKind::Primary,
            wait: LimitWait::Unspecified,
        });
        assert_eq!(
            RetryState::default().next_delay(&limited, policy, &mut 1, Jitter(0.5)),
            Some(0)
        );
    }

    #[test]
    fn retry_gives_up_a_repository_after_three_minutes_without_a_response_not_for_being_large() {
        let budget = RepositoryRetryBudget::default();
        let policy = RetryPolicy::PAGE.with_budget(&budget);
        for _ in 0..1_000 {
            RetryState::default().add_active_ms(10_000, policy);
            policy.reset_budget();
        }
        let server = SourceError::Server(String::new());
        assert_eq!(count_tries(&server, policy, &mut 1), 6, "one lane: 5 + 10 + 20 + 40 + 80 s");
        assert_eq!(count_tries(&server, policy, &mut 1), 1, "and its other lanes at once");
    }

    /// Counts the attempts at a request that always fails with the same error.
    fn count_tries(error: &SourceError, policy: RetryPolicy<'_>, size: &mut u32) -> u32 {
        let mut state = RetryState::default();
        let retries =
            (1..).take_while(|_| state.next_delay(error, policy, size, Jitter(0.0)).is_some());
        u32::try_from(retries.count()).unwrap() + 1
    }
}
