//! What each fault does to a visit.

use super::graphql::Sabotage;
use super::limits::Signal;
use super::{Delivery, GitHub, LONG_S, Reply, Served, Visit};
use crate::faults::Fault;

/// GitHub gives up after ten seconds.
const GIVES_UP_MS: u64 = 10_000;

pub(super) const NOT_ACCESSIBLE: &str = "Resource not accessible by personal access token";

/// How a request that is too much fails, in turn.
const TOO_MUCH: [Fault; 3] = [Fault::BadGateway, Fault::GatewayTimeout, Fault::ResourceLimits];

impl GitHub {
    /// The spoiled answer; `None` when there is no place for the fault in this one.
    pub(super) fn strike(&mut self, fault: Fault, visit: &Visit<'_>) -> Option<Served> {
        match fault {
            Fault::BadGateway => self.failed(visit, 502, visit.latency_ms),
            Fault::GatewayTimeout => self.failed(visit, 504, GIVES_UP_MS),
            Fault::SecondaryWithRetryAfter => {
                let wait_s = self.dice.i64(5..=90);
                Some(self.tell(Signal::RetryAfter, visit, wait_s))
            }
            Fault::SecondaryWithoutHeaders => Some(self.tell(Signal::Headerless, visit, LONG_S)),
            Fault::SecondaryAs200 => Some(self.tell(Signal::As200, visit, LONG_S)),
            Fault::PrimaryExhausted => self.exhausted(Signal::Primary, visit),
            Fault::RateLimited200Old => self.exhausted(Signal::PrimaryOld, visit),
            Fault::Reset => self.lost(visit, Delivery::Reset),
            Fault::Stall => self.lost(visit, Delivery::Never),
            Fault::Truncated => self.lost(visit, Delivery::Half),
            Fault::NotFoundOnce if visit.call.is_none() => (visit.request.method == "GET"
                && !visit.free)
                .then(|| Served::whole(Reply::message(404, "Not Found"), 0, visit.latency_ms)),
            Fault::NotFoundOnce | Fault::ResourceLimits | Fault::PartialError | Fault::BadNode => {
                self.sabotaged(fault, visit)
            }
            Fault::Unauthorized => {
                let reply = Reply::message(401, "Bad credentials").without_quota();
                Some(Served::whole(reply, 0, visit.latency_ms))
            }
            Fault::Forbidden => self.forbidden(visit),
            Fault::HtmlInsteadOfJson => Some(Served::whole(Reply::html(200), 0, visit.latency_ms)),
        }
    }

    /// The failure of a request above the heaviest that can be answered: the same for every retry,
    /// but in another guise.
    pub(super) fn too_much(&mut self, visit: &Visit<'_>) -> Option<Served> {
        if visit.target().weight <= self.heaviest? {
            return None;
        }
        let fault = TOO_MUCH[usize::try_from(self.too_heavy % 3).unwrap_or(0)];
        let served = if fault == Fault::ResourceLimits {
            // a roll below four answers no root at all
            self.sabotaged_at(fault, visit, |dice, _| (0, dice.usize(0..4)))?
        } else {
            self.strike(fault, visit)?
        };
        self.too_heavy += 1;
        self.weather.count(fault);
        Some(Served { fault: Some(fault), ..served })
    }

    /// Refused for good reason, with quota left: nobody should take it for a limit.
    fn forbidden(&mut self, visit: &Visit<'_>) -> Option<Served> {
        let left = self.gate.quota(visit.resource, visit.now_ms).remaining();
        if visit.free || left <= visit.points() {
            return None;
        }
        if visit.call.is_some() && self.dice.bool() {
            return self.sabotaged(Fault::Forbidden, visit);
        }
        self.gate.charge(visit.resource, visit.points(), visit.now_ms);
        Some(Served::whole(Reply::message(403, NOT_ACCESSIBLE), visit.points(), visit.latency_ms))
    }

    /// A gateway's answer. It tells nothing about what the server behind it did, or took.
    fn failed(&mut self, visit: &Visit<'_>, status: u16, latency_ms: u64) -> Option<Served> {
        let hidden = self.behind(visit)?;
        self.gate.timed_out(visit.resource);
        let reply = if self.dice.bool() {
            Reply::html(status)
        } else {
            let message = "Something went wrong while executing your query. This may be the \
                           result of a timeout, or it could be a GitHub bug.";
            let body = serde_json::json!({ "data": null, "errors": [{ "message": message }] });
            Reply::json(status, body.to_string()).without_quota()
        };
        Some(Served::whole(reply, hidden.points, latency_ms))
    }

    /// A good answer that does not arrive in one piece.
    fn lost(&mut self, visit: &Visit<'_>, delivery: Delivery) -> Option<Served> {
        self.behind(visit).map(|done| Served { delivery, ..done })
    }

    /// What the server did before the answer was lost: it always reads, and writes every other time.
    ///
    /// Nothing is lost where the quota is: a limit holds from the arrival of the answer that tells
    /// of it, so that answer has to arrive.
    fn behind(&mut self, visit: &Visit<'_>) -> Option<Served> {
        let left = self.gate.quota(visit.resource, visit.now_ms).remaining();
        if left < visit.points() {
            return None;
        }
        let reads = visit.call.is_some() || visit.request.method == "GET";
        if reads || self.dice.bool() {
            return Some(self.serve_well(visit));
        }
        Some(Served::whole(Reply::json(200, "{}".to_owned()), 0, visit.latency_ms))
    }

    fn exhausted(&mut self, signal: Signal, visit: &Visit<'_>) -> Option<Served> {
        if visit.free {
            return None;
        }
        self.gate.exhaust(visit.resource, visit.now_ms);
        Some(self.tell(signal, visit, LONG_S))
    }

    fn sabotaged(&mut self, fault: Fault, visit: &Visit<'_>) -> Option<Served> {
        self.sabotaged_at(fault, visit, |dice, places| (dice.usize(0..places), dice.usize(0..1000)))
    }

    fn sabotaged_at(
        &mut self,
        fault: Fault,
        visit: &Visit<'_>,
        choose: impl FnOnce(&mut fastrand::Rng, usize) -> (usize, usize),
    ) -> Option<Served> {
        let call = visit.call.as_ref()?;
        let quota = self.gate.quota(visit.resource, visit.now_ms);
        let at_ms = self.replica();
        let places = call.places(self.view(at_ms), quota, fault);
        if places == 0 || !self.gate.charge(visit.resource, visit.points(), visit.now_ms) {
            return None;
        }
        let (place, roll) = choose(&mut self.dice, places);
        let sabotage = Sabotage::at(fault, place, roll);
        let quota = self.gate.quota(visit.resource, visit.now_ms);
        let ran = call.run(self.view(at_ms), quota, sabotage);
        ran.hit.then(|| self.told(ran, visit))
    }
}
