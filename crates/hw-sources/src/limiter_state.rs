//! Decides whether a request may start: limits the requests in flight and per minute, and enforces pauses.
//!
//! A state machine without a clock: callers pass in the time and get an admission or the time to wait for. There is
//! one per principal and process; processes share pauses and request ids through the store.

use std::collections::{BTreeMap, VecDeque};

use crate::error::RateLimitKind;

const INITIAL_CONCURRENCY: u32 = 8;
const MAX_CONCURRENCY: u32 = 50;
/// Clean responses in a row after which one more request may be in flight.
const CLEAN_RESPONSES_TO_GROW: u32 = 8;
const MINUTE_MS: i64 = 60_000;
/// Time without any response after which the state learned from the source is discarded.
const FORGET_AFTER_MS: i64 = 5 * MINUTE_MS;
/// Network failures in a row after which the connections are replaced.
const RESET_CONNECTIONS_AFTER: u32 = 3;

/// One of GitHub's two APIs; each has a budget of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApiKind {
    Rest,
    Graphql,
}

impl ApiKind {
    /// Returns the points that may be spent in a minute before the source treats it as abuse.
    pub fn points_per_minute(self) -> i64 {
        match self {
            Self::Rest => 900,
            Self::Graphql => 2_000,
        }
    }
}

/// The decision on a request that is ready to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdmissionDecision {
    Admitted,
    /// Not before this time.
    WaitUntil(i64),
    /// The maximum is in flight; try again when a request has finished.
    Full,
}

/// The result of a request, as far as it matters for the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    Clean,
    /// A limit: nothing starts before this time.
    RateLimited {
        until_ms: i64,
        kind: RateLimitKind,
        /// The time at which the request started.
        started_ms: i64,
    },
    /// A response, but not a clean one.
    Failed,
    NoResponse,
}

/// The caller's next step with its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionAdvice {
    Keep,
    /// Replace the connections with new ones.
    Reset,
}

/// The use of the hour's budget as last reported by the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimitUsage {
    pub used: i64,
    pub limit: i64,
}

#[derive(Debug)]
pub struct LimiterState {
    concurrency: u32,
    in_flight: u32,
    clean_in_a_row: u32,
    limits_in_a_row: u32,
    failures_in_a_row: u32,
    paused_until_ms: i64,
    /// The time of the last limit: requests started before it ran into the same one.
    limited_at_ms: i64,
    /// The pace: nothing starts before this.
    next_start_ms: i64,
    recovering: bool,
    /// The time since which requests get no response.
    silent_since_ms: Option<i64>,
    spent: VecDeque<SpentPoints>,
    usage: BTreeMap<ApiKind, RateLimitUsage>,
}

/// Points spent on one request of the last minute.
#[derive(Debug, Clone, Copy)]
struct SpentPoints {
    at_ms: i64,
    api: ApiKind,
    points: i64,
}

impl Default for LimiterState {
    fn default() -> Self {
        Self {
            concurrency: INITIAL_CONCURRENCY,
            in_flight: 0,
            clean_in_a_row: 0,
            limits_in_a_row: 0,
            failures_in_a_row: 0,
            paused_until_ms: i64::MIN,
            limited_at_ms: i64::MIN,
            next_start_ms: i64::MIN,
            recovering: false,
            silent_since_ms: None,
            spent: VecDeque::new(),
            usage: BTreeMap::new(),
        }
    }
}

impl LimiterState {
    /// Decides whether a request may start.
    ///
    /// An admitted request counts as in flight until [`LimiterState::record_outcome`] is called for it; the next one
    /// is admitted `pace_ms` later at the earliest.
    pub fn admit_request(
        &mut self,
        api: ApiKind,
        points: i64,
        pace_ms: i64,
        now_ms: i64,
    ) -> AdmissionDecision {
        self.forget_if_stale(now_ms);
        if now_ms < self.paused_until_ms {
            return AdmissionDecision::WaitUntil(self.paused_until_ms);
        }
        if self.in_flight >= self.concurrency {
            return AdmissionDecision::Full;
        }
        if now_ms < self.next_start_ms {
            return AdmissionDecision::WaitUntil(self.next_start_ms);
        }
        if let Some(until) = self.minute_full_until(api, points, now_ms) {
            return AdmissionDecision::WaitUntil(until);
        }
        self.in_flight += 1;
        self.next_start_ms = now_ms.saturating_add(pace_ms);
        self.spent.push_back(SpentPoints { at_ms: now_ms, api, points });
        AdmissionDecision::Admitted
    }

    /// Records that an admitted request finished, and adapts to its outcome.
    pub fn record_outcome(&mut self, outcome: RequestOutcome, now_ms: i64) -> ConnectionAdvice {
        self.in_flight = self.in_flight.saturating_sub(1);
        if outcome != RequestOutcome::NoResponse {
            self.silent_since_ms = None;
            self.failures_in_a_row = 0;
        }
        match outcome {
            RequestOutcome::Clean => self.record_clean(),
            RequestOutcome::RateLimited { until_ms, started_ms, .. }
                if self.is_known_limit(started_ms) =>
            {
                self.pause_until(until_ms);
            }
            RequestOutcome::RateLimited { until_ms, kind, .. } => {
                self.record_limit(until_ms, kind, now_ms);
            }
            RequestOutcome::Failed => self.clean_in_a_row = 0,
            RequestOutcome::NoResponse => return self.record_no_response(now_ms),
        }
        ConnectionAdvice::Keep
    }

    /// Admits nothing before this time. A pause is never shortened.
    pub fn pause_until(&mut self, until_ms: i64) {
        self.paused_until_ms = self.paused_until_ms.max(until_ms);
    }

    pub fn paused_until_ms(&self) -> Option<i64> {
        (self.paused_until_ms != i64::MIN).then_some(self.paused_until_ms)
    }

    /// Returns the number of limits in a row, including one that was just recorded.
    pub fn limits_in_a_row(&self) -> u32 {
        self.limits_in_a_row
    }

    /// Returns true from a secondary limit until enough clean responses followed.
    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Returns the usage of one API; each has an hourly window of its own.
    pub fn api_usage(&self, api: ApiKind) -> RateLimitUsage {
        self.usage.get(&api).copied().unwrap_or_default()
    }

    pub fn record_usage(&mut self, api: ApiKind, usage: RateLimitUsage) {
        self.usage.insert(api, usage);
    }

    fn record_clean(&mut self) {
        self.limits_in_a_row = 0;
        self.clean_in_a_row += 1;
        if self.clean_in_a_row >= CLEAN_RESPONSES_TO_GROW {
            self.clean_in_a_row = 0;
            self.recovering = false;
            self.concurrency = (self.concurrency + 1).min(MAX_CONCURRENCY);
        }
    }

    /// Returns true if a limit reported to a request that started then is the one already recorded: many requests can
    /// be in flight when a limit begins.
    pub fn is_known_limit(&self, started_ms: i64) -> bool {
        started_ms <= self.limited_at_ms
    }

    fn record_limit(&mut self, until_ms: i64, kind: RateLimitKind, now_ms: i64) {
        self.limited_at_ms = now_ms;
        self.clean_in_a_row = 0;
        self.limits_in_a_row += 1;
        self.pause_until(until_ms);
        if kind == RateLimitKind::Secondary {
            self.recovering = true;
            self.concurrency = (self.concurrency / 2).max(1);
        }
    }

    fn record_no_response(&mut self, now_ms: i64) -> ConnectionAdvice {
        self.silent_since_ms.get_or_insert(now_ms);
        self.clean_in_a_row = 0;
        self.failures_in_a_row += 1;
        if self.failures_in_a_row.is_multiple_of(RESET_CONNECTIONS_AFTER) {
            ConnectionAdvice::Reset
        } else {
            ConnectionAdvice::Keep
        }
    }

    fn forget_if_stale(&mut self, now_ms: i64) {
        let silent = self.silent_since_ms.is_some_and(|since| since + FORGET_AFTER_MS < now_ms);
        if silent {
            tracing::info!("no response for five minutes: discarding the known limits");
            self.silent_since_ms = Some(now_ms);
            self.usage.clear();
            self.limits_in_a_row = 0;
            self.recovering = false;
        }
    }

    /// Returns the time at which the minute's budget allows these points, or `None` if it allows them now.
    fn minute_full_until(&mut self, api: ApiKind, points: i64, now_ms: i64) -> Option<i64> {
        while self.spent.front().is_some_and(|spent| spent.at_ms + MINUTE_MS <= now_ms) {
            self.spent.pop_front();
        }
        let mut spent_on_api = self.spent.iter().filter(|spent| spent.api == api).peekable();
        let oldest = spent_on_api.peek().map(|spent| spent.at_ms);
        let total: i64 = spent_on_api.map(|spent| spent.points).sum();
        if total + points <= api.points_per_minute() {
            return None;
        }
        oldest.map(|at_ms| at_ms + MINUTE_MS)
    }
}

#[cfg(test)]
#[path = "limiter_state_tests.rs"]
mod tests;
