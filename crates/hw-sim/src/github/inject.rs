//! Applies faults to requests.

use super::graphql::InlineFault;
use super::quotas::LimitSignal;
use super::{
    AdmittedRequest, DeliveryMode, HttpReply, LONGEST_WAIT_S, ServedResponse, SimulatedGitHub,
};
use crate::faults::ApiFault;

/// GitHub gives up after ten seconds.
const GATEWAY_TIMEOUT_MS: u64 = 10_000;

pub(super) const NOT_ACCESSIBLE_MESSAGE: &str = "Resource not accessible by personal access token";

/// The faults of requests that are too heavy, in turn.
const TOO_HEAVY_FAULTS: [ApiFault; 3] =
    [ApiFault::BadGateway, ApiFault::GatewayTimeout, ApiFault::ResourceLimits];

/// One of the sites in a response that a fault can hit.
struct FaultSite {
    index: usize,
    /// Decides between variants of the fault.
    random_value: usize,
}

impl SimulatedGitHub {
    /// Serves the request with this fault; returns `None` if the fault cannot happen in this response.
    pub(super) fn inject_fault(
        &mut self,
        fault: ApiFault,
        admitted: &AdmittedRequest<'_>,
    ) -> Option<ServedResponse> {
        match fault {
            ApiFault::BadGateway => self.serve_gateway_error(admitted, 502, admitted.latency_ms),
            ApiFault::GatewayTimeout => self.serve_gateway_error(admitted, 504, GATEWAY_TIMEOUT_MS),
            ApiFault::SecondaryWithRetryAfter => {
                let wait_s = self.rng.i64(5..=90);
                Some(self.serve_limit(LimitSignal::RetryAfter, admitted, wait_s))
            }
            ApiFault::SecondaryWithoutHeaders => {
                Some(self.serve_limit(LimitSignal::Headerless, admitted, LONGEST_WAIT_S))
            }
            ApiFault::SecondaryAs200 => {
                Some(self.serve_limit(LimitSignal::As200, admitted, LONGEST_WAIT_S))
            }
            ApiFault::PrimaryExhausted => self.serve_exhausted(LimitSignal::Primary, admitted),
            ApiFault::PrimaryExhaustedLegacy => {
                self.serve_exhausted(LimitSignal::PrimaryOld, admitted)
            }
            ApiFault::Reset => self.serve_undelivered(admitted, DeliveryMode::Reset),
            ApiFault::Stall => self.serve_undelivered(admitted, DeliveryMode::Never),
            ApiFault::Truncated => self.serve_undelivered(admitted, DeliveryMode::Half),
            ApiFault::NotFoundOnce if admitted.query.is_none() => {
                (admitted.request.method == "GET" && !admitted.is_free).then(|| {
                    ServedResponse::from_reply(
                        HttpReply::from_message(404, "Not Found"),
                        0,
                        admitted.latency_ms,
                    )
                })
            }
            ApiFault::NotFoundOnce
            | ApiFault::ResourceLimits
            | ApiFault::PartialError
            | ApiFault::BadNode => self.serve_inline_fault(fault, admitted),
            ApiFault::Unauthorized => {
                let reply = HttpReply::from_message(401, "Bad credentials").without_quota_headers();
                Some(ServedResponse::from_reply(reply, 0, admitted.latency_ms))
            }
            ApiFault::Forbidden => self.serve_forbidden(admitted),
            ApiFault::HtmlInsteadOfJson => {
                Some(ServedResponse::from_reply(HttpReply::html_page(200), 0, admitted.latency_ms))
            }
        }
    }

    /// Fails a request that is heavier than the service can answer: on every retry, but each time with another fault.
    pub(super) fn serve_too_heavy(
        &mut self,
        admitted: &AdmittedRequest<'_>,
    ) -> Option<ServedResponse> {
        if admitted.fault_target().weight <= self.max_request_weight? {
            return None;
        }
        let fault = TOO_HEAVY_FAULTS[usize::try_from(self.too_heavy_count % 3).unwrap_or(0)];
        let served = if fault == ApiFault::ResourceLimits {
            // a random value below four leaves all roots unanswered
            self.serve_inline_fault_at(fault, admitted, |rng, _| FaultSite {
                index: 0,
                random_value: rng.usize(0..4),
            })?
        } else {
            self.inject_fault(fault, admitted)?
        };
        self.too_heavy_count += 1;
        self.faults.count_fault(fault);
        Some(ServedResponse { fault: Some(fault), ..served })
    }

    /// Refuses a request while quota remains, so that no client may mistake it for a limit.
    fn serve_forbidden(&mut self, admitted: &AdmittedRequest<'_>) -> Option<ServedResponse> {
        let remaining = self.quotas.quota_status(admitted.resource, admitted.now_ms).remaining();
        if admitted.is_free || remaining <= admitted.points() {
            return None;
        }
        if admitted.query.is_some() && self.rng.bool() {
            return self.serve_inline_fault(ApiFault::Forbidden, admitted);
        }
        self.quotas.charge_points(admitted.resource, admitted.points(), admitted.now_ms);
        Some(ServedResponse::from_reply(
            HttpReply::from_message(403, NOT_ACCESSIBLE_MESSAGE),
            admitted.points(),
            admitted.latency_ms,
        ))
    }

    /// Serves a gateway's error, which reveals nothing about what the server behind it did or charged.
    fn serve_gateway_error(
        &mut self,
        admitted: &AdmittedRequest<'_>,
        status: u16,
        latency_ms: u64,
    ) -> Option<ServedResponse> {
        let hidden = self.run_before_loss(admitted)?;
        self.quotas.record_timeout(admitted.resource);
        let reply = if self.rng.bool() {
            HttpReply::html_page(status)
        } else {
            let message = "Something went wrong while executing your query. This may be the \
                           result of a timeout, or it could be a GitHub bug.";
            let body = serde_json::json!({ "data": null, "errors": [{ "message": message }] });
            HttpReply::from_json(status, body.to_string()).without_quota_headers()
        };
        Some(ServedResponse::from_reply(reply, hidden.points, latency_ms))
    }

    /// Serves a good response that does not arrive completely.
    fn serve_undelivered(
        &mut self,
        admitted: &AdmittedRequest<'_>,
        delivery: DeliveryMode,
    ) -> Option<ServedResponse> {
        self.run_before_loss(admitted).map(|served| ServedResponse { delivery, ..served })
    }

    /// Does what the server does before the response is lost: it always reads, and writes every other time.
    ///
    /// A response that reports a limit is never lost, because the limit applies from its arrival.
    fn run_before_loss(&mut self, admitted: &AdmittedRequest<'_>) -> Option<ServedResponse> {
        let remaining = self.quotas.quota_status(admitted.resource, admitted.now_ms).remaining();
        if remaining < admitted.points() {
            return None;
        }
        let reads = admitted.query.is_some() || admitted.request.method == "GET";
        if reads || self.rng.bool() {
            return Some(self.serve_without_fault(admitted));
        }
        Some(ServedResponse::from_reply(
            HttpReply::from_json(200, "{}".to_owned()),
            0,
            admitted.latency_ms,
        ))
    }

    fn serve_exhausted(
        &mut self,
        signal: LimitSignal,
        admitted: &AdmittedRequest<'_>,
    ) -> Option<ServedResponse> {
        if admitted.is_free {
            return None;
        }
        self.quotas.exhaust_quota(admitted.resource, admitted.now_ms);
        Some(self.serve_limit(signal, admitted, LONGEST_WAIT_S))
    }

    fn serve_inline_fault(
        &mut self,
        fault: ApiFault,
        admitted: &AdmittedRequest<'_>,
    ) -> Option<ServedResponse> {
        self.serve_inline_fault_at(fault, admitted, |rng, site_count| FaultSite {
            index: rng.usize(0..site_count),
            random_value: rng.usize(0..1000),
        })
    }

    fn serve_inline_fault_at(
        &mut self,
        fault: ApiFault,
        admitted: &AdmittedRequest<'_>,
        choose_site: impl FnOnce(&mut fastrand::Rng, usize) -> FaultSite,
    ) -> Option<ServedResponse> {
        let query = admitted.query.as_ref()?;
        let quota = self.quotas.quota_status(admitted.resource, admitted.now_ms);
        let at_ms = self.pick_replica_time();
        let site_count = query.count_fault_sites(self.replica_view_at(at_ms), quota, fault);
        if site_count == 0
            || !self.quotas.charge_points(admitted.resource, admitted.points(), admitted.now_ms)
        {
            return None;
        }
        let site = choose_site(&mut self.rng, site_count);
        let inline_fault = InlineFault::at_site(fault, site.index, site.random_value);
        let quota = self.quotas.quota_status(admitted.resource, admitted.now_ms);
        let result = query.execute(self.replica_view_at(at_ms), quota, inline_fault);
        result.has_fault.then(|| self.served_from_execution(result, admitted))
    }
}
