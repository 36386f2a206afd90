//! Decides whether a request may start: limits the requests in flight and per minute, and enforces pauses.
//!
//! A state machine without a clock: callers pass in the time and get an admission or the time to wait for. There is
//! one per principal and process; processes share pauses and request ids through the store.

use std::collections::BTreeMap;

use hw_rules::pace;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};
use hw_rules::source_time::SourceInstant;

use crate::error::RateLimitKind;
use crate::minute_points::MinutePoints;
use crate::pause_table::PauseTable;

const INITIAL_CONCURRENCY: u32 = 8;
const MAX_CONCURRENCY: u32 = 50;
/// Clean responses in a row after which one more request may be in flight.
const CLEAN_RESPONSES_TO_GROW: u32 = 8;
const MINUTE_MS: i64 = 60_000;
/// Time without any response after which the state learned from the source is discarded.
const FORGET_AFTER_MS: i64 = 5 * MINUTE_MS;
/// Network failures in a row after which the connections are replaced.
const RESET_CONNECTIONS_AFTER: u32 = 3;
/// The most by which responses disagree about the end of one window.
const RESET_JITTER_MS: u64 = 2_000;
/// The longest delay between two requests.
const LONGEST_DELAY_MS: i64 = 10_000;

/// The decision on a request that is ready to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdmissionDecision {
    Admitted,
    /// Not before this time: a limit of the source, the pace, or the points of the minute.
    WaitUntil(i64),
    /// Not before this time: only what its class has to leave is left of the budget.
    ReservedUntil(i64),
    /// The maximum is in flight; try again when a request has finished.
    Full,
    /// The requests of this API in flight may use up what its class may use; try again when one has finished.
    ReserveNear,
}

/// The result of a request, as far as it matters for the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestOutcome {
    Clean,
    /// A limit: nothing that it covers starts before this time.
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

impl RateLimitUsage {
    fn remaining(self) -> i64 {
        self.limit.saturating_sub(self.used)
    }
}

/// A request that is ready to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionRequest {
    pub api: ApiKind,
    pub class: RequestClass,
    pub points: i64,
    /// The next request of this API is admitted this much later at the earliest.
    pub delay_ms: i64,
    /// The share of the budget that its class does not touch; none for a request that is free if nothing changed.
    pub floor_percent: Option<i64>,
}

#[derive(Debug)]
pub struct LimiterState {
    concurrency: u32,
    /// This process's share of the requests that all workers of a principal may have in flight.
    max_concurrency: u32,
    in_flight: BTreeMap<ApiKind, u32>,
    clean_in_a_row: u32,
    limits_in_a_row: u32,
    failures_in_a_row: u32,
    pauses: PauseTable,
    /// The time of the last limit of each scope: requests started before it ran into the same one.
    limited_at_ms: BTreeMap<PauseScope, i64>,
    /// The pace: no request of this API starts before this.
    next_start_ms: BTreeMap<ApiKind, i64>,
    recovering: bool,
    /// The time since which requests get no response.
    silent_since_ms: Option<i64>,
    spent: MinutePoints,
    usage: BTreeMap<ApiKind, WindowUsage>,
}

/// The use of an API's budget in one of its hours.
#[derive(Debug, Clone, Copy)]
struct WindowUsage {
    usage: RateLimitUsage,
    resets_at: SourceInstant,
}

impl Default for LimiterState {
    fn default() -> Self {
        Self {
            concurrency: INITIAL_CONCURRENCY,
            max_concurrency: MAX_CONCURRENCY,
            in_flight: BTreeMap::new(),
            clean_in_a_row: 0,
            limits_in_a_row: 0,
            failures_in_a_row: 0,
            pauses: PauseTable::default(),
            limited_at_ms: BTreeMap::new(),
            next_start_ms: BTreeMap::new(),
            recovering: false,
            silent_since_ms: None,
            spent: MinutePoints::default(),
            usage: BTreeMap::new(),
        }
    }
}

impl LimiterState {
    /// Sets the number of workers that share the limits of a principal.
    pub fn set_worker_count(&mut self, workers: u32) {
        self.max_concurrency = (MAX_CONCURRENCY / workers.max(1)).max(1);
    }

    /// Decides whether a request may start.
    ///
    /// An admitted request counts as in flight until [`LimiterState::record_outcome`] or
    /// [`LimiterState::cancel_admission`] is called for it.
    pub fn admit_request(&mut self, request: AdmissionRequest, now_ms: i64) -> AdmissionDecision {
        let api = request.api;
        self.forget_if_stale(now_ms);
        self.forget_future(now_ms);
        if let Some(pause) = self.pauses.longest(request, now_ms) {
            return match pause.cause {
                PauseCause::SourceLimit => AdmissionDecision::WaitUntil(pause.until_ms),
                PauseCause::Reserve(_) => AdmissionDecision::ReservedUntil(pause.until_ms),
            };
        }
        if !self.has_room() {
            return AdmissionDecision::Full;
        }
        if request.floor_percent.is_some_and(|percent| self.is_floor_near(api, percent)) {
            return AdmissionDecision::ReserveNear;
        }
        if let Some(until_ms) = self.next_start(api).filter(|start_ms| now_ms < *start_ms) {
            return AdmissionDecision::WaitUntil(until_ms);
        }
        if let Some(until_ms) = self.spent.full_until(api, request.points, now_ms) {
            return AdmissionDecision::WaitUntil(until_ms);
        }
        *self.in_flight.entry(api).or_default() += 1;
        self.next_start_ms.insert(api, now_ms.saturating_add(request.delay_ms));
        self.spent.record(api, request.points, now_ms);
        AdmissionDecision::Admitted
    }

    /// Returns true if this request has to wait for a pause.
    pub fn is_paused(&self, request: AdmissionRequest, now_ms: i64) -> bool {
        self.pauses.longest(request, now_ms).is_some()
    }

    /// Returns true if fewer than the maximum are in flight.
    pub fn has_room(&self) -> bool {
        self.in_flight.values().sum::<u32>() < self.concurrency.min(self.max_concurrency)
    }

    /// Takes back the admission of a request that was not sent.
    pub fn cancel_admission(&mut self, api: ApiKind) {
        self.end_flight(api);
        self.next_start_ms.remove(&api);
        self.spent.take_back(api);
    }

    /// Returns true if the requests in flight may use up all but this share: their responses will show.
    pub fn is_floor_near(&self, api: ApiKind, floor_percent: i64) -> bool {
        let in_flight = self.in_flight.get(&api).copied().unwrap_or(0);
        let usage = self.api_usage(api);
        let remaining = usage.remaining().saturating_sub(i64::from(in_flight));
        in_flight > 0 && pace::is_floor_reached(remaining, usage.limit, floor_percent)
    }

    /// Returns the time before which the pace allows no request of this API.
    ///
    /// While it recovers from a secondary limit, which both APIs share, so is the pace.
    fn next_start(&self, api: ApiKind) -> Option<i64> {
        if self.recovering {
            self.next_start_ms.values().max().copied()
        } else {
            self.next_start_ms.get(&api).copied()
        }
    }

    /// Records that an admitted request finished, and adapts to its outcome.
    pub fn record_outcome(
        &mut self,
        api: ApiKind,
        outcome: RequestOutcome,
        now_ms: i64,
    ) -> ConnectionAdvice {
        self.end_flight(api);
        if outcome != RequestOutcome::NoResponse {
            self.silent_since_ms = None;
            self.failures_in_a_row = 0;
        }
        match outcome {
            RequestOutcome::Clean => self.record_clean(),
            RequestOutcome::RateLimited { until_ms, kind, started_ms } => {
                let scope = kind.pause_scope(api);
                self.pause_until(scope, PauseCause::SourceLimit, until_ms);
                if !self.is_known_limit(scope, started_ms) {
                    self.record_limit(scope, kind, now_ms);
                }
            }
            RequestOutcome::Failed => self.clean_in_a_row = 0,
            RequestOutcome::NoResponse => return self.record_no_response(now_ms),
        }
        ConnectionAdvice::Keep
    }

    fn end_flight(&mut self, api: ApiKind) {
        let in_flight = self.in_flight.entry(api).or_default();
        *in_flight = in_flight.saturating_sub(1);
    }

    /// Admits nothing of this scope before this time. A pause is never shortened.
    pub fn pause_until(&mut self, scope: PauseScope, cause: PauseCause, until_ms: i64) {
        self.pauses.pause_until(scope, cause, until_ms);
    }

    /// Obeys a pause that another process has stored. After a secondary limit, this process resumes as slowly as the one
    /// that met it.
    pub fn obey_stored_pause(&mut self, scope: PauseScope, cause: PauseCause, until_ms: i64) {
        self.pause_until(scope, cause, until_ms);
        if (scope, cause) == (PauseScope::Everything, PauseCause::SourceLimit) {
            self.clean_in_a_row = 0;
            self.recovering = true;
        }
    }

    /// Returns the end of a pause, which may be over.
    pub fn pause_end(&self, scope: PauseScope, cause: PauseCause) -> Option<i64> {
        self.pauses.end(scope, cause)
    }

    /// Ends the pauses for the reserve that stop requests of this class to this API.
    pub fn lift_reserve(&mut self, api: ApiKind, class: RequestClass) {
        self.pauses.lift_reserve(api, class);
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
        self.usage.get(&api).map(|known| known.usage).unwrap_or_default()
    }

    /// Records the usage that a response reports, for the window that ends at `resets_at`.
    ///
    /// Responses do not arrive in the order in which they were counted, so within a window the greatest use is right.
    pub fn record_usage(&mut self, api: ApiKind, usage: RateLimitUsage, resets_at: SourceInstant) {
        let known = self.usage.get(&api).filter(|known| {
            known.usage.limit == usage.limit
                && known.resets_at.0.abs_diff(resets_at.0) <= RESET_JITTER_MS
        });
        let used = known.map_or(usage.used, |known| usage.used.max(known.usage.used));
        let usage = RateLimitUsage { used, ..usage };
        self.usage.insert(api, WindowUsage { usage, resets_at });
    }

    fn record_clean(&mut self) {
        self.limits_in_a_row = 0;
        self.clean_in_a_row += 1;
        if self.clean_in_a_row >= CLEAN_RESPONSES_TO_GROW {
            self.clean_in_a_row = 0;
            self.recovering = false;
            self.concurrency = (self.concurrency + 1).min(self.max_concurrency);
        }
    }

    /// Returns true if a limit reported to a request that started then is the one already recorded: many requests can
    /// be in flight when a limit begins.
    pub fn is_known_limit(&self, scope: PauseScope, started_ms: i64) -> bool {
        self.limited_at_ms.get(&scope).is_some_and(|limited_at_ms| started_ms <= *limited_at_ms)
    }

    fn record_limit(&mut self, scope: PauseScope, kind: RateLimitKind, now_ms: i64) {
        self.limited_at_ms.insert(scope, now_ms);
        self.clean_in_a_row = 0;
        self.limits_in_a_row += 1;
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

    /// Forgets what the clock, which was set back, has not reached: otherwise it would hold until then.
    fn forget_future(&mut self, now_ms: i64) {
        self.spent.forget_future(now_ms);
        self.next_start_ms.retain(|_, start_ms| *start_ms <= now_ms + LONGEST_DELAY_MS);
        self.pauses.forget_future(now_ms);
        self.limited_at_ms.retain(|_, limited_at_ms| *limited_at_ms <= now_ms);
        self.silent_since_ms = self.silent_since_ms.map(|since_ms| since_ms.min(now_ms));
    }
}

#[cfg(test)]
#[path = "limiter_state_tests.rs"]
mod tests;
