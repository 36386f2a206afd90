//! Limits the rate of requests: one permit for each request, and pauses that all processes of a principal obey.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hw_rules::backoff::Jitter;
use hw_rules::pace::{self, RequestPace};
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};
use hw_rules::source_time::SourceInstant;
use hw_sources::error::{LimitWait, RateLimit, RateLimitKind, SourceError};
use hw_sources::limiter_state::{
    AdmissionDecision, AdmissionRequest, ConnectionAdvice, LONGEST_PAUSE_MS, LimiterState,
    RequestOutcome,
};
use hw_sources::response_meta::RateLimitSample;
use hw_store::{NewPause, PauseRow, StoreWriter};

use crate::SyncError;
use crate::clock::Clock;
use crate::crash_points::{self, CrashPoints};
use crate::permit_queue::PermitQueue;
use crate::progress::{ProgressEvent, ProgressSink};
use crate::request_ids::{IdReservation, RequestIdPool};
use crate::work_threads::WorkThreads;

/// Reason of a pause after which requests stay slow: one every 5 to 10 s, until eight in a row succeed.
const SECONDARY_LIMIT_REASON: &str = "secondary limit";

pub(crate) struct RateLimiter {
    store: StoreWriter,
    config: LimiterConfig,
    /// Host and user whose limits apply, never a token.
    principal: Mutex<Principal>,
    state: Mutex<LimiterState>,
    queue: PermitQueue,
    request_ids: Mutex<RequestIdPool>,
    rng: Mutex<fastrand::Rng>,
    /// End of the latest pause that this run has reported.
    reported_until_ms: AtomicI64,
    reviewed_reserves: Mutex<BTreeMap<ApiKind, ReviewedReserve>>,
}

/// The last pause for an API's reserve that was checked against the source's own figures.
#[derive(Debug, Clone, Copy)]
struct ReviewedReserve {
    until_ms: i64,
    is_lifted: bool,
}

impl ReviewedReserve {
    fn has_lifted(self, pause: &PauseRow) -> bool {
        self.is_lifted && pause.cause == PauseCause::Reserve && pause.until_ms <= self.until_ms
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
    /// The threads that wait for a database server.
    pub(crate) work_threads: WorkThreads,
}

/// The request that a permit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PermitRequest {
    pub(crate) api: ApiKind,
    pub(crate) class: RequestClass,
    /// The points that it costs of a minute's budget.
    pub(crate) points: i64,
    /// True if it costs nothing when nothing changed. Such a request does not wait for the reserve.
    pub(crate) may_be_free: bool,
}

/// The answer to a request for a permit.
pub(crate) enum PermitOutcome<'a> {
    Granted(RequestPermit<'a>),
    /// Another run paused this API until then, only for the reserve. Another setting, or a budget that is full again, may
    /// have made the pause pointless: ask again after a review.
    ReviewReserve {
        until_ms: i64,
    },
}

/// The pauses that other processes have stored.
enum StoredPause {
    None,
    Paused,
    /// Only for the reserve, and not reviewed yet.
    Reserve {
        until_ms: i64,
    },
}

/// A place among the requests in flight. It is given back when it is dropped before the request is sent.
struct AdmittedPlace<'a> {
    limiter: &'a RateLimiter,
    api: ApiKind,
    is_open: bool,
}

impl AdmittedPlace<'_> {
    /// Passes the place on to a permit.
    fn keep(mut self) {
        self.is_open = false;
    }
}

impl Drop for AdmittedPlace<'_> {
    fn drop(&mut self) {
        if self.is_open {
            self.limiter.cancel_admission(self.api);
        }
    }
}

/// Permission to send one request: released with the request's outcome, or as failed when it is dropped.
pub(crate) struct RequestPermit<'a> {
    limiter: &'a RateLimiter,
    api: ApiKind,
    pub(crate) request_id: i64,
    started_ms: i64,
    is_open: bool,
}

impl RateLimiter {
    pub(crate) fn new(store: StoreWriter, principal: Principal, config: LimiterConfig) -> Self {
        Self {
            store,
            principal: Mutex::new(principal),
            state: Mutex::default(),
            queue: PermitQueue::default(),
            request_ids: Mutex::default(),
            rng: Mutex::new(fastrand::Rng::with_seed(config.seed)),
            reported_until_ms: AtomicI64::new(i64::MIN),
            reviewed_reserves: Mutex::default(),
            config,
        }
    }

    fn now_ms(&self) -> i64 {
        self.config.clock.now_ms()
    }

    pub(crate) fn principal(&self) -> Principal {
        lock_unpoisoned(&self.principal).clone()
    }

    /// Sets the principal whose rate limits apply from now on.
    pub(crate) fn set_principal(&self, principal: Principal) {
        *lock_unpoisoned(&self.principal) = principal;
    }

    /// Sets the number of workers that share the limits of the principal.
    pub(crate) fn share_limits(&self, workers: usize) {
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        lock_unpoisoned(&self.state).set_worker_count(workers);
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
        if !sample.is_of(api) {
            return Ok(());
        }
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
            0 => primary_limit_reason(api),
            percent => format!(
                "{percent}% of the {} budget is reserved for other tools (`--reserve 0` uses it)",
                api.name()
            ),
        };
        let scope = PauseScope::Api(api);
        let written = self.store_pause(scope, PauseCause::Reserve, until_ms, &reason);
        lock_unpoisoned(&self.state).pause_until(scope, PauseCause::Reserve, until_ms);
        written
    }

    /// Waits for a permit.
    ///
    /// A place among the requests in flight comes first. With it in hand, the pauses of all processes are read, so that
    /// a process reads them once for each request, and nothing comes between that check and the request. The request id
    /// comes last: requests get their ids in the order in which they start.
    pub(crate) async fn acquire_permit(
        &self,
        request: PermitRequest,
    ) -> Result<PermitOutcome<'_>, SyncError> {
        let PermitRequest { api, class, points, .. } = request;
        let can_wake = |api| self.can_wake(api);
        let position = self.queue.next_position(class);
        let mut is_woken = false;
        loop {
            self.reserve_request_ids(api, points).await?;
            let ticket = self.queue.join(position, api, &can_wake);
            let decision = if is_woken || ticket.is_next() {
                self.try_admit(request)
            } else {
                AdmissionDecision::Full
            };
            match decision {
                AdmissionDecision::Admitted => drop(ticket),
                AdmissionDecision::WaitUntil(until_ms) => {
                    drop(ticket);
                    self.wake_next();
                    is_woken = false;
                    self.config.clock.sleep_until(until_ms).await;
                    continue;
                }
                AdmissionDecision::Full | AdmissionDecision::ReserveNear => {
                    ticket.wait().await;
                    is_woken = true;
                    continue;
                }
            }
            is_woken = false;
            if lock_unpoisoned(&self.state).has_room() {
                self.wake_next();
            }
            let place = AdmittedPlace { limiter: self, api, is_open: true };
            match self.read_stored_pauses(request).await? {
                StoredPause::None => {}
                StoredPause::Paused => continue,
                StoredPause::Reserve { until_ms } => {
                    return Ok(PermitOutcome::ReviewReserve { until_ms });
                }
            }
            let drawn = lock_unpoisoned(&self.request_ids).draw(api, points);
            let Some(request_id) = drawn else { continue };
            place.keep();
            let started_ms = self.now_ms();
            let permit =
                RequestPermit { limiter: self, api, request_id, started_ms, is_open: true };
            self.config.crash_points.pass_point(crash_points::BEFORE_SENDING)?;
            return Ok(PermitOutcome::Granted(permit));
        }
    }

    /// Makes sure that an id can be drawn; waits while all processes together have used up the API's minute.
    async fn reserve_request_ids(&self, api: ApiKind, points: i64) -> Result<(), SyncError> {
        loop {
            let outcome = lock_unpoisoned(&self.request_ids).reserve_ahead(
                &self.store,
                &self.principal(),
                api,
                points,
                self.now_ms(),
            )?;
            match outcome {
                IdReservation::Available => return Ok(()),
                IdReservation::NotBefore(until_ms) => {
                    self.wake_next();
                    self.config.clock.sleep_until(until_ms).await;
                }
            }
        }
    }

    fn try_admit(&self, request: PermitRequest) -> AdmissionDecision {
        let PermitRequest { api, points, may_be_free, .. } = request;
        let jitter = self.jitter();
        let mut state = lock_unpoisoned(&self.state);
        let usage = state.api_usage(api);
        let recovering = state.is_recovering();
        let delay_ms =
            pace::request_delay_ms(self.config.pace, usage.used, usage.limit, recovering, jitter);
        let reserve_percent = (!may_be_free).then_some(self.config.reserve_percent);
        let request = AdmissionRequest { api, points, delay_ms, reserve_percent };
        state.admit_request(request, self.now_ms())
    }

    /// Gives back the place of a request that will not be sent now.
    fn cancel_admission(&self, api: ApiKind) {
        lock_unpoisoned(&self.state).cancel_admission(api);
        self.wake_next();
    }

    /// Wakes the next request: a place is free, or one that could have had it has to wait for something else.
    fn wake_next(&self) {
        self.queue.wake_next(|api| self.can_wake(api));
    }

    fn can_wake(&self, api: ApiKind) -> bool {
        !lock_unpoisoned(&self.state).is_reserve_near(api, self.config.reserve_percent)
    }

    /// Reads the pauses of all processes that apply to this request, and obeys them.
    ///
    /// A pause far beyond any limit is ignored: a process with a wrong clock wrote it.
    async fn read_stored_pauses(&self, request: PermitRequest) -> Result<StoredPause, SyncError> {
        let (api, latest_ms) = (request.api, self.now_ms() + LONGEST_PAUSE_MS);
        let (store, principal) = (self.store.clone(), self.principal());
        let threads = match store.has_server() {
            true => self.config.work_threads,
            false => WorkThreads::Inline,
        };
        let mut pauses =
            threads.run(move || store.principal_pauses(&principal, api, latest_ms)).await?;
        let now_ms = self.now_ms();
        // another request of this process may have met a limit meanwhile
        if lock_unpoisoned(&self.state).is_paused(api, !request.may_be_free, now_ms) {
            return Ok(StoredPause::Paused);
        }
        let last_review = lock_unpoisoned(&self.reviewed_reserves).get(&api).copied();
        pauses.retain(|pause| {
            let is_lifted = last_review.is_some_and(|review| review.has_lifted(pause));
            let is_exempt = request.may_be_free && pause.cause == PauseCause::Reserve;
            now_ms < pause.until_ms && !is_lifted && !is_exempt
        });
        let Some(until_ms) = pauses.first().map(|pause| pause.until_ms) else {
            return Ok(StoredPause::None);
        };
        let is_reserve = pauses.iter().all(|pause| pause.cause == PauseCause::Reserve);
        if is_reserve && last_review.is_none_or(|review| review.until_ms < until_ms) {
            return Ok(StoredPause::Reserve { until_ms });
        }
        for pause in &pauses {
            let scope =
                if pause.stops_all() { PauseScope::Everything } else { PauseScope::Api(api) };
            lock_unpoisoned(&self.state).pause_until(scope, pause.cause, pause.until_ms);
            self.report_pause(pause);
        }
        Ok(StoredPause::Paused)
    }

    /// Returns true if the pause for an API's reserve until this time was reviewed already.
    pub(crate) fn is_reviewed(&self, api: ApiKind, until_ms: i64) -> bool {
        let reviewed = lock_unpoisoned(&self.reviewed_reserves);
        reviewed.get(&api).is_some_and(|review| until_ms <= review.until_ms)
    }

    /// Obeys the pause for an API's reserve until this time: a review found no reason to lift it.
    pub(crate) fn keep_reserve(&self, api: ApiKind, until_ms: i64) {
        let kept = ReviewedReserve { until_ms, is_lifted: false };
        lock_unpoisoned(&self.reviewed_reserves).insert(api, kept);
    }

    /// Ignores pauses for an API's reserve that end no later than this, and deletes them so that no other command
    /// reports them.
    pub(crate) fn lift_reserve(&self, api: ApiKind, until_ms: i64) -> Result<(), SyncError> {
        let lifted = ReviewedReserve { until_ms, is_lifted: true };
        lock_unpoisoned(&self.reviewed_reserves).insert(api, lifted);
        lock_unpoisoned(&self.state).lift_reserve(api);
        // the user may not be known yet, so the pauses of all users of the host are lifted
        for pause in self.store.principal_pauses(&self.principal(), api, until_ms)? {
            if pause.cause == PauseCause::Reserve {
                self.store.lift_pause(&pause, until_ms)?;
            }
        }
        Ok(())
    }

    /// Returns true if only the reserve is left of a budget.
    pub(crate) fn is_within_reserve(&self, used: i64, limit: i64) -> bool {
        pace::is_reserve_reached(limit.saturating_sub(used), limit, self.config.reserve_percent)
    }

    /// Reports a pause that another run wrote, once.
    fn report_pause(&self, pause: &PauseRow) {
        let PauseRow { until_ms, reason, .. } = pause;
        let reported = self.reported_until_ms.fetch_max(*until_ms, Ordering::Relaxed);
        if *until_ms > reported {
            self.config.progress.emit(|| ProgressEvent::RequestsPaused {
                reason: reason.clone(),
                until_ms: *until_ms,
                resumes_slowly: pause.stops_all(),
            });
        }
    }

    /// Returns the end of the pause that a rate limit requires.
    fn limit_pause_end(
        &self,
        scope: PauseScope,
        limit: &RateLimit,
        started_ms: i64,
        now_ms: i64,
    ) -> i64 {
        let in_a_row = {
            let state = lock_unpoisoned(&self.state);
            state.limits_in_a_row() + u32::from(!state.is_known_limit(scope, started_ms))
        };
        limit.wait.resume_at_ms(now_ms, in_a_row, self.jitter())
    }

    /// Stores a pause. The caller updates its own state only afterwards, so that no process starts a request after it.
    fn store_pause(
        &self,
        scope: PauseScope,
        cause: PauseCause,
        until_ms: i64,
        reason: &str,
    ) -> Result<(), SyncError> {
        tracing::warn!(
            reason,
            wait_s = (until_ms - self.now_ms()) / 1_000,
            "rate limited; pausing"
        );
        self.reported_until_ms.fetch_max(until_ms, Ordering::Relaxed);
        self.config.progress.emit(|| ProgressEvent::RequestsPaused {
            reason: reason.to_owned(),
            until_ms,
            resumes_slowly: scope == PauseScope::Everything,
        });
        let latest_ms = self.now_ms() + LONGEST_PAUSE_MS;
        let principal = self.principal();
        let pause = NewPause { principal, scope, cause, until_ms, reason };
        self.store.store_pause(pause, latest_ms)?;
        self.config.crash_points.pass_point(crash_points::PAUSE_WRITTEN)
    }
}

/// Returns the reason of a pause until an API's hourly limit resets.
fn primary_limit_reason(api: ApiKind) -> String {
    format!("the hourly {} budget is used up", api.name())
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
                let scope = limit.kind.pause_scope(self.api);
                let until_ms = limiter.limit_pause_end(scope, limit, started_ms, now_ms);
                let reason = match limit.kind {
                    RateLimitKind::Primary => primary_limit_reason(self.api),
                    RateLimitKind::Secondary => SECONDARY_LIMIT_REASON.to_owned(),
                };
                written = limiter.store_pause(scope, PauseCause::SourceLimit, until_ms, &reason);
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
        let limiter = self.limiter;
        let advice = lock_unpoisoned(&limiter.state).record_outcome(self.api, outcome, now_ms);
        limiter.wake_next();
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
