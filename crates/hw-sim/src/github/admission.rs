//! Decides whether a request is served at all: checks its headers, the limits and the query.

use super::graphql::PreparedQuery;
use super::quotas::{LimitSignal, QuotaResource};
use super::reply::HttpReply;
use super::request::ReceivedRequest;
use super::{LONGEST_WAIT_S, ServedResponse, SimulatedGitHub};
use crate::faults::FaultTarget;

/// A request that passed all checks.
pub(super) struct AdmittedRequest<'r> {
    pub(super) request: &'r ReceivedRequest<'r>,
    /// The query of a GraphQL request.
    pub(super) query: Option<PreparedQuery>,
    pub(super) resource: QuotaResource,
    /// True if it does not count against the hourly quota.
    pub(super) is_free: bool,
    pub(super) now_ms: i64,
    pub(super) latency_ms: u64,
}

impl AdmittedRequest<'_> {
    pub(super) fn sent_ms(&self) -> i64 {
        self.now_ms.saturating_add_unsigned(self.latency_ms)
    }

    pub(super) fn points(&self) -> u32 {
        match &self.query {
            Some(query) => query.cost.points,
            None => u32::from(!self.is_free),
        }
    }

    pub(super) fn fault_target(&self) -> FaultTarget {
        let weight = self.query.as_ref().map_or(0, |query| query.cost.weight);
        FaultTarget { is_graphql: self.query.is_some(), weight }
    }
}

impl SimulatedGitHub {
    /// Checks a request, in the same order as GitHub.
    pub(super) fn admit_request<'r>(
        &mut self,
        request: &'r ReceivedRequest<'r>,
        resource: QuotaResource,
        latency_ms: u64,
    ) -> Result<AdmittedRequest<'r>, Box<ServedResponse>> {
        self.check_request(request, resource, latency_ms)
            .map_err(|reply| Box::new(ServedResponse::from_reply(reply, 0, latency_ms)))
    }

    fn check_request<'r>(
        &mut self,
        request: &'r ReceivedRequest<'r>,
        resource: QuotaResource,
        latency_ms: u64,
    ) -> Result<AdmittedRequest<'r>, HttpReply> {
        if request.header("user-agent").is_none_or(str::is_empty) {
            let message = "Request forbidden by administrative rules. Please make sure your \
                           request has a User-Agent header.";
            return Err(HttpReply::from_message(403, message).without_quota_headers());
        }
        if !has_token(request) {
            return Err(HttpReply::from_message(401, "Bad credentials").without_quota_headers());
        }
        let (now_ms, is_free) = (self.now_ms, request.path == "/rate_limit");
        let sent_ms = now_ms.saturating_add_unsigned(latency_ms);
        if let Some(signal) = self.quotas.find_ignored_limit(resource, is_free, now_ms) {
            let wait_s = LONGEST_WAIT_S;
            return Err(self.quotas.impose_limit(signal, resource, now_ms, sent_ms, wait_s));
        }
        let points = if request.method == "GET" || request.is_graphql() { 1 } else { 5 };
        if self.quotas.exceeds_secondary_limit(resource, points, now_ms) {
            let signal = LimitSignal::RetryAfter;
            return Err(self.quotas.impose_limit(signal, resource, now_ms, sent_ms, 60));
        }
        let query =
            if request.is_graphql() { Some(PreparedQuery::from_body(request.body)?) } else { None };
        Ok(AdmittedRequest { request, query, resource, is_free, now_ms, latency_ms })
    }
}

fn has_token(request: &ReceivedRequest<'_>) -> bool {
    let header = request.header("authorization").unwrap_or_default();
    let Some((scheme, token)) = header.split_once(' ') else { return false };
    let is_known = scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token");
    is_known && !token.trim().is_empty()
}
