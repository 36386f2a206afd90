//! The simulated service: turns the bytes of a request into a response.

mod admission;
mod graphql;
mod inject;
mod quotas;
mod reply;
pub(crate) mod request;
mod request_log;
mod rest;
mod scheduled_action;
mod token;
mod wrong_answers;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::faults::{ApiFault, FaultInjector, FaultRates};
use crate::world::{ReplicaView, World};
use crate::world_spec::WorldSpec;
use admission::AdmittedRequest;
use graphql::{ExecutionResult, InlineFault, PreparedQuery};
use quotas::{LimitSignal, QuotaResource, QuotaTracker};
use reply::HttpReply;
use request::ReceivedRequest;
pub use request_log::{RequestEntry, RequestKind, RequestLog, ServedPage};
use scheduled_action::ScheduledAction;
pub use token::TokenSpec;
use wrong_answers::WrongAnswers;
pub use wrong_answers::{PaginationLoop, TokenEcho};

/// Longer than any limit lasts: a client that tries again gets the full remaining wait.
const LONGEST_WAIT_S: i64 = 86_400;

/// World, replicas, limits and faults. Not `Clone`, because there is one truth.
#[derive(Debug)]
pub struct SimulatedGitHub {
    world: World,
    quotas: QuotaTracker,
    faults: FaultInjector,
    log: RequestLog,
    rng: fastrand::Rng,
    replica_lag_ms: u64,
    latency_ms: RangeInclusive<u64>,
    max_request_weight: Option<u64>,
    /// Starts at the seed and counts the requests that were too heavy.
    too_heavy_count: u64,
    /// The random numbers for clocks that disagree, if they do.
    skew_rng: Option<fastrand::Rng>,
    logs_pages: bool,
    hides_nodes: bool,
    broken_node: Option<String>,
    wrong_answers: WrongAnswers,
    token: TokenSpec,
    scheduled_actions: Vec<ScheduledAction>,
    now_ms: i64,
}

/// A response, and the time until it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DelayedResponse {
    pub latency_ms: u64,
    pub outcome: WireOutcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WireOutcome {
    /// A full HTTP/1.1 response with its `Content-Length`.
    Response(Vec<u8>),
    /// Less than `Content-Length` promises; then the connection closes.
    Truncated(Vec<u8>),
    Reset,
    /// No response, ever.
    Stall,
}

/// The part of a response that arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeliveryMode {
    Whole,
    Half,
    Reset,
    Never,
}

/// A response to be sent, with the data for the log.
#[derive(Debug)]
struct ServedResponse {
    reply: HttpReply,
    delivery: DeliveryMode,
    points: u32,
    fault: Option<ApiFault>,
    latency_ms: u64,
    pages: Vec<ServedPage>,
}

impl ServedResponse {
    fn from_reply(reply: HttpReply, points: u32, latency_ms: u64) -> Self {
        Self {
            reply,
            delivery: DeliveryMode::Whole,
            points,
            fault: None,
            latency_ms,
            pages: Vec::new(),
        }
    }
}

impl SimulatedGitHub {
    /// Creates a service with a world of its own, the same for the same seed.
    #[must_use]
    pub fn new(spec: &WorldSpec, seed: u64) -> Self {
        Self {
            world: World::from_spec(spec, seed),
            quotas: QuotaTracker::new(&spec.limits, spec.clock_jitter),
            faults: FaultInjector::new(spec.faults.clone()),
            log: RequestLog::default(),
            rng: fastrand::Rng::with_seed(seed ^ 0x5bd1_e995_9d1b_54a5),
            replica_lag_ms: spec.replica_lag_ms,
            latency_ms: spec.latency_ms.clone(),
            max_request_weight: spec.max_request_weight,
            too_heavy_count: seed % 3,
            skew_rng: spec
                .clock_jitter
                .then(|| fastrand::Rng::with_seed(seed ^ 0x27d4_eb2f_1656_67c5)),
            logs_pages: false,
            hides_nodes: false,
            broken_node: None,
            wrong_answers: WrongAnswers::default(),
            token: TokenSpec::classic(),
            scheduled_actions: Vec::new(),
            now_ms: spec.start_ms,
        }
    }

    /// Answers a full HTTP/1.1 request that arrives at `now_ms`. Time never goes back: an earlier time counts as the
    /// latest one.
    pub fn handle_request(&mut self, request: &[u8], now_ms: i64) -> DelayedResponse {
        self.advance_to(now_ms);
        let latency_ms = self.rng.u64(self.latency_ms.clone());
        let Some(request) = ReceivedRequest::parse(request) else {
            let reply = HttpReply::html_page(400);
            let bytes = reply.to_bytes(self.now_ms.saturating_add_unsigned(latency_ms), 0);
            return DelayedResponse { latency_ms, outcome: WireOutcome::Response(bytes) };
        };
        self.answer_request(&request, latency_ms)
    }

    /// Lets the users act up to this time.
    pub fn advance_to(&mut self, now_ms: i64) {
        self.now_ms = self.now_ms.max(now_ms);
        self.world.advance_to(self.now_ms);
    }

    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// Makes the next `times` requests that can meet this fault do so.
    pub fn arm_fault(&mut self, fault: ApiFault, times: u32) {
        self.faults.arm_fault(fault, times);
    }

    /// Replaces the fault rates and discards all armed faults.
    pub fn set_fault_rates(&mut self, rates: FaultRates) {
        self.faults.replace_rates(rates);
    }

    /// Turns on logging of the content of each page; it is off by default, because large runs would log too much.
    pub fn set_page_logging(&mut self, is_enabled: bool) {
        self.logs_pages = is_enabled;
    }

    /// Hides all repositories and their content from lookups by node id, as for a token that lost some of its rights;
    /// the organization's listing still contains everything.
    pub fn set_nodes_hidden(&mut self, are_hidden: bool) {
        self.hides_nodes = are_hidden;
    }

    /// Makes every request that names this node fail, as when one repository's replica is down; `None` ends this.
    pub fn set_broken_node(&mut self, node_id: Option<&str>) {
        self.broken_node = node_id.map(str::to_owned);
    }

    /// Returns how often each fault fired.
    #[must_use]
    pub fn fired_faults(&self) -> &BTreeMap<ApiFault, u64> {
        self.faults.fired_counts()
    }

    #[must_use]
    pub fn request_log(&self) -> &RequestLog {
        &self.log
    }

    /// Returns the number of requests that arrived between a limit being reported to the client and its end.
    #[must_use]
    pub fn requests_while_limited(&self) -> u64 {
        self.quotas.requests_while_limited
    }

    fn answer_request(
        &mut self,
        request: &ReceivedRequest<'_>,
        latency_ms: u64,
    ) -> DelayedResponse {
        let resource =
            if request.is_graphql() { QuotaResource::GraphQl } else { QuotaResource::Core };
        let skew_s = self.skew_rng.as_mut().map_or(0, |rng| rng.i64(-1..=1));
        self.quotas.set_clock_skew(skew_s);
        let (served, summary) = match self.admit_request(request, resource, latency_ms) {
            Ok(admitted) => {
                let summary = admitted.query.as_ref().map(PreparedQuery::summary);
                (self.serve_request(&admitted), summary)
            }
            Err(refused) => (*refused, None),
        };
        let summary =
            summary.unwrap_or_else(|| format!("{} {}", request.method, request.path_and_query()));
        let response = self.send_response(served, resource, summary.clone());
        self.perform_scheduled_actions(&summary);
        response
    }

    fn serve_request(&mut self, admitted: &AdmittedRequest<'_>) -> ServedResponse {
        if let Some(served) =
            self.refuse_without_sign_on(admitted).or_else(|| self.serve_too_heavy(admitted))
        {
            return served;
        }
        if let Some(served) = self.serve_token_echo(admitted) {
            return served;
        }
        if self.mentions_broken_node(admitted)
            && let Some(served) = self.inject_fault(ApiFault::BadGateway, admitted)
        {
            self.faults.count_fault(ApiFault::BadGateway);
            return ServedResponse { fault: Some(ApiFault::BadGateway), ..served };
        }
        for fault in self.faults.candidate_faults(admitted.fault_target(), &mut self.rng) {
            if let Some(served) = self.inject_fault(fault, admitted) {
                self.faults.record_fired(fault);
                return ServedResponse { fault: Some(fault), ..served };
            }
        }
        self.serve_without_fault(admitted)
    }

    fn mentions_broken_node(&self, admitted: &AdmittedRequest<'_>) -> bool {
        let body = admitted.request.body;
        self.broken_node
            .as_ref()
            .is_some_and(|id| body.windows(id.len()).any(|part| part == id.as_bytes()))
    }

    /// Serves the request as if there were no faults.
    fn serve_without_fault(&mut self, admitted: &AdmittedRequest<'_>) -> ServedResponse {
        let Some(query) = &admitted.query else { return self.serve_rest(admitted) };
        if !self.quotas.charge_points(admitted.resource, admitted.points(), admitted.now_ms) {
            return self.serve_limit(LimitSignal::Primary, admitted, LONGEST_WAIT_S);
        }
        let quota = self.quotas.quota_status(admitted.resource, admitted.now_ms);
        let at_ms = self.pick_replica_time();
        self.served_from_execution(
            query.execute(self.replica_view_at(at_ms), quota, InlineFault::none()),
            admitted,
        )
    }

    fn served_from_execution(
        &self,
        result: ExecutionResult,
        admitted: &AdmittedRequest<'_>,
    ) -> ServedResponse {
        let pages = if self.logs_pages { result.pages } else { Vec::new() };
        let reply = HttpReply::from_json(200, result.body);
        ServedResponse {
            pages,
            ..ServedResponse::from_reply(reply, admitted.points(), admitted.latency_ms)
        }
    }

    fn replica_view_at(&self, at_ms: i64) -> ReplicaView<'_> {
        let view = self.world.view_at(at_ms).with_hidden_nodes(self.hides_nodes);
        view.with_forbidden_lists(&self.wrong_answers.forbidden_lists)
            .with_pagination_loop(self.wrong_answers.pagination_loop)
    }

    fn serve_limit(
        &mut self,
        signal: LimitSignal,
        admitted: &AdmittedRequest<'_>,
        wait_s: i64,
    ) -> ServedResponse {
        let reply = self.quotas.impose_limit(
            signal,
            admitted.resource,
            admitted.now_ms,
            admitted.sent_ms(),
            wait_s,
        );
        ServedResponse::from_reply(reply, 0, admitted.latency_ms)
    }

    /// Picks the time of the replica that serves the request: half of them do not lag at all.
    fn pick_replica_time(&mut self) -> i64 {
        if let Some(lag) = self.wrong_answers.replica_lags_ms.pop_front() {
            self.wrong_answers.served_count += u64::from(lag > 0);
            return self.now_ms.saturating_sub_unsigned(lag);
        }
        if self.replica_lag_ms == 0 || self.rng.bool() {
            return self.now_ms;
        }
        let lag = self.rng.u64(0..=self.replica_lag_ms);
        self.now_ms.saturating_sub_unsigned(lag)
    }

    fn send_response(
        &mut self,
        served: ServedResponse,
        resource: QuotaResource,
        summary: String,
    ) -> DelayedResponse {
        let ServedResponse { mut reply, delivery, points, fault, latency_ms, pages } = served;
        self.apply_overrides(&mut reply);
        let sent_ms = self.now_ms.saturating_add_unsigned(latency_ms);
        if reply.has_quota_headers {
            self.add_quota_headers(&mut reply, resource);
            self.add_token_headers(&mut reply);
            if delivery == DeliveryMode::Whole {
                self.quotas.record_reported_reset(resource, self.now_ms);
            }
        }
        self.quotas.track_in_flight(sent_ms);
        let arrives = matches!(delivery, DeliveryMode::Whole | DeliveryMode::Half);
        self.log.record_entry(RequestEntry {
            at_ms: self.now_ms,
            kind: if resource == QuotaResource::GraphQl {
                RequestKind::GraphQl
            } else {
                RequestKind::Rest
            },
            summary,
            status: if arrives { reply.status } else { 0 },
            points,
            fault,
            pages: if delivery == DeliveryMode::Whole { pages } else { Vec::new() },
        });
        let ahead_ms = self.skew_rng.as_mut().map_or(0, |rng| if rng.bool() { 1000 } else { 0 });
        let wrong_ms = self.wrong_answers.date_offsets_ms.pop_front().unwrap_or(0);
        self.wrong_answers.served_count += u64::from(wrong_ms != 0);
        let date_ms = sent_ms + ahead_ms + self.world.clock_offset_ms() + wrong_ms;
        let bytes = reply.to_bytes(date_ms, self.log.total);
        let outcome = match delivery {
            DeliveryMode::Whole => WireOutcome::Response(bytes),
            DeliveryMode::Half => WireOutcome::Truncated(truncate_half(bytes, reply.body.len())),
            DeliveryMode::Reset => WireOutcome::Reset,
            DeliveryMode::Never => WireOutcome::Stall,
        };
        DelayedResponse { latency_ms, outcome }
    }

    /// Converts a time to the service's own clock.
    fn to_service_clock(&self, second: i64) -> i64 {
        second + self.world.clock_offset_ms().div_euclid(1000)
    }

    fn add_quota_headers(&mut self, reply: &mut HttpReply, resource: QuotaResource) {
        let quota = self.quotas.quota_status(resource, self.now_ms);
        let name = if resource == QuotaResource::GraphQl { "graphql" } else { "core" };
        reply.headers.extend([
            ("X-RateLimit-Limit", quota.limit.to_string()),
            ("X-RateLimit-Remaining", quota.remaining().to_string()),
            ("X-RateLimit-Used", quota.used.to_string()),
            ("X-RateLimit-Reset", self.to_service_clock(quota.reset_s).to_string()),
            ("X-RateLimit-Resource", name.to_owned()),
        ]);
    }
}

/// Keeps the head and half of the body; at least one byte is missing.
pub(crate) fn truncate_half(mut bytes: Vec<u8>, body: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - body.div_ceil(2).max(1));
    bytes
}
