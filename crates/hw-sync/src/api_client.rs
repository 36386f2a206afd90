//! Sends requests to a source: waits for the rate limiter, classifies the responses, and retries.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::FutureExt as _;
use hw_rules::backoff::Jitter;
use hw_rules::class_shares::ClassShares;
use hw_rules::format::format_count;
use hw_rules::pace::RequestPace;
use hw_rules::page_size;
use hw_rules::principal::Principal;
use hw_rules::rate_limit::{ApiKind, RequestClass};
use hw_rules::source_time::SourceInstant;
use hw_sources::error::{RetryDecision, SourceError};
use hw_sources::github::rest::RestEndpoint;
use hw_sources::github::source::GithubSource;
use hw_sources::github::writes::{RestWrite, WRITE_POINTS, WriteOutcome};
use hw_sources::limiter_state::ConnectionAdvice;
use hw_sources::query::{ApiEndpoint as _, Query};
use hw_sources::response_meta::ResponseMeta;
use hw_sources::source::{ApiBudget, Source};
use hw_sources::transport::{self, HttpRequest, HttpResponse, Transport};
use hw_store::StoreWriter;

use crate::SyncError;
use crate::clock::Clock;
use crate::crash_points::{self, CrashPoints};
use crate::progress::{ProgressEvent, ProgressSink};
use crate::rate_limiter::{LimiterConfig, PermitOutcome, RateLimiter, lock_unpoisoned};
use crate::request_permit::{PermitRequest, RequestPermit};
use crate::retry_policy::{RequestOptions, RetryPolicy, RetryState};
use crate::source_time::SourceTimeTracker;
use crate::work_threads::WorkThreads;

/// Longer than GitHub's own timeout of 10 s, which answers first.
const REQUEST_TIMEOUT_MS: i64 = 12_000;
/// The points that a read costs of a minute's budget.
const READ_POINTS: i64 = 1;

/// Dependencies and settings of a client.
#[derive(Clone)]
pub struct ClientConfig<S> {
    pub source: S,
    pub retry_policy: RetryPolicy,
    pub transport: Arc<dyn Transport>,
    pub clock: Arc<dyn Clock>,
    /// The name of the machine, whose clock `clock` is.
    pub machine: String,
    pub crash_points: CrashPoints,
    pub progress: ProgressSink,
    pub pace: RequestPace,
    /// Share of the hourly rate limit to leave for the user's other tools.
    pub reserve_percent: i64,
    /// The largest page to request.
    pub largest_page: u32,
    /// Seed of the random numbers for jitter.
    pub seed: u64,
    /// Where pages are prepared and written.
    pub work_threads: WorkThreads,
}

/// Cost of all requests so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RequestCost {
    pub requests: u64,
    pub points: i64,
    pub retries: u64,
    /// Invalid Unicode characters that were replaced in responses.
    pub replaced_characters: u64,
    /// Responses with status "not modified", which are free.
    pub not_modified: u64,
}

/// A client of GitHub.
pub type GithubClient = ApiClient<GithubSource>;

/// A client of one source.
pub struct ApiClient<S> {
    config: ClientConfig<S>,
    limiter: RateLimiter,
    cost: Mutex<RequestCost>,
    source_time: Arc<Mutex<SourceTimeTracker>>,
    /// True once this run received a response.
    has_been_reached: AtomicBool,
    reserve_review: tokio::sync::Mutex<()>,
}

/// An error of the source that retries did not fix, or an error that ends the run.
pub(crate) enum FetchError {
    Source(SourceError),
    Sync(SyncError),
}

impl<E: Into<SyncError>> From<E> for FetchError {
    fn from(error: E) -> Self {
        Self::Sync(error.into())
    }
}

impl<S: Source> ApiClient<S> {
    /// Creates the client of a host. The host's own pauses apply until a response names the token's user.
    pub fn new(config: ClientConfig<S>, store: StoreWriter, host: &str) -> Self {
        let source_time = Arc::default();
        let settings = LimiterConfig {
            clock: Arc::clone(&config.clock),
            machine: config.machine.clone(),
            source_time: Arc::clone(&source_time),
            crash_points: config.crash_points.clone(),
            progress: config.progress.clone(),
            pace: config.pace,
            reserve_percent: config.reserve_percent,
            seed: config.seed,
            work_threads: config.work_threads,
        };
        let limiter = RateLimiter::new(store, Principal::from_host(host), settings);
        Self {
            config,
            limiter,
            cost: Mutex::default(),
            source_time,
            has_been_reached: AtomicBool::new(false),
            reserve_review: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.config.clock
    }

    pub(crate) fn crash_points(&self) -> &CrashPoints {
        &self.config.crash_points
    }

    pub(crate) fn progress(&self) -> &ProgressSink {
        &self.config.progress
    }

    pub(crate) fn work_threads(&self) -> WorkThreads {
        self.config.work_threads
    }

    pub(crate) fn largest_page(&self) -> u32 {
        self.config.largest_page
    }

    /// Returns true once this run received a response.
    fn has_been_reached(&self) -> bool {
        self.has_been_reached.load(Ordering::Relaxed)
    }

    pub fn cost(&self) -> RequestCost {
        *lock_unpoisoned(&self.cost)
    }

    /// Returns the source's own time, as of its last response.
    pub(crate) fn last_source_date(&self) -> Option<SourceInstant> {
        lock_unpoisoned(&self.source_time).last_date()
    }

    /// Locks and returns the tracker of the source's clock.
    pub(crate) fn source_time(&self) -> MutexGuard<'_, SourceTimeTracker> {
        lock_unpoisoned(&self.source_time)
    }

    /// Returns the principal whose rate limits apply.
    pub fn principal(&self) -> Principal {
        self.limiter.principal()
    }

    /// Sets the number of workers that share the rate limits.
    pub(crate) fn share_limits(&self, workers: usize) {
        self.limiter.share_limits(workers);
    }

    /// Sets how the classes of requests share the rate limits from now on.
    pub(crate) fn set_class_shares(&self, shares: ClassShares) {
        self.limiter.set_class_shares(shares);
    }

    /// Sets the principal whose rate limits apply from now on.
    pub(crate) fn set_principal(&self, principal: Principal) {
        self.limiter.set_principal(principal);
    }

    pub(crate) fn jitter(&self) -> Jitter {
        self.limiter.jitter()
    }

    /// Sends a query until it succeeds, for as many rows as the server can serve at once.
    ///
    /// `size` is the number of rows to request: it shrinks when the server cannot serve them, and grows when it can.
    pub(crate) async fn fetch<Q: Query>(
        &self,
        query: &Q,
        options: RequestOptions<'_>,
        size: &mut u32,
    ) -> Result<Q::Page, FetchError>
    where
        S: AsRef<Q::Endpoint>,
    {
        let policy = options.limit_policy(self.config.retry_policy);
        let mut state = RetryState::default();
        loop {
            *size = (*size).min(self.config.largest_page);
            let endpoint: &Q::Endpoint = self.config.source.as_ref();
            let request = endpoint.encode_request(&query.request(*size));
            let permit = self.acquire_permit(PermitRequest {
                api: Q::Endpoint::API,
                class: options.class,
                points: READ_POINTS,
                may_be_free: request.is_conditional(),
            });
            let permit = options.wait_or_yield(permit).await?;
            let began_ms = self.clock().now_ms();
            let result = self.try_query(query, request, permit, *size).await?;
            state.add_active_ms(self.clock().now_ms() - began_ms, options);
            let error = match result {
                Ok(page) => {
                    options.reset_budget();
                    *size = page_size::grow_page(*size, self.config.largest_page);
                    return Ok(page);
                }
                Err(error) => error,
            };
            let is_first_contact = error.is_unreachable() && !self.has_been_reached();
            let policy = if is_first_contact { policy.for_first_contact() } else { policy };
            let requested = *size;
            let Some(wait) = state.next_delay(&error, policy, options, size, self.jitter()) else {
                if is_first_contact {
                    return Err(FetchError::Source(error));
                }
                return Err(FetchError::Source(
                    self.classify_timeout(error.into_permanent(), options.class).await?,
                ));
            };
            tracing::debug!(%error, wait, "retrying");
            lock_unpoisoned(&self.cost).retries += 1;
            self.progress().emit(|| ProgressEvent::RetryScheduled {
                reason: if error.retry_decision() == RetryDecision::RequestLess {
                    format!("{error} for a page of {}", format_count(requested.into(), "row"))
                } else {
                    error.to_string()
                },
                wait_ms: wait,
            });
            let sleep = self.clock().sleep_until(self.clock().now_ms() + wait);
            options.wait_or_yield(sleep.map(Ok)).await?;
        }
    }

    /// Sends a write and never repeats it, because the source would do it twice. Waits for a permit first, and obeys all
    /// pauses.
    ///
    /// After [`WriteOutcome::Unknown`] the caller has to look at the source before it sends the write again.
    pub async fn send_once(
        &self,
        write: &RestWrite,
        class: RequestClass,
    ) -> Result<WriteOutcome, SyncError>
    where
        S: AsRef<RestEndpoint>,
    {
        let endpoint: &RestEndpoint = self.config.source.as_ref();
        let api = RestEndpoint::API;
        let wanted = PermitRequest { api, class, points: WRITE_POINTS, may_be_free: false };
        let permit = self.acquire_permit(wanted).await?;
        lock_unpoisoned(&self.cost).requests += 1;
        let response = self.exchange_in_time(endpoint.build_write(write)).await;
        let mut outcome = WriteOutcome::classify(response);
        if let WriteOutcome::Done(response) = &mut outcome
            && let Err(error) = self.record_response(api, permit.request_id, &mut response.meta)?
        {
            // the write is done, whatever the source's clock says
            tracing::warn!(%error, "cannot date the response to a write");
        }
        self.settle(permit, outcome.to_error().as_ref())?;
        Ok(outcome)
    }

    async fn acquire_permit(&self, wanted: PermitRequest) -> Result<RequestPermit<'_>, SyncError> {
        loop {
            match self.limiter.acquire_permit(wanted).await? {
                PermitOutcome::Granted(permit) => return Ok(permit),
                PermitOutcome::ReviewReserve { until_ms } => {
                    self.review_reserve(wanted, until_ms).await?;
                }
            }
        }
    }

    /// Lifts a pause that only the reserve caused, if the source reports that this request may use more of the budget.
    ///
    /// `/rate_limit` is free, and the one request that may start during a pause.
    async fn review_reserve(&self, request: PermitRequest, until_ms: i64) -> Result<(), SyncError> {
        // several requests may meet the pause at once: one of them asks, the others wait for the answer
        let _one_at_a_time = self.reserve_review.lock().await;
        if self.limiter.is_reviewed(request, until_ms) {
            return Ok(());
        }
        let PermitRequest { api, class, .. } = request;
        let budgets = self.fetch_budgets().await;
        let is_free = budgets.is_ok_and(|budgets| {
            budgets
                .iter()
                .filter(|budget| budget.bucket == api.bucket())
                .all(|budget| !self.limiter.is_floor_reached(class, budget.used, budget.limit))
        });
        if is_free {
            tracing::info!("the budget allows requests again; lifting the pause for the reserve");
            self.limiter.lift_reserve(request, until_ms)?;
        } else {
            self.limiter.keep_reserve(request, until_ms);
        }
        Ok(())
    }

    async fn fetch_budgets(&self) -> Result<Vec<ApiBudget>, SourceError> {
        match self.config.source.budgets_request() {
            Some(request) => {
                self.config.source.read_budgets(&self.exchange_in_time(request).await?)
            }
            None => Err(SourceError::hidden("the source reports no budgets")),
        }
    }

    /// After a network failure, pings the source to tell a dead connection from a request that the server cannot
    /// answer.
    async fn classify_timeout(
        &self,
        error: SourceError,
        class: RequestClass,
    ) -> Result<SourceError, FetchError> {
        if !error.is_network_error() {
            return Ok(error);
        }
        let wanted = PermitRequest {
            api: <S::Ping as Query>::Endpoint::API,
            class,
            points: READ_POINTS,
            may_be_free: false,
        };
        let permit = self.acquire_permit(wanted).await?;
        let endpoint: &<S::Ping as Query>::Endpoint = self.config.source.as_ref();
        let request = endpoint.encode_request(&S::PING.request(1));
        Ok(match self.try_query(&S::PING, request, permit, 1).await? {
            Ok(()) => SourceError::Server(format!("{error}, while other requests succeed")),
            Err(_) => error,
        })
    }

    /// Sends the request of a query once and reads its response. The outer error ends the run.
    async fn try_query<Q: Query>(
        &self,
        query: &Q,
        request: HttpRequest,
        permit: RequestPermit<'_>,
        size: u32,
    ) -> Result<Result<Q::Page, SourceError>, FetchError> {
        lock_unpoisoned(&self.cost).requests += 1;
        let response = self.exchange_in_time(request).await;
        let decoded = response.and_then(|response| Q::Endpoint::decode_response(&response));
        let result = match decoded {
            Ok(mut decoded) => {
                let meta = Q::Endpoint::meta_mut(&mut decoded);
                let recorded = self.record_response(Q::Endpoint::API, permit.request_id, meta)?;
                recorded.and_then(|()| query.parse(&decoded, size))
            }
            Err(error) => Err(error),
        };
        if result.is_ok() {
            self.progress().emit(|| ProgressEvent::ResponseReceived);
        }
        self.settle(permit, result.as_ref().err())?;
        Ok(result)
    }

    /// Releases a permit with the outcome of its request.
    fn settle(
        &self,
        permit: RequestPermit<'_>,
        error: Option<&SourceError>,
    ) -> Result<(), SyncError> {
        if permit.settle(error)? == ConnectionAdvice::Reset {
            tracing::info!("three requests in a row failed; opening new connections");
            self.config.transport.reset_connections();
        }
        self.config.crash_points.pass_point(crash_points::AFTER_ANSWER)
    }

    async fn exchange_in_time(&self, request: HttpRequest) -> Result<HttpResponse, SourceError> {
        let deadline = self.clock().now_ms() + REQUEST_TIMEOUT_MS;
        let url = request.url.clone();
        tokio::select! {
            biased;
            response = transport::send_and_mask(&*self.config.transport, request) => {
                self.has_been_reached.fetch_or(response.is_ok(), Ordering::Relaxed);
                response.map_err(|error| SourceError::from_transport_error(error, &url))
            }
            () = self.clock().sleep_until(deadline) => {
                Err(SourceError::Network(format!("no response within {} s", REQUEST_TIMEOUT_MS / 1_000)))
            }
        }
    }

    /// Records the source's time and rate limit usage from a response, and gives the response its request id and the
    /// trusted date.
    ///
    /// The inner error is a date that fell back: the next response shows whether the clock was set back.
    fn record_response(
        &self,
        api: ApiKind,
        request_id: i64,
        meta: &mut ResponseMeta,
    ) -> Result<Result<(), SourceError>, SyncError> {
        match self.source_time().read_date(meta.date(), self.clock()) {
            Ok(date) => meta.set_observed_at(request_id, date),
            Err(by_ms) => {
                let by_s = by_ms / 1_000;
                return Ok(Err(SourceError::Server(format!("its clock fell back by {by_s} s"))));
            }
        }
        let mut cost = lock_unpoisoned(&self.cost);
        cost.replaced_characters += u64::from(meta.replaced_chars);
        cost.points += meta.cost;
        cost.not_modified += u64::from(meta.is_not_modified);
        drop(cost);
        match &meta.limit_sample {
            Some(sample) => self.limiter.observe_usage(api, sample, meta.date()).map(Ok),
            None => Ok(Ok(())),
        }
    }
}

#[cfg(test)]
#[path = "api_client_tests.rs"]
mod tests;
