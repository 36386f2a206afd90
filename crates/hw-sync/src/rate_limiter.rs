//! Limits the rate of requests: one permit for each request, and pauses that all processes of a principal obey.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hw_rules::backoff::Jitter;
use hw_rules::class_shares::ClassShares;
use hw_rules::pace::{self, RequestPace};
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, PauseCause, PauseScope, RequestClass};
use hw_rules::source_time::SourceInstant;
use hw_sources::error::{LimitWait, RateLimit};
use hw_sources::limiter_state::{
    AdmissionDecision, AdmissionRequest, ConnectionAdvice, LimiterState, RequestOutcome,
};
use hw_sources::response_meta::RateLimitSample;
use hw_store::StoreWriter;

use crate::SyncError;
use crate::clock::Clock;
use crate::crash_points::{self, CrashPoints};
use crate::permit_queue::{ApiHold, PermitQueue, QueuePosition, QueueTicket, WaitState};
use crate::progress::{ProgressEvent, ProgressSink};
use crate::request_ids::{IdReservation, RequestIdPool};
use crate::request_permit::{AdmittedPlace, PermitRequest, RequestPermit};
use crate::shared_pauses::{LocalPause, PauseMemory, SharedPauses};
use crate::source_time::SourceTimeTracker;
use crate::work_threads::WorkThreads;

/// The difference between two ends of one pause for the reserve: responses report the reset in whole seconds.
const SAME_END_MS: i64 = 5_000;

pub(crate) struct RateLimiter {
    config: LimiterConfig,
    store: StoreWriter,
    pauses: SharedPauses,
    /// Host and user whose limits apply, never a token.
    principal: Mutex<Principal>,
    /// How the classes of requests share the budget.
    shares: Mutex<ClassShares>,
    state: Mutex<LimiterState>,
    queue: PermitQueue,
    request_ids: Mutex<RequestIdPool>,
    rng: Mutex<fastrand::Rng>,
    reviewed_reserves: Mutex<BTreeMap<(ApiKind, RequestClass), ReviewedReserve>>,
}

/// The last pause for the reserve that was checked against the source's own figures, for one API and class.
#[derive(Debug, Clone, Copy)]
struct ReviewedReserve {
    until_ms: i64,
    is_lifted: bool,
}

impl ReviewedReserve {
    fn has_lifted(self, pause: &LocalPause) -> bool {
        let is_reserve = pause.row.cause != PauseCause::SourceLimit;
        self.is_lifted && is_reserve && pause.until_ms <= self.until_ms
    }
}

/// Dependencies and settings of a rate limiter.
pub(crate) struct LimiterConfig {
    pub(crate) clock: Arc<dyn Clock>,
    /// The machine, whose clock `clock` is.
    pub(crate) machine: String,
    pub(crate) source_time: Arc<Mutex<SourceTimeTracker>>,
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

impl RateLimiter {
    pub(crate) fn new(store: StoreWriter, principal: Principal, config: LimiterConfig) -> Self {
        let pauses = SharedPauses {
            store: store.clone(),
            clock: Arc::clone(&config.clock),
            machine: config.machine.clone(),
            source_time: Arc::clone(&config.source_time),
            crash_points: config.crash_points.clone(),
            progress: config.progress.clone(),
            work_threads: config.work_threads,
            memory: PauseMemory::default(),
        };
        Self {
            store,
            pauses,
            principal: Mutex::new(principal),
            shares: Mutex::default(),
            state: Mutex::default(),
            queue: PermitQueue::default(),
            request_ids: Mutex::default(),
            rng: Mutex::new(fastrand::Rng::with_seed(config.seed)),
            reviewed_reserves: Mutex::default(),
            config,
        }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.config.clock.now_ms()
    }

    pub(crate) fn principal(&self) -> Principal {
        lock_unpoisoned(&self.principal).clone()
    }

    /// Sets the principal whose rate limits apply from now on.
    pub(crate) fn set_principal(&self, principal: Principal) {
        *lock_unpoisoned(&self.principal) = principal;
    }

    /// Sets how the classes of requests share the budget from now on.
    pub(crate) fn set_class_shares(&self, shares: ClassShares) {
        *lock_unpoisoned(&self.shares) = shares;
    }

    /// Sets the number of workers that share the limits of the principal.
    pub(crate) fn share_limits(&self, workers: usize) {
        let workers = u32::try_from(workers).unwrap_or(u32::MAX);
        lock_unpoisoned(&self.state).set_worker_count(workers);
    }

    pub(crate) fn jitter(&self) -> Jitter {
        Jitter(lock_unpoisoned(&self.rng).f64())
    }

    fn class_shares(&self) -> ClassShares {
        *lock_unpoisoned(&self.shares)
    }

    /// Returns the share of the budget that requests of this class do not touch.
    fn floor_percent(&self, class: RequestClass) -> i64 {
        self.class_shares().floor_percent(class, self.config.reserve_percent)
    }

    /// Returns true if only what requests of this class have to leave is left of a budget.
    pub(crate) fn is_floor_reached(&self, class: RequestClass, used: i64, limit: i64) -> bool {
        pace::is_floor_reached(limit.saturating_sub(used), limit, self.floor_percent(class))
    }

    /// Records how much of the hourly limit is used, and pauses the classes of requests that have to leave the rest, until
    /// the limit resets.
    pub(crate) fn observe_usage(
        &self,
        api: ApiKind,
        sample: &RateLimitSample,
        date: SourceInstant,
    ) -> Result<(), SyncError> {
        if !sample.is_of(api) {
            return Ok(());
        }
        let RateLimitSample { used, limit, remaining, resets_at, .. } = *sample;
        lock_unpoisoned(&self.state).record_usage(api, sample.to_usage(), resets_at);
        let resets_in_ms = resets_at.0.saturating_sub(date.0);
        if api == ApiKind::Graphql {
            self.config.progress.emit(|| ProgressEvent::BudgetReported {
                used,
                limit,
                resets_in_ms,
            });
        }
        let reserve_percent = self.config.reserve_percent;
        let stopped = self.class_shares().first_stopped_class(remaining, limit, reserve_percent);
        let Some(first) = stopped.filter(|_| resets_in_ms > 0) else { return Ok(()) };
        let until_ms = LimitWait::Reset(resets_in_ms).resume_at_ms(self.now_ms(), 1, self.jitter());
        let (scope, cause) = (PauseScope::Api(api), PauseCause::Reserve(first));
        let known_ms = lock_unpoisoned(&self.state).pause_end(scope, cause);
        if known_ms.is_some_and(|known_ms| until_ms <= known_ms.saturating_add(SAME_END_MS)) {
            return Ok(());
        }
        let written = self.store_pause(scope, cause, until_ms, &self.reserve_reason(api, first));
        lock_unpoisoned(&self.state).pause_until(scope, cause, until_ms);
        written
    }

    /// Returns the reason of a pause that stops requests of this class and less important ones.
    fn reserve_reason(&self, api: ApiKind, first: RequestClass) -> String {
        let (reserve, floor) = (self.config.reserve_percent, self.floor_percent(first));
        let api_name = api.name();
        match reserve {
            _ if reserve < floor => format!(
                "{floor}% of the {api_name} budget is left for watched threads and other tools"
            ),
            0 => primary_limit_reason(api),
            percent => format!(
                "{percent}% of the {api_name} budget is reserved for other tools (`--reserve 0` uses it)"
            ),
        }
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
        let position = self.queue.next_position(request.class);
        loop {
            let place = self.wait_for_place(request, position).await?;
            match self.read_stored_pauses(request).await? {
                StoredPause::None => {}
                StoredPause::Paused => continue,
                StoredPause::Reserve { until_ms } => {
                    return Ok(PermitOutcome::ReviewReserve { until_ms });
                }
            }
            let drawn = lock_unpoisoned(&self.request_ids).draw(request.api, request.points);
            let Some(request_id) = drawn else { continue };
            let permit = place.into_permit(request_id);
            self.config.crash_points.pass_point(crash_points::BEFORE_SENDING)?;
            return Ok(PermitOutcome::Granted(permit));
        }
    }

    /// Waits for the request's turn, and for everything that this process knows of: pauses, the pace, and the requests in
    /// flight.
    async fn wait_for_place(
        &self,
        request: PermitRequest,
        position: QueuePosition,
    ) -> Result<AdmittedPlace<'_>, SyncError> {
        let wake_next = || self.wake_next();
        let ticket = self.queue.join(position, request, &wake_next);
        let mut has_turn = false;
        loop {
            // before it is its turn is checked: a wake in between is not lost
            ticket.set_state(WaitState::ForPlace);
            let decision = if has_turn || self.is_next(&ticket) {
                self.try_admit(request)?
            } else {
                AdmissionDecision::Full
            };
            has_turn = match decision {
                AdmissionDecision::Admitted => {
                    ticket.serve();
                    self.wake_next();
                    return Ok(AdmittedPlace::new(self, request.api));
                }
                AdmissionDecision::Full => {
                    ticket.wait_for_wake().await;
                    true
                }
                AdmissionDecision::ReserveNear => {
                    self.wake_next();
                    ticket.wait_for_wake().await;
                    true
                }
                AdmissionDecision::WaitUntil(until_ms) => {
                    self.sleep_in_queue(&ticket, until_ms, ApiHold::Held).await
                }
                AdmissionDecision::ReservedUntil(until_ms) => {
                    self.pauses.report_own_reserve(request, until_ms);
                    self.sleep_in_queue(&ticket, until_ms, ApiHold::Open).await
                }
            };
        }
    }

    /// Sleeps until a time, or until it is woken: then it returns true.
    async fn sleep_in_queue(&self, ticket: &QueueTicket<'_>, until_ms: i64, hold: ApiHold) -> bool {
        let clock = &self.config.clock;
        let wait_ms = until_ms.saturating_sub(clock.now_ms());
        let due_ms = clock.monotonic_ms().saturating_add(wait_ms);
        ticket.set_state(WaitState::Sleeping { until_ms: due_ms, hold });
        self.wake_next();
        tokio::select! {
            biased;
            () = ticket.wait_for_wake() => true,
            () = clock.sleep_until(until_ms) => false,
        }
    }

    fn try_admit(&self, request: PermitRequest) -> Result<AdmissionDecision, SyncError> {
        let PermitRequest { api, points, .. } = request;
        let reserved = lock_unpoisoned(&self.request_ids).reserve_ahead(
            &self.store,
            &self.principal(),
            api,
            points,
            self.now_ms(),
        )?;
        if let IdReservation::NotBefore(until_ms) = reserved {
            return Ok(AdmissionDecision::WaitUntil(until_ms));
        }
        let request = self.to_admission(request, self.request_delay_ms(api));
        Ok(lock_unpoisoned(&self.state).admit_request(request, self.now_ms()))
    }

    fn to_admission(&self, request: PermitRequest, delay_ms: i64) -> AdmissionRequest {
        let PermitRequest { api, class, points, may_be_free } = request;
        let floor_percent = (!may_be_free).then(|| self.floor_percent(class));
        AdmissionRequest { api, class, points, delay_ms, floor_percent }
    }

    /// Returns the delay of the request after the next one.
    fn request_delay_ms(&self, api: ApiKind) -> i64 {
        let jitter = self.jitter();
        let state = lock_unpoisoned(&self.state);
        let (usage, recovering) = (state.api_usage(api), state.is_recovering());
        pace::request_delay_ms(self.config.pace, usage.used, usage.limit, recovering, jitter)
    }

    /// Gives back the place of a request that will not be sent now.
    pub(crate) fn cancel_admission(&self, api: ApiKind) {
        lock_unpoisoned(&self.state).cancel_admission(api);
        self.wake_next();
    }

    /// Gives back the place of a request that was sent.
    pub(crate) fn release_place(
        &self,
        api: ApiKind,
        outcome: RequestOutcome,
        now_ms: i64,
    ) -> ConnectionAdvice {
        let advice = lock_unpoisoned(&self.state).record_outcome(api, outcome, now_ms);
        self.wake_next();
        advice
    }

    /// Wakes the next request if a place is free.
    fn wake_next(&self) {
        if lock_unpoisoned(&self.state).has_room() {
            let now_ms = self.config.clock.monotonic_ms();
            self.queue.wake_next(now_ms, |request| self.can_send(request));
        }
    }

    fn is_next(&self, ticket: &QueueTicket<'_>) -> bool {
        ticket.is_next(self.config.clock.monotonic_ms(), |request| self.can_send(request))
    }

    /// Returns false if the requests in flight may use up what this one may use.
    fn can_send(&self, request: PermitRequest) -> bool {
        let floor_percent = self.floor_percent(request.class);
        request.may_be_free
            || !lock_unpoisoned(&self.state).is_floor_near(request.api, floor_percent)
    }

    /// Reads the pauses of all processes that stop this request, and obeys them.
    async fn read_stored_pauses(&self, request: PermitRequest) -> Result<StoredPause, SyncError> {
        let PermitRequest { api, class, may_be_free, .. } = request;
        let mut pauses = self.pauses.read_pauses(self.principal(), api).await?;
        // another request of this process may have met a limit meanwhile
        if lock_unpoisoned(&self.state).is_paused(self.to_admission(request, 0), self.now_ms()) {
            return Ok(StoredPause::Paused);
        }
        let last_review = lock_unpoisoned(&self.reviewed_reserves).get(&(api, class)).copied();
        pauses.retain(|pause| {
            let is_lifted = last_review.is_some_and(|review| review.has_lifted(pause));
            let is_exempt = may_be_free && pause.row.cause != PauseCause::SourceLimit;
            pause.row.cause.stops(class) && !is_lifted && !is_exempt
        });
        let Some(until_ms) = pauses.first().map(|pause| pause.until_ms) else {
            return Ok(StoredPause::None);
        };
        let is_reserve = pauses.iter().all(|pause| pause.row.cause != PauseCause::SourceLimit);
        if is_reserve && last_review.is_none_or(|review| review.until_ms < until_ms) {
            return Ok(StoredPause::Reserve { until_ms });
        }
        for pause in &pauses {
            let (scope, cause) = (pause.scope(api), pause.row.cause);
            lock_unpoisoned(&self.state).obey_stored_pause(scope, cause, pause.until_ms);
            self.pauses.report_stored(pause);
        }
        Ok(StoredPause::Paused)
    }

    /// Returns true if a pause until this time, which stops requests like this one, was reviewed already.
    pub(crate) fn is_reviewed(&self, request: PermitRequest, until_ms: i64) -> bool {
        let reviewed = lock_unpoisoned(&self.reviewed_reserves);
        let review = reviewed.get(&(request.api, request.class));
        review.is_some_and(|review| until_ms <= review.until_ms)
    }

    /// Obeys the pause for the reserve until this time: a review found no reason to lift it.
    pub(crate) fn keep_reserve(&self, request: PermitRequest, until_ms: i64) {
        let kept = ReviewedReserve { until_ms, is_lifted: false };
        lock_unpoisoned(&self.reviewed_reserves).insert((request.api, request.class), kept);
    }

    /// Ignores the pauses for the reserve that stop requests like this one and end no later than this, and deletes them.
    pub(crate) fn lift_reserve(
        &self,
        request: PermitRequest,
        until_ms: i64,
    ) -> Result<(), SyncError> {
        let PermitRequest { api, class, .. } = request;
        let lifted = ReviewedReserve { until_ms, is_lifted: true };
        lock_unpoisoned(&self.reviewed_reserves).insert((api, class), lifted);
        lock_unpoisoned(&self.state).lift_reserve(api, class);
        Ok(self.pauses.delete_reserves(&self.principal(), request, until_ms)?)
    }

    /// Learns the source's clock from a response that is limited: other machines obey its pause by that clock.
    pub(crate) fn observe_date(&self, date: SourceInstant) {
        let read = lock_unpoisoned(&self.config.source_time).read_date(date, &*self.config.clock);
        if let Err(by_ms) = read {
            tracing::debug!(by_ms, "the date of a limited response fell back");
        }
    }

    /// Returns the end of the pause that a rate limit requires.
    pub(crate) fn limit_pause_end(
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
    pub(crate) fn store_pause(
        &self,
        scope: PauseScope,
        cause: PauseCause,
        until_ms: i64,
        reason: &str,
    ) -> Result<(), SyncError> {
        self.pauses.store_pause(self.principal(), scope, cause, until_ms, reason)
    }
}

/// Returns the reason of a pause until an API's own limit resets.
pub(crate) fn primary_limit_reason(api: ApiKind) -> String {
    format!("the {} {} budget is used up", api.window_name(), api.name())
}

/// Locks a mutex even if another task panicked while it held the lock: the values behind our locks are always
/// complete.
pub(crate) fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
