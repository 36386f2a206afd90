//! A simulated AppView of Bluesky: turns the bytes of a request into a response, as [`crate::SimulatedGitHub`] does.

mod author_feed;
mod client_limits;
mod cursor;
mod endpoint;
mod faults;
mod inject;
mod oracle;
mod post_record;
mod profiles;
mod reply;
mod request_log;
mod sessions;
mod spec;
mod views;
mod world;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::Value;

use crate::github::request::ReceivedRequest;
use crate::github::{DelayedResponse, DeliveryMode, WireOutcome, truncate_half};
use client_limits::{ClientLimiter, LimitStatus};
use endpoint::XrpcCall;
pub use endpoint::XrpcEndpoint;
pub use faults::{AppViewFault, BlueskyFaults};
use faults::{Mishap, MishapPlan};
pub use oracle::{
    BlueskyTruth, DeletedFeedItem, FeedItemKind, LinkOrigin, TrueFeed, TrueFeedItem, TrueLink,
};
pub use reply::XrpcError;
use reply::XrpcReply;
pub use request_log::{XrpcEntry, XrpcLog};
use sessions::SessionTable;
pub use spec::{
    BlueskyActionWeights, BlueskyActivity, BlueskySpec, CursorFormat, FeedEnd, XrpcLimits,
};
pub use world::{
    AccountState, BlueskyWorld, Facet, FacetFeature, MediaEmbed, PostDraft, PostEmbed, RecordRef,
    ReplyRefs,
};

/// World, sessions, limits and faults. Not `Clone`, because there is one truth.
#[derive(Debug)]
pub struct SimulatedAppView {
    world: BlueskyWorld,
    sessions: SessionTable,
    limiter: ClientLimiter,
    mishaps: MishapPlan,
    log: XrpcLog,
    rng: fastrand::Rng,
    cursor_format: CursorFormat,
    feed_end: FeedEnd,
    requires_session: bool,
    app_password: String,
    access_token_ms: i64,
    refresh_token_ms: i64,
    latency_ms: RangeInclusive<u64>,
    date_offset_ms: i64,
    now_ms: i64,
}

/// A response to be sent, with the data for the log.
#[derive(Debug)]
struct ServedReply {
    reply: XrpcReply,
    delivery: DeliveryMode,
    fault: Option<AppViewFault>,
    least_latency_ms: u64,
}

impl From<XrpcReply> for ServedReply {
    fn from(reply: XrpcReply) -> Self {
        Self { reply, delivery: DeliveryMode::Whole, fault: None, least_latency_ms: 0 }
    }
}

impl SimulatedAppView {
    /// Creates a service with a world of its own, the same for the same seed.
    #[must_use]
    pub fn new(spec: &BlueskySpec, seed: u64) -> Self {
        Self {
            world: BlueskyWorld::from_spec(spec, seed),
            sessions: SessionTable::default(),
            limiter: ClientLimiter::new(&spec.limits),
            mishaps: MishapPlan::new(spec.faults.clone()),
            log: XrpcLog::default(),
            rng: fastrand::Rng::with_seed(seed ^ 0x9e37_79b9_7f4a_7c15),
            cursor_format: spec.cursor_format,
            feed_end: spec.feed_end,
            requires_session: spec.requires_session,
            app_password: spec.app_password.clone(),
            access_token_ms: spec.access_token_ms,
            refresh_token_ms: spec.refresh_token_ms,
            latency_ms: spec.latency_ms.clone(),
            date_offset_ms: spec.date_offset_ms,
            now_ms: spec.start_ms,
        }
    }

    /// Answers a full HTTP/1.1 request that arrives at `now_ms`. Time never goes back: an earlier time counts as the
    /// latest one.
    pub fn respond(&mut self, request: &[u8], now_ms: i64) -> DelayedResponse {
        self.advance_to(now_ms);
        let latency_ms = self.rng.u64(self.latency_ms.clone());
        let Some(request) = ReceivedRequest::parse(request) else {
            let bytes = XrpcReply::html_page(400).to_bytes(self.now_ms);
            return DelayedResponse { latency_ms, outcome: WireOutcome::Response(bytes) };
        };
        let call = XrpcCall::from_request(&request, latency_ms);
        let served = self.serve_call(&call);
        self.send_reply(served, &call)
    }

    /// Lets the accounts act up to this time.
    pub fn advance_to(&mut self, now_ms: i64) {
        self.now_ms = self.now_ms.max(now_ms);
        self.world.advance_to(self.now_ms);
    }

    #[must_use]
    pub fn world(&self) -> &BlueskyWorld {
        &self.world
    }

    pub fn world_mut(&mut self) -> &mut BlueskyWorld {
        &mut self.world
    }

    /// Makes the next `times` requests that can meet this fault do so.
    pub fn arm_fault(&mut self, fault: AppViewFault, times: u32) {
        self.mishaps.arm_fault(fault, times);
    }

    /// Makes the nth request to an endpoint from now on meet this fault, if it can; 1 is the next one.
    pub fn script_fault(&mut self, endpoint: XrpcEndpoint, nth: u64, fault: AppViewFault) {
        let number = self.log.count(endpoint) + nth;
        self.mishaps.script_mishap(endpoint, number, Mishap::Fault(fault));
    }

    /// Makes the nth request to an endpoint from now on fail with this error; 1 is the next one.
    pub fn script_error(&mut self, endpoint: XrpcEndpoint, nth: u64, error: XrpcError) {
        let number = self.log.count(endpoint) + nth;
        self.mishaps.script_mishap(endpoint, number, Mishap::Error(error));
    }

    /// Replaces the fault rates and discards everything armed or scripted.
    pub fn set_fault_rates(&mut self, rates: BlueskyFaults) {
        self.mishaps.replace_rates(rates);
    }

    /// Returns how often each fault fired.
    #[must_use]
    pub fn fired_faults(&self) -> &BTreeMap<AppViewFault, u64> {
        self.mishaps.fired_counts()
    }

    /// Sets the error of the clock that `Date` comes from.
    pub fn set_date_offset(&mut self, offset_ms: i64) {
        self.date_offset_ms = offset_ms;
    }

    #[must_use]
    pub fn request_log(&self) -> &XrpcLog {
        &self.log
    }

    /// Returns the number of requests that arrived between a limit being reported to the client and its end.
    #[must_use]
    pub fn requests_while_limited(&self) -> u64 {
        self.limiter.requests_while_limited
    }

    fn serve_call(&mut self, call: &XrpcCall<'_>) -> ServedReply {
        let status = self.limiter.count_request(client_address(call), self.now_ms);
        if status.is_exceeded() {
            return self.serve_limit(call, status).into();
        }
        let number = self.log.count(call.endpoint) + 1;
        let mishaps = self.mishaps.candidates(call.endpoint, number, &mut self.rng);
        let unlucky = mishaps.iter().find_map(|mishap| self.serve_mishap(mishap, call));
        let mut served = unlucky.unwrap_or_else(|| self.serve_answer(call).into());
        if self.limiter.has_headers() && served.reply.status != 429 {
            served.reply.headers.extend(status.headers(self.date_offset_ms));
        }
        served
    }

    /// Serves the request as if there were no faults.
    fn serve_answer(&mut self, call: &XrpcCall<'_>) -> XrpcReply {
        if call.endpoint == XrpcEndpoint::CreateSession {
            let status = self.limiter.count_login(client_address(call), self.now_ms);
            if status.is_exceeded() {
                return self.serve_limit(call, status);
            }
        }
        match self.answer(call) {
            Ok(body) => XrpcReply::from_json(200, &body),
            Err(error) => XrpcReply::from_error(&error),
        }
    }

    fn answer(&mut self, call: &XrpcCall<'_>) -> Result<Value, XrpcError> {
        call.check_method()?;
        let viewer = self.authenticate(call)?;
        match call.endpoint {
            XrpcEndpoint::AuthorFeed => self.answer_author_feed(call, viewer, None),
            XrpcEndpoint::Profile => self.answer_profile(call, viewer),
            XrpcEndpoint::Profiles => self.answer_profiles(call, viewer),
            XrpcEndpoint::Posts => self.answer_posts(call, viewer),
            XrpcEndpoint::Follows => self.answer_follows(call, viewer),
            XrpcEndpoint::ResolveHandle => self.answer_resolve_handle(call),
            XrpcEndpoint::CreateSession => self.answer_create_session(call),
            XrpcEndpoint::RefreshSession => self.answer_refresh_session(call),
            XrpcEndpoint::Unknown => call.check_method().map(|()| Value::Null),
        }
    }

    /// Refuses a request beyond a limit.
    fn serve_limit(&mut self, call: &XrpcCall<'_>, status: LimitStatus) -> XrpcReply {
        let mut reply = XrpcReply::from_error(&XrpcError::rate_limited());
        if self.limiter.has_headers() {
            self.announce_limit(call, &mut reply, status);
        }
        reply
    }

    /// Refuses all requests for a while, and says for how long.
    fn serve_limit_for(&mut self, call: &XrpcCall<'_>, wait_ms: i64) -> XrpcReply {
        let status = self.limiter.close_until(self.now_ms + wait_ms);
        let mut reply = XrpcReply::from_error(&XrpcError::rate_limited());
        self.announce_limit(call, &mut reply, status);
        reply
    }

    fn announce_limit(&mut self, call: &XrpcCall<'_>, reply: &mut XrpcReply, status: LimitStatus) {
        let arrives_ms = self.now_ms.saturating_add_unsigned(call.latency_ms);
        self.limiter.announce_limit(client_address(call), arrives_ms, status.ends_ms());
        reply.headers.extend(status.headers(self.date_offset_ms));
        reply.headers.push(("Retry-After", status.retry_after_s(self.now_ms).to_string()));
    }

    fn send_reply(&mut self, served: ServedReply, call: &XrpcCall<'_>) -> DelayedResponse {
        let ServedReply { reply, delivery, fault, least_latency_ms } = served;
        let latency_ms = call.latency_ms.max(least_latency_ms);
        let arrives = matches!(delivery, DeliveryMode::Whole | DeliveryMode::Half);
        self.log.record_entry(XrpcEntry {
            at_ms: self.now_ms,
            endpoint: call.endpoint,
            actor: call.actor(),
            has_cursor: call.cursor().is_some(),
            status: if arrives { reply.status } else { 0 },
            fault,
        });
        let sent_ms = self.now_ms.saturating_add_unsigned(latency_ms);
        let bytes = reply.to_bytes(sent_ms + self.date_offset_ms);
        let outcome = match delivery {
            DeliveryMode::Whole => WireOutcome::Response(bytes),
            DeliveryMode::Half => WireOutcome::Truncated(truncate_half(bytes, reply.body.len())),
            DeliveryMode::Reset => WireOutcome::Reset,
            DeliveryMode::Never => WireOutcome::Stall,
        };
        DelayedResponse { latency_ms, outcome }
    }
}

/// Returns the address that a request comes from, as a proxy reports it. Without a proxy, all clients are one.
fn client_address<'a>(call: &XrpcCall<'a>) -> &'a str {
    call.request.header("x-forwarded-for").unwrap_or_default()
}
