//! Sends requests to GitHub: waits for the rate limiter, classifies the responses, and retries.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use hw_rules::backoff::Jitter;
use hw_rules::pace::RequestPace;
use hw_rules::page_size;
use hw_rules::rate_limit::{ApiKind, RequestClass};
use hw_rules::source_time::SourceInstant;
use hw_sources::error::SourceError;
use hw_sources::github::graphql::{self, GraphqlEndpoint, GraphqlQuery};
use hw_sources::github::response_meta::ResponseMeta;
use hw_sources::github::rest::{self, RestContent, RestEndpoint, RestRequest};
use hw_sources::github::token_info;
use hw_sources::limiter_state::ConnectionAdvice;
use hw_sources::transport::{self, HttpRequest, HttpResponse, Transport};
use hw_store::StoreWriter;

use crate::SyncError;
use crate::api_codec::{ApiCodec, GRAPHQL_CODEC, REST_CODEC};
use crate::clock::Clock;
use crate::crash_points::{self, CrashPoints};
use crate::progress::{ProgressEvent, ProgressSink};
use crate::rate_limiter::{
    LimiterConfig, PermitOutcome, PermitRequest, RateLimiter, RequestPermit, lock_unpoisoned,
};
use crate::retry_policy::{RetryPolicy, RetryState};
use crate::source_time::SourceTimeTracker;

/// Longer than GitHub's own timeout of 10 s, which answers first.
const REQUEST_TIMEOUT_MS: i64 = 12_000;

/// Dependencies and settings of a client.
#[derive(Clone)]
pub struct ClientConfig {
    pub transport: Arc<dyn Transport>,
    pub endpoint: GraphqlEndpoint,
    pub rest: RestEndpoint,
    pub clock: Arc<dyn Clock>,
    pub crash_points: CrashPoints,
    pub progress: ProgressSink,
    pub pace: RequestPace,
    /// Share of the hourly rate limit to leave for the user's other tools.
    pub reserve_percent: i64,
    /// The largest page to request.
    pub largest_page: u32,
    /// Seed of the random numbers for jitter.
    pub seed: u64,
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

pub struct ApiClient {
    config: ClientConfig,
    limiter: RateLimiter,
    cost: Mutex<RequestCost>,
    source_time: Mutex<SourceTimeTracker>,
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

impl ApiClient {
    pub fn new(config: ClientConfig, store: StoreWriter, principal: &str) -> Self {
        let settings = LimiterConfig {
            clock: Arc::clone(&config.clock),
            crash_points: config.crash_points.clone(),
            progress: config.progress.clone(),
            pace: config.pace,
            reserve_percent: config.reserve_percent,
            seed: config.seed,
        };
        let limiter = RateLimiter::new(store, principal, settings);
        Self {
            config,
            limiter,
            cost: Mutex::default(),
            source_time: Mutex::default(),
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
    pub fn principal(&self) -> String {
        self.limiter.principal()
    }

    /// Sets the principal whose rate limits apply from now on.
    pub(crate) fn set_principal(&self, principal: String) {
        self.limiter.set_principal(principal);
    }

    pub(crate) fn jitter(&self) -> Jitter {
        self.limiter.jitter()
    }

    /// Sends a GraphQL query until it succeeds, for as many rows as the server can serve at once.
    ///
    /// `size` is the number of rows to request: it shrinks when the server cannot serve them, and grows when it can.
    /// `query` and `read` get the number of the current attempt.
    pub(crate) async fn query_graphql<T>(
        &self,
        policy: RetryPolicy<'_>,
        size: &mut u32,
        query: impl Fn(u32) -> GraphqlQuery,
        read: impl Fn(&graphql::GraphqlResponse, i64, u32) -> Result<T, SourceError>,
    ) -> Result<T, FetchError> {
        self.send_with_retries(
            GRAPHQL_CODEC,
            policy,
            size,
            |size| self.config.endpoint.build_request(&query(size)),
            read,
        )
        .await
    }

    /// Sends a REST request in the same way.
    pub(crate) async fn query_rest<T>(
        &self,
        policy: RetryPolicy<'_>,
        size: &mut u32,
        get: impl Fn(u32) -> RestRequest,
        read: impl Fn(&rest::RestResponse, i64, u32) -> Result<T, SourceError>,
    ) -> Result<T, FetchError> {
        self.send_with_retries(
            REST_CODEC,
            policy,
            size,
            |size| self.config.rest.build_request(&get(size)),
            |response, request_id, size| {
                let is_unchanged = response.content == RestContent::NotModified;
                lock_unpoisoned(&self.cost).not_modified += u64::from(is_unchanged);
                read(response, request_id, size)
            },
        )
        .await
    }

    async fn send_with_retries<A, T>(
        &self,
        codec: ApiCodec<A>,
        policy: RetryPolicy<'_>,
        size: &mut u32,
        request: impl Fn(u32) -> HttpRequest,
        read: impl Fn(&A, i64, u32) -> Result<T, SourceError>,
    ) -> Result<T, FetchError> {
        let mut state = RetryState::default();
        loop {
            *size = (*size).min(self.config.largest_page);
            let request = request(*size);
            let may_be_free = request.is_conditional();
            let wanted = PermitRequest { api: codec.api, class: policy.class, may_be_free };
            let permit = self.acquire_permit(wanted).await?;
            let (request_id, began_ms) = (permit.request_id, self.clock().now_ms());
            let result = self
                .send_once(codec, request, permit, |response| read(response, request_id, *size))
                .await?;
            state.add_active_ms(self.clock().now_ms() - began_ms, policy);
            let error = match result {
                Ok(page) => {
                    policy.reset_budget();
                    *size = page_size::grow_page(*size, self.config.largest_page);
                    return Ok(page);
                }
                Err(error) => error,
            };
            let is_first_contact = error.is_unreachable() && !self.has_been_reached();
            let policy = if is_first_contact { RetryPolicy::FIRST_CONTACT } else { policy };
            let Some(wait) = state.next_delay(&error, policy, size, self.jitter()) else {
                if is_first_contact {
                    return Err(FetchError::Source(error));
                }
                return Err(FetchError::Source(
                    self.classify_timeout(error.into_permanent()).await?,
                ));
            };
            tracing::debug!(%error, wait, "retrying");
            lock_unpoisoned(&self.cost).retries += 1;
            self.progress().emit(|| ProgressEvent::RetryScheduled {
                reason: error.to_string(),
                wait_ms: wait,
            });
            self.clock().sleep_until(self.clock().now_ms() + wait).await;
        }
    }

    async fn acquire_permit(&self, wanted: PermitRequest) -> Result<RequestPermit<'_>, SyncError> {
        loop {
            match self.limiter.acquire_permit(wanted).await? {
                PermitOutcome::Granted(permit) => return Ok(permit),
                PermitOutcome::ReviewReserve { until_ms } => {
                    self.review_reserve(wanted.api, until_ms).await?;
                }
            }
        }
    }

    /// Lifts a pause that only the reserve of this API caused, if the source reports that enough of it is left.
    ///
    /// `/rate_limit` is free, and the one request that may start during a pause.
    async fn review_reserve(&self, api: ApiKind, until_ms: i64) -> Result<(), SyncError> {
        // several requests may meet the pause at once: one of them asks, the others wait for the answer
        let _one_at_a_time = self.reserve_review.lock().await;
        if self.limiter.is_reviewed(api, until_ms) {
            return Ok(());
        }
        let RestEndpoint { url, token } = &self.config.rest;
        let response = self.exchange_in_time(token_info::budgets_request(url, token)).await;
        let budgets = response.and_then(|response| token_info::read_budgets(&response));
        let is_free = budgets.is_ok_and(|budgets| {
            budgets
                .iter()
                .filter(|budget| budget.bucket == api.bucket())
                .all(|budget| !self.limiter.is_within_reserve(budget.used, budget.limit))
        });
        if is_free {
            tracing::info!("the budget allows requests again; lifting the pause for the reserve");
            self.limiter.lift_reserve(api, until_ms)?;
        } else {
            self.limiter.keep_reserve(api, until_ms);
        }
        Ok(())
    }

    /// After a network failure, pings the API to tell a dead connection from a request that the server cannot
    /// answer.
    async fn classify_timeout(&self, error: SourceError) -> Result<SourceError, FetchError> {
        if !error.is_network_error() {
            return Ok(error);
        }
        let wanted = PermitRequest {
            api: ApiKind::Graphql,
            class: RequestClass::Mirror,
            may_be_free: false,
        };
        let permit = self.acquire_permit(wanted).await?;
        let ping = self.config.endpoint.build_request(&graphql::ping_query());
        let result = self.send_once(GRAPHQL_CODEC, ping, permit, |_| Ok(())).await?;
        Ok(match result {
            Ok(()) => SourceError::Server(format!("{error}, while other requests succeed")),
            Err(_) => error,
        })
    }

    /// Sends one request and reads its response. The outer error ends the run.
    async fn send_once<A, T>(
        &self,
        codec: ApiCodec<A>,
        request: HttpRequest,
        permit: RequestPermit<'_>,
        read: impl Fn(&A) -> Result<T, SourceError>,
    ) -> Result<Result<T, SourceError>, FetchError> {
        lock_unpoisoned(&self.cost).requests += 1;
        let response = self.exchange_in_time(request).await;
        let decoded = response.and_then(|response| (codec.decode)(&response));
        let result = match decoded {
            Ok(mut decoded) => {
                let recorded =
                    self.record_response(codec.api, (codec.response_meta)(&mut decoded))?;
                recorded.and_then(|()| read(&decoded))
            }
            Err(error) => Err(error),
        };
        if result.is_ok() {
            self.progress().emit(|| ProgressEvent::ResponseReceived);
        }
        if permit.settle(result.as_ref().err())? == ConnectionAdvice::Reset {
            tracing::warn!("three requests in a row failed; opening new connections");
            self.config.transport.reset_connections();
        }
        self.config.crash_points.pass_point(crash_points::AFTER_ANSWER)?;
        Ok(result)
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

    /// Records the source's time and rate limit usage from a response, and replaces the response's date by the
    /// trusted one.
    ///
    /// The inner error is a date that fell back: the next response shows whether the clock was set back.
    fn record_response(
        &self,
        api: ApiKind,
        meta: &mut ResponseMeta,
    ) -> Result<Result<(), SourceError>, SyncError> {
        match self.source_time().read_date(meta.date, self.clock()) {
            Ok(date) => {
                meta.ahead_ms = meta.date.0.saturating_sub(date.0);
                meta.date = date;
            }
            Err(by_ms) => {
                let by_s = by_ms / 1_000;
                return Ok(Err(SourceError::Server(format!("its clock fell back by {by_s} s"))));
            }
        }
        let mut cost = lock_unpoisoned(&self.cost);
        cost.replaced_characters += u64::from(meta.replaced_chars);
        cost.points += meta.cost;
        drop(cost);
        match &meta.limit_sample {
            Some(sample) => self.limiter.observe_usage(api, sample, meta.date).map(Ok),
            None => Ok(Ok(())),
        }
    }
}
