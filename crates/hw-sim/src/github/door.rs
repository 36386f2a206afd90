//! The door: who is let in, and who is told to wait outside.

use super::graphql::Call;
use super::limits::{Resource, Signal};
use super::reply::Reply;
use super::request::Request;
use super::{GitHub, LONG_S, Served};
use crate::faults::Target;

/// A request that passed the door.
pub(super) struct Visit<'r> {
    pub(super) request: &'r Request<'r>,
    /// The call of a GraphQL request.
    pub(super) call: Option<Call>,
    pub(super) resource: Resource,
    /// Whether the hourly quota does not care about it.
    pub(super) free: bool,
    pub(super) now_ms: i64,
    pub(super) latency_ms: u64,
}

impl Visit<'_> {
    pub(super) fn sent_ms(&self) -> i64 {
        self.now_ms.saturating_add_unsigned(self.latency_ms)
    }

    pub(super) fn points(&self) -> u32 {
        match &self.call {
            Some(call) => call.price.points,
            None => u32::from(!self.free),
        }
    }

    pub(super) fn target(&self) -> Target {
        let weight = self.call.as_ref().map_or(0, |call| call.price.weight);
        Target { graphql: self.call.is_some(), weight }
    }
}

impl GitHub {
    /// Checks a request at the door; the order is GitHub's.
    pub(super) fn admit<'r>(
        &mut self,
        request: &'r Request<'r>,
        resource: Resource,
        latency_ms: u64,
    ) -> Result<Visit<'r>, Box<Served>> {
        let refuse = |reply| Err(Box::new(Served::whole(reply, 0, latency_ms)));
        if request.header("user-agent").is_none_or(str::is_empty) {
            let message = "Request forbidden by administrative rules. Please make sure your \
                           request has a User-Agent header.";
            return refuse(Reply::message(403, message).without_quota());
        }
        if !has_token(request) {
            return refuse(Reply::message(401, "Bad credentials").without_quota());
        }
        let (now_ms, free) = (self.now_ms, request.path == "/rate_limit");
        let sent_ms = now_ms.saturating_add_unsigned(latency_ms);
        if let Some(signal) = self.gate.ignored(resource, free, now_ms) {
            return refuse(self.gate.limit(signal, resource, now_ms, sent_ms, LONG_S));
        }
        let effort = if request.method == "GET" || request.is_graphql() { 1 } else { 5 };
        if self.gate.rushed(resource, effort, now_ms) {
            return refuse(self.gate.limit(Signal::RetryAfter, resource, now_ms, sent_ms, 60));
        }
        let call = if request.is_graphql() { Some(Call::prepare(request.body)) } else { None };
        match call.transpose() {
            Ok(call) => Ok(Visit { request, call, resource, free, now_ms, latency_ms }),
            Err(reply) => refuse(reply),
        }
    }
}

fn has_token(request: &Request<'_>) -> bool {
    let Some((scheme, token)) = request.header("authorization").and_then(|it| it.split_once(' '))
    else {
        return false;
    };
    let known = scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token");
    known && !token.trim().is_empty()
}
