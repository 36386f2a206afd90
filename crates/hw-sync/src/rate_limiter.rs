//! Limits the rate of requests: one permit for each request, and pauses that all processes of a principal obey.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hw_rules::backoff::Jitter;
use hw_rules::pace::{self, RequestPace};
use hw_rules::source_time::SourceInstant;
use hw_sources::error::{LimitWait, MAX_WAIT_MS, RateLimit, RateLimitKind, SourceError};
use hw_sources::github::limits::RateLimitSample;
use hw_sources::limiter_state::{
    AdmissionDecision, ApiKind, ConnectionAdvice, LimiterState, RequestOutcome,
};
use hw_store::{PauseRow, Store, reserve_name};
use tokio::sync::Notify;

use crate::SyncError;
use crate::clock::Clock;
use crate::crash_points::{self, CrashPoints};
use crate::progress::{ProgressEvent, ProgressSink};
use crate::request_ids::{RequestIdAllocator, RequestIdGrant};

/// Reason of a pause after which requests stay slow for a while.
const SECONDARY_LIMIT_REASON: &str = "secondary limit; afterwards one request every 5 to 10 s \
                                      until eight in a row succeed";
/// Reason of a pause until the hourly limit resets.
const PRIMARY_LIMIT_REASON: &str = "the hourly budget is used up";

/// The longest wait that a source may request, plus the longest that our own backoff may add.
const LONGEST_PAUSE_MS: i64 = MAX_WAIT_MS + 45 * 60_000;

pub(crate) struct RateLimiter {
    store: Store,
    config: LimiterConfig,
    /// Host and user whose limits apply, never a token.
    principal: Mutex<String>,
    state: Mutex<LimiterState>,
    permit_released: Notify,
    request_ids: Mutex<RequestIdAllocator>,
    rng: Mutex<fastrand::Rng>,
    /// End of the latest pause that this run has reported.
    reported_until_ms: AtomicI64,
    reviewed_reserve: Mutex<Option<ReviewedReserve>>,
}

/// The last pause for the reserve that was checked against the source's own figures.
#[derive(Debug, Clone, Copy)]
struct ReviewedReserve {
    until_ms: i64,
    is_lifted: bool,
}

impl ReviewedReserve {
    fn has_lifted(self, pause: &PauseRow) -> bool {
        self.is_lifted && pause.is_reserve() && pause.until_ms <= self.until_ms
    }
}

/// Dependencies and settings of a rate limiter.
pub(crate) struct LimiterConfig {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) crash_points: CrashPoints,
    pub(crate) progress: ProgressSink,
    pub(crate) pace: RequestPace,
    /// Share of the hourly rate limit to leave for the user's other tools.
    pub(crate) reserve_percent: i64,
    /// Seed of the random numbers for jitter.
    pub(crate) seed: u64,
}

/// Permission to send one request: released with the request's outcome, or as failed when it is dropped.
pub(crate) struct RequestPermit<'a> {
    limiter: &'a RateLimiter,
    pub(crate) request_id: i64,
    started_ms: i64,
    is_open: bool,
}

impl RateLimiter {
    pub(crate) fn new(store: Store, principal: &str, config: LimiterConfig) -> Self {
        Self {
            store,
            principal: Mutex::new(principal.to_owned()),
            state: Mutex::default(),
            permit_released: Notify::new(),
            request_ids: Mutex::default(),
            rng: Mutex::new(fastrand::Rng::with_seed(config.seed)),
            reported_until_ms: AtomicI64::new(i64::MIN),
            reviewed_reserve: Mutex::default(),
            config,
        }
    }

    fn now_ms(&self) -> i64 {
        self.config.clock.now_ms()
    }

    pub(crate) fn principal(&self) -> String {
        lock_unpoisoned(&self.principal).clone()
    }

    /// Sets the principal whose rate limits apply from now on.
    pub(crate) fn set_principal(&self, principal: String) {
        *lock_unpoisoned(&self.principal) = principal;
    }

    pub(crate) fn jitter(&self) -> Jitter {
        Jitter(lock_unpoisoned(&self.rng).f64())
    }

    /// Records how much of the hourly limit is used, and pauses until it resets once only the reserve is left.
    pub(crate) fn observe_usage(
        &self,
        api: ApiKind,
        sample: &RateLimitSample,
        date: SourceInstant,
    ) -> Result<(), SyncError> {
        lock_unpoisoned(&self.state).record_usage(api, sample.to_usage());
        let resets_in_ms = sample.resets_at.0.saturating_sub(date.0);
        let RateLimitSample { used, limit, remaining, .. } = *sample;
        if api == ApiKind::Graphql {
            self.config.progress.emit(|| ProgressEvent::BudgetReported {
                used,
                limit,
                resets_in_ms,
            });
        }
        if resets_in_ms <= 0
            || !pace::is_reserve_reached(remaining, limit, self.config.reserve_percent)
        {
            return Ok(());
        }
        let until_ms = LimitWait::Reset(resets_in_ms).resume_at_ms(self.now_ms(), 1, self.jitter());
        let reason = match self.config.reserve_percent {
            0 => PRIMARY_LIMIT_REASON.to_owned(),
            percent => {
                format!("{percent} % kept in reserve for other tools (`--reserve 0` uses it)")
            }
        };
        let written = self.store_pause(&reserve_name(&self.principal()), until_ms, &reason);
        lock_unpoisoned(&self.state).pause_until(until_ms);
        written
    }

    /// Takes a request id, then waits for a permit.
    ///
    /// The id comes first: it may have to wait for the database, and nothing may come between the last check of the
    /// pauses and the request.
    pub(crate) async fn acquire_permit(
        &self,
        api: ApiKind,
    ) -> Result<RequestPermit<'_>, SyncError> {
        let request_id = self.next_request_id(api).await?;
        loop {
            let released = self.permit_released.notified();
            if let Some(pause) = self.current_pause()? {
                self.report_pause(&pause);
                lock_unpoisoned(&self.state).pause_until(pause.until_ms);
            }
            match self.try_admit(api) {
                AdmissionDecision::Admitted => break,
                AdmissionDecision::WaitUntil(until) => self.config.clock.sleep_until(until).await,
                AdmissionDecision::Full => released.await,
            }
        }
        let permit =
            RequestPermit { limiter: self, request_id, started_ms: self.now_ms(), is_open: true };
        self.config.crash_points.pass_point(crash_points::BEFORE_SENDING)?;
        Ok(permit)
    }

    /// Returns the next request id; waits while all processes together have used up the current minute.
    async fn next_request_id(&self, api: ApiKind) -> Result<i64, SyncError> {
        loop {
            let grant = lock_unpoisoned(&self.request_ids).next_id(
                &self.store,
                &self.principal(),
                api.points_per_minute(),
                self.now_ms(),
            )?;
            match grant {
                RequestIdGrant::Granted(request_id) => return Ok(request_id),
                RequestIdGrant::NotBefore(until_ms) => {
                    self.config.clock.sleep_until(until_ms).await;
                }
            }
        }
    }

    fn try_admit(&self, api: ApiKind) -> AdmissionDecision {
        let jitter = self.jitter();
        let mut state = lock_unpoisoned(&self.state);
        let usage = state.api_usage(api);
        let recovering = state.is_recovering();
        let pace_ms =
            pace::request_delay_ms(self.config.pace, usage.used, usage.limit, recovering, jitter);
        state.admit_request(api, 1, pace_ms, self.now_ms())
    }

    /// Returns the end of the pause that holds for all processes of this principal.
    ///
    /// A pause far beyond any limit is ignored: a process with a wrong clock wrote it.
    pub(crate) fn paused_until(&self) -> Result<Option<i64>, SyncError> {
        Ok(self.current_pause()?.map(|pause| pause.until_ms))
    }

    /// Returns the longest pause that applies to this run; it may be over.
    fn current_pause(&self) -> Result<Option<PauseRow>, SyncError> {
        let latest_ms = self.now_ms() + LONGEST_PAUSE_MS;
        let pauses = self.store.principal_pauses(&self.principal(), latest_ms)?;
        let reviewed = *lock_unpoisoned(&self.reviewed_reserve);
        Ok(pauses
            .into_iter()
            .find(|pause| !reviewed.is_some_and(|reviewed| reviewed.has_lifted(pause))))
    }

    /// Returns the end of a pause that only the reserve caused, once for each: another setting, or a budget that is
    /// full again, may have made it pointless.
    pub(crate) fn reserve_to_review(&self) -> Result<Option<i64>, SyncError> {
        let (now_ms, latest_ms) = (self.now_ms(), self.now_ms() + LONGEST_PAUSE_MS);
        let mut pauses = self.store.principal_pauses(&self.principal(), latest_ms)?;
        pauses.retain(|pause| pause.until_ms > now_ms);
        let Some(longest) = pauses.first().map(|pause| pause.until_ms) else { return Ok(None) };
        if !pauses.iter().all(PauseRow::is_reserve) {
            return Ok(None);
        }
        let mut reviewed = lock_unpoisoned(&self.reviewed_reserve);
        if reviewed.is_some_and(|reviewed| longest <= reviewed.until_ms)
            || lock_unpoisoned(&self.state)
                .paused_until_ms()
                .is_some_and(|until_ms| longest <= until_ms)
        {
            return Ok(None);
        }
        *reviewed = Some(ReviewedReserve { until_ms: longest, is_lifted: false });
        Ok(Some(longest))
    }

    /// Ignores pauses for the reserve that end no later than this, and deletes them so that no other command reports
    /// them.
    pub(crate) fn lift_reserve(&self, until_ms: i64) -> Result<(), SyncError> {
        *lock_unpoisoned(&self.reviewed_reserve) =
            Some(ReviewedReserve { until_ms, is_lifted: true });
        // the user may not be known yet, so the pauses of all users of the host are lifted
        for pause in self.store.principal_pauses(&self.principal(), until_ms)? {
            if pause.is_reserve() {
                self.store.lift_pause(&pause.principal, until_ms)?;
            }
        }
        Ok(())
    }

    /// Returns true if only the reserve is left of a budget.
    pub(crate) fn is_within_reserve(&self, used: i64, limit: i64) -> bool {
        pace::is_reserve_reached(limit.saturating_sub(used), limit, self.config.reserve_percent)
    }

    /// Reports a pause that another run wrote, once: nothing else happens until it is over.
    fn report_pause(&self, pause: &PauseRow) {
        let PauseRow { until_ms, reason, .. } = pause;
        let reported = self.reported_until_ms.fetch_max(*until_ms, Ordering::Relaxed);
        if *until_ms > self.now_ms() && *until_ms > reported {
            self.config.progress.emit(|| ProgressEvent::RequestsPaused {
                reason: reason.clone(),
                until_ms: *until_ms,
            });
        }
    }

    /// Returns the end of the pause that a rate limit requires.
    fn limit_pause_end(&self, limit: &RateLimit, started_ms: i64, now_ms: i64) -> i64 {
        let in_a_row = {
            let state = lock_unpoisoned(&self.state);
            state.limits_in_a_row() + u32::from(!state.is_known_limit(started_ms))
        };
        limit.wait.resume_at_ms(now_ms, in_a_row, self.jitter())
    }

    /// Stores a pause. The caller updates its own state only afterwards, so that no process starts a request after it.
    fn store_pause(&self, principal: &str, until_ms: i64, reason: &str) -> Result<(), SyncError> {
        tracing::warn!(
            reason,
            wait_s = (until_ms - self.now_ms()) / 1_000,
            "rate limited; pausing"
        );
        self.reported_until_ms.fetch_max(until_ms, Ordering::Relaxed);
        self.config
            .progress
            .emit(|| ProgressEvent::RequestsPaused { reason: reason.to_owned(), until_ms });
        let latest_ms = self.now_ms() + LONGEST_PAUSE_MS;
        self.store.pause_principal(principal, until_ms, latest_ms, reason)?;
        self.config.crash_points.pass_point(crash_points::PAUSE_WRITTEN)
    }
}

impl RequestPermit<'_> {
    /// Releases the permit with the request's outcome, and returns whether to open new connections.
    ///
    /// If the store fails to write a pause, this process still obeys it.
    pub(crate) fn settle(
        mut self,
        error: Option<&SourceError>,
    ) -> Result<ConnectionAdvice, SyncError> {
        let now_ms = self.limiter.now_ms();
        let mut written = Ok(());
        let outcome = match error {
            None => RequestOutcome::Clean,
            Some(SourceError::RateLimited(limit)) => {
                let (limiter, started_ms) = (self.limiter, self.started_ms);
                let until_ms = limiter.limit_pause_end(limit, started_ms, now_ms);
                let reason = match limit.kind {
                    RateLimitKind::Primary => PRIMARY_LIMIT_REASON,
                    RateLimitKind::Secondary => SECONDARY_LIMIT_REASON,
                };
                written = limiter.store_pause(&limiter.principal(), until_ms, reason);
                RequestOutcome::RateLimited { until_ms, kind: limit.kind, started_ms }
            }
            Some(
                SourceError::Network(_) | SourceError::Unreachable(_) | SourceError::TlsFailed(_),
            ) => RequestOutcome::NoResponse,
            Some(
                SourceError::TooExpensive(_)
                | SourceError::Server(_)
                | SourceError::InvalidResponse(_)
                | SourceError::TokenRejected(_)
                | SourceError::Forbidden(_)
                | SourceError::Hidden(_)
                | SourceError::InvalidCursor(_)
                | SourceError::InvalidRequest(_),
            ) => RequestOutcome::Failed,
        };
        let advice = self.release_permit(outcome, now_ms);
        written.map(|()| advice)
    }

    fn release_permit(&mut self, outcome: RequestOutcome, now_ms: i64) -> ConnectionAdvice {
        self.is_open = false;
        let advice = lock_unpoisoned(&self.limiter.state).record_outcome(outcome, now_ms);
        self.limiter.permit_released.notify_waiters();
        advice
    }
}

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.release_permit(RequestOutcome::Failed, self.limiter.now_ms());
        }
    }
}

/// Locks a mutex even if another task panicked while it held the lock: the values behind our locks are always
/// complete.
pub(crate) fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
