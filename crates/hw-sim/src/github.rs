//! The simulated service: from the bytes of a request to what its client gets.

mod door;
mod graphql;
mod lies;
mod limits;
mod log;
mod reply;
mod request;
mod rest;
mod token;
mod weather;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::faults::{Fault, FaultRates, Weather};
use crate::spec::WorldSpec;
use crate::world::{View, World};
use door::Visit;
use graphql::{Call, Ran, Sabotage};
use lies::Lies;
pub use lies::{Circle, Echo};
use limits::{Gatekeeper, Resource, Signal};
pub use log::{RequestEntry, RequestKind, RequestLog, ServedPage};
use reply::Reply;
use request::Request;
pub use token::TokenSpec;

/// Longer than any limit lasts: a client that asks again is told all that is left.
const LONG_S: i64 = 86_400;

/// World, replicas, limits and weather. Not to be cloned: there is one truth.
#[derive(Debug)]
pub struct GitHub {
    world: World,
    gate: Gatekeeper,
    weather: Weather,
    log: RequestLog,
    dice: fastrand::Rng,
    replica_lag_ms: u64,
    latency_ms: RangeInclusive<u64>,
    heaviest: Option<u64>,
    /// Begins at the seed and counts the requests that were too much.
    too_heavy: u64,
    /// The dice of the clocks that disagree, if they do.
    skew: Option<fastrand::Rng>,
    keeps_pages: bool,
    hides_all: bool,
    broken_node: Option<String>,
    lies: Lies,
    token: TokenSpec,
    now_ms: i64,
}

/// What a client gets, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub latency_ms: u64,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A full HTTP/1.1 response with its `Content-Length`.
    Response(Vec<u8>),
    /// `Content-Length` promises more than this; then the connection closes.
    Truncated(Vec<u8>),
    Reset,
    /// Never answers.
    Stall,
}

/// How much of an answer arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Whole,
    Half,
    Reset,
    Never,
}

/// An answer on its way out, with what the log wants to know.
#[derive(Debug)]
struct Served {
    reply: Reply,
    delivery: Delivery,
    points: u32,
    fault: Option<Fault>,
    latency_ms: u64,
    pages: Vec<ServedPage>,
}

impl Served {
    fn whole(reply: Reply, points: u32, latency_ms: u64) -> Self {
        Self {
            reply,
            delivery: Delivery::Whole,
            points,
            fault: None,
            latency_ms,
            pages: Vec::new(),
        }
    }
}

impl GitHub {
    /// A service with a world of its own, the same for the same seed.
    #[must_use]
    pub fn new(spec: &WorldSpec, seed: u64) -> Self {
        Self {
            world: World::born(spec, seed),
            gate: Gatekeeper::new(&spec.limits, spec.jitter),
            weather: Weather::new(spec.faults.clone()),
            log: RequestLog::default(),
            dice: fastrand::Rng::with_seed(seed ^ 0x5bd1_e995_9d1b_54a5),
            replica_lag_ms: spec.replica_lag_ms,
            latency_ms: spec.latency_ms.clone(),
            heaviest: spec.heaviest,
            too_heavy: seed % 3,
            skew: spec.jitter.then(|| fastrand::Rng::with_seed(seed ^ 0x27d4_eb2f_1656_67c5)),
            keeps_pages: false,
            hides_all: false,
            broken_node: None,
            lies: Lies::default(),
            token: TokenSpec::classic(),
            now_ms: spec.start_ms,
        }
    }

    /// Answers a full HTTP/1.1 request that arrives at a moment. Time never goes back: an earlier
    /// moment counts as the latest one.
    pub fn handle(&mut self, request: &[u8], now_ms: i64) -> Answer {
        self.advance(now_ms);
        let latency_ms = self.dice.u64(self.latency_ms.clone());
        let Some(request) = Request::parse(request) else {
            let reply = Reply::html(400);
            let bytes = reply.bytes(self.now_ms.saturating_add_unsigned(latency_ms), 0);
            return Answer { latency_ms, outcome: Outcome::Response(bytes) };
        };
        self.answer(&request, latency_ms)
    }

    /// Lets the writers act up to a moment.
    pub fn advance(&mut self, now_ms: i64) {
        self.now_ms = self.now_ms.max(now_ms);
        self.world.advance(self.now_ms);
    }

    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The next so many requests that can meet this fault do.
    pub fn arm(&mut self, fault: Fault, times: u32) {
        self.weather.arm(fault, times);
    }

    /// From now on faults come by these rates alone; what was armed is forgotten.
    pub fn change_weather(&mut self, rates: FaultRates) {
        self.weather.change(rates);
    }

    /// Whether the log keeps what was on each page; big runs would drown in it.
    pub fn keep_pages(&mut self, keep: bool) {
        self.keeps_pages = keep;
    }

    /// While this is on, no repository and nothing in one is found by node id, as with a token whose
    /// rights were cut down half-way; the organisation's listing shows everything as usual.
    pub fn hide_all(&mut self, hide: bool) {
        self.hides_all = hide;
    }

    /// From now on every request that names this node fails, as when one repository's replica is down;
    /// none is well again.
    pub fn break_node(&mut self, node_id: Option<&str>) {
        self.broken_node = node_id.map(str::to_owned);
    }

    /// How often each fault really happened.
    #[must_use]
    pub fn fired(&self) -> &BTreeMap<Fault, u64> {
        self.weather.fired()
    }

    #[must_use]
    pub fn requests(&self) -> &RequestLog {
        &self.log
    }

    /// Requests that arrived after a limit had been told to the client and before it was over.
    #[must_use]
    pub fn started_while_limited(&self) -> u64 {
        self.gate.started_while_limited
    }

    fn answer(&mut self, request: &Request<'_>, latency_ms: u64) -> Answer {
        let resource = if request.is_graphql() { Resource::GraphQl } else { Resource::Core };
        let skew_s = self.skew.as_mut().map_or(0, |dice| dice.i64(-1..=1));
        self.gate.answer_with(skew_s);
        let (served, what) = match self.admit(request, resource, latency_ms) {
            Ok(visit) => {
                let what = visit.call.as_ref().map(Call::summary);
                (self.serve(&visit), what)
            }
            Err(refused) => (*refused, None),
        };
        let what = what.unwrap_or_else(|| format!("{} {}", request.method, request.target()));
        self.send(served, resource, what)
    }

    fn serve(&mut self, visit: &Visit<'_>) -> Served {
        if let Some(served) = self.ask_for_sign_on(visit).or_else(|| self.too_much(visit)) {
            return served;
        }
        if let Some(served) = self.echo(visit) {
            return served;
        }
        if self.names_broken_node(visit)
            && let Some(served) = self.strike(Fault::BadGateway, visit)
        {
            self.weather.count(Fault::BadGateway);
            return Served { fault: Some(Fault::BadGateway), ..served };
        }
        for fault in self.weather.candidates(visit.target(), &mut self.dice) {
            if let Some(served) = self.strike(fault, visit) {
                self.weather.happened(fault);
                return Served { fault: Some(fault), ..served };
            }
        }
        self.serve_well(visit)
    }

    fn names_broken_node(&self, visit: &Visit<'_>) -> bool {
        let body = visit.request.body;
        let named = |id: &String| body.windows(id.len()).any(|part| part == id.as_bytes());
        self.broken_node.as_ref().is_some_and(named)
    }

    /// The answer in fair weather.
    fn serve_well(&mut self, visit: &Visit<'_>) -> Served {
        let Some(call) = &visit.call else { return self.serve_rest(visit) };
        if !self.gate.charge(visit.resource, visit.points(), visit.now_ms) {
            return self.tell(Signal::Primary, visit, LONG_S);
        }
        let quota = self.gate.quota(visit.resource, visit.now_ms);
        let at_ms = self.replica();
        self.told(call.run(self.view(at_ms), quota, Sabotage::none()), visit)
    }

    fn told(&self, ran: Ran, visit: &Visit<'_>) -> Served {
        let pages = if self.keeps_pages { ran.pages } else { Vec::new() };
        let reply = Reply::json(200, ran.body);
        Served { pages, ..Served::whole(reply, visit.points(), visit.latency_ms) }
    }

    fn view(&self, at_ms: i64) -> View<'_> {
        let view = self.world.view(at_ms).hiding_nodes(self.hides_all);
        view.forbidding(&self.lies.forbidden).turning(self.lies.circle)
    }

    fn tell(&mut self, signal: Signal, visit: &Visit<'_>, wait_s: i64) -> Served {
        let reply = self.gate.limit(signal, visit.resource, visit.now_ms, visit.sent_ms(), wait_s);
        Served::whole(reply, 0, visit.latency_ms)
    }

    /// The moment the chosen replica stands at: half of them are not behind at all.
    fn replica(&mut self) -> i64 {
        if let Some(lag) = self.lies.replica_lags_ms.pop_front() {
            self.lies.told += u64::from(lag > 0);
            return self.now_ms.saturating_sub_unsigned(lag);
        }
        if self.replica_lag_ms == 0 || self.dice.bool() {
            return self.now_ms;
        }
        let lag = self.dice.u64(0..=self.replica_lag_ms);
        self.now_ms.saturating_sub_unsigned(lag)
    }

    fn send(&mut self, served: Served, resource: Resource, what: String) -> Answer {
        let Served { mut reply, delivery, points, fault, latency_ms, pages } = served;
        self.falsify_reply(&mut reply);
        let sent_ms = self.now_ms.saturating_add_unsigned(latency_ms);
        if reply.shows_quota {
            self.show_quota(&mut reply, resource);
            self.tell_token(&mut reply);
            if delivery == Delivery::Whole {
                self.gate.was_told(resource, self.now_ms);
            }
        }
        self.gate.under_way(sent_ms);
        let arrives = matches!(delivery, Delivery::Whole | Delivery::Half);
        self.log.note(RequestEntry {
            at_ms: self.now_ms,
            kind: if resource == Resource::GraphQl {
                RequestKind::GraphQl
            } else {
                RequestKind::Rest
            },
            what,
            status: if arrives { reply.status } else { 0 },
            points,
            fault,
            pages: if delivery == Delivery::Whole { pages } else { Vec::new() },
        });
        let ahead_ms = self.skew.as_mut().map_or(0, |dice| if dice.bool() { 1000 } else { 0 });
        let wrong_ms = self.lies.misdated_ms.pop_front().unwrap_or(0);
        self.lies.told += u64::from(wrong_ms != 0);
        let date_ms = sent_ms + ahead_ms + self.world.clock_offset_ms() + wrong_ms;
        let bytes = reply.bytes(date_ms, self.log.total);
        let outcome = match delivery {
            Delivery::Whole => Outcome::Response(bytes),
            Delivery::Half => Outcome::Truncated(halved(bytes, reply.body.len())),
            Delivery::Reset => Outcome::Reset,
            Delivery::Never => Outcome::Stall,
        };
        Answer { latency_ms, outcome }
    }

    /// A moment as the service's own clock tells it.
    fn by_our_clock(&self, second: i64) -> i64 {
        second + self.world.clock_offset_ms().div_euclid(1000)
    }

    fn show_quota(&mut self, reply: &mut Reply, resource: Resource) {
        let quota = self.gate.quota(resource, self.now_ms);
        let name = if resource == Resource::GraphQl { "graphql" } else { "core" };
        reply.headers.extend([
            ("X-RateLimit-Limit", quota.limit.to_string()),
            ("X-RateLimit-Remaining", quota.remaining().to_string()),
            ("X-RateLimit-Used", quota.used.to_string()),
            ("X-RateLimit-Reset", self.by_our_clock(quota.reset_s).to_string()),
            ("X-RateLimit-Resource", name.to_owned()),
        ]);
    }
}

/// The head and half of the body; at least one byte is missing.
fn halved(mut bytes: Vec<u8>, body: usize) -> Vec<u8> {
    bytes.truncate(bytes.len() - body.div_ceil(2).max(1));
    bytes
}
