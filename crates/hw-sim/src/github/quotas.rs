//! Tracks quotas and limits, and counts requests that ignore them.

use super::reply::HttpReply;
use crate::world_spec::RateLimitSpec;

const HOUR_S: i64 = 3600;
const HEADERLESS_LIMIT_MS: i64 = 60_000;
/// The points that a timeout costs in the next window.
const TIMEOUT_POINTS: u32 = 10;

/// The two APIs, each with a quota of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuotaResource {
    Core,
    GraphQl,
}

/// The way in which a limit is reported to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitSignal {
    Primary,
    /// With the older error type.
    PrimaryOld,
    RetryAfter,
    Headerless,
    /// A secondary limit inside a 200; GraphQL only.
    As200,
}

/// A fixed window, anchored at its first use.
#[derive(Debug)]
struct QuotaWindow {
    limit: u32,
    length_s: i64,
    used: u32,
    reset_s: Option<i64>,
    /// The latest end that was reported to the client; responses may disagree.
    reported_reset_s: Option<i64>,
    /// The points that the next window starts with.
    debt: u32,
}

impl QuotaWindow {
    fn new(limit: u32, length_s: i64) -> Self {
        Self { limit, length_s, used: 0, reset_s: None, reported_reset_s: None, debt: 0 }
    }

    fn roll_over(&mut self, now_ms: i64) {
        if self.end_s().is_some_and(|end| end * 1000 <= now_ms) {
            self.used = std::mem::take(&mut self.debt).min(self.limit);
            self.reset_s = None;
            self.reported_reset_s = None;
        }
    }

    /// Returns its actual end: the latest of the reported ones.
    fn end_s(&self) -> Option<i64> {
        self.reported_reset_s.or(self.reset_s)
    }

    fn record_reported_reset(&mut self, skew_s: i64) {
        let reported = self.reset_s.map(|reset| reset + skew_s);
        self.reported_reset_s = self.reported_reset_s.max(reported);
    }

    /// Charges the points and returns true if they fit; otherwise exhausts the window.
    fn charge_points(&mut self, points: u32, now_ms: i64) -> bool {
        self.roll_over(now_ms);
        self.anchor(now_ms);
        let fits = self.used.saturating_add(points) <= self.limit;
        self.used = if fits { self.used + points } else { self.limit };
        fits
    }

    fn exhaust(&mut self, now_ms: i64) {
        self.roll_over(now_ms);
        self.anchor(now_ms);
        self.used = self.limit;
    }

    fn anchor(&mut self, now_ms: i64) {
        self.reset_s.get_or_insert(now_ms.div_euclid(1000) + self.length_s);
    }

    /// Returns the current state; an unused window would start now.
    fn quota_status(&mut self, now_ms: i64) -> QuotaStatus {
        self.roll_over(now_ms);
        let reset_s = self.reset_s.unwrap_or(now_ms.div_euclid(1000) + self.length_s);
        QuotaStatus { limit: self.limit, used: self.used, reset_s }
    }
}

/// The state of a window, as in the headers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotaStatus {
    pub(crate) limit: u32,
    pub(crate) used: u32,
    pub(crate) reset_s: i64,
}

impl QuotaStatus {
    pub(crate) fn remaining(self) -> u32 {
        self.limit - self.used
    }
}

/// A limit that was reported to the client and is not over.
#[derive(Debug, Clone, Copy)]
struct ActiveLimit {
    signal: LimitSignal,
    /// `None`: both APIs.
    resource: Option<QuotaResource>,
    /// The arrival of the response that reports it.
    from_ms: i64,
    until_ms: i64,
}

/// All quotas of the one principal.
#[derive(Debug)]
pub(crate) struct QuotaTracker {
    core: QuotaWindow,
    graphql: QuotaWindow,
    core_minute: QuotaWindow,
    graphql_minute: QuotaWindow,
    max_concurrent: usize,
    /// The arrival times of the responses in flight.
    in_flight: Vec<i64>,
    active_limits: Vec<ActiveLimit>,
    /// True if clocks disagree and timeouts cost points.
    clock_jitter: bool,
    /// The error of the current response's clock in its reset times.
    skew_s: i64,
    pub(crate) requests_while_limited: u64,
}

impl QuotaTracker {
    pub(crate) fn new(limits: &RateLimitSpec, clock_jitter: bool) -> Self {
        Self {
            core: QuotaWindow::new(limits.core_per_hour, HOUR_S),
            graphql: QuotaWindow::new(limits.graphql_points_per_hour, HOUR_S),
            core_minute: QuotaWindow::new(limits.core_per_minute, 60),
            graphql_minute: QuotaWindow::new(limits.graphql_per_minute, 60),
            max_concurrent: limits.max_concurrent,
            in_flight: Vec::new(),
            active_limits: Vec::new(),
            clock_jitter,
            skew_s: 0,
            requests_while_limited: 0,
        }
    }

    pub(crate) fn quota_status(&mut self, resource: QuotaResource, now_ms: i64) -> QuotaStatus {
        let skew_s = self.skew_s;
        let quota = self.window_for(resource).quota_status(now_ms);
        QuotaStatus { reset_s: quota.reset_s + skew_s, ..quota }
    }

    /// Sets the error of the clock for the next reset times.
    pub(crate) fn set_clock_skew(&mut self, skew_s: i64) {
        self.skew_s = skew_s;
    }

    /// Records that the end of this API's window was reported to the client.
    pub(crate) fn record_reported_reset(&mut self, resource: QuotaResource, now_ms: i64) {
        let skew_s = self.skew_s;
        let window = self.window_for(resource);
        window.roll_over(now_ms);
        window.record_reported_reset(skew_s);
        let Some(end_s) = window.end_s() else { return };
        for limit in self.active_limits.iter_mut().filter(|limit| limit.resource == Some(resource))
        {
            limit.until_ms = limit.until_ms.max(end_s * 1000);
        }
    }

    /// Charges a timeout to the next window.
    pub(crate) fn record_timeout(&mut self, resource: QuotaResource) {
        if self.clock_jitter {
            self.window_for(resource).debt += TIMEOUT_POINTS;
        }
    }

    pub(crate) fn charge_points(
        &mut self,
        resource: QuotaResource,
        points: u32,
        now_ms: i64,
    ) -> bool {
        self.window_for(resource).charge_points(points, now_ms)
    }

    pub(crate) fn exhaust_quota(&mut self, resource: QuotaResource, now_ms: i64) {
        self.window_for(resource).exhaust(now_ms);
    }

    /// Returns the reported limit that a request ignores, if any, and counts the request.
    pub(crate) fn find_ignored_limit(
        &mut self,
        resource: QuotaResource,
        is_free: bool,
        now_ms: i64,
    ) -> Option<LimitSignal> {
        self.active_limits.retain(|limit| now_ms < limit.until_ms);
        let mut reported = self.active_limits.iter().filter(|limit| limit.from_ms < now_ms);
        let hit = reported
            .find(|limit| limit.resource.is_none_or(|limited| limited == resource && !is_free))?;
        self.requests_while_limited += 1;
        Some(hit.signal)
    }

    /// Charges a request to the current minute and returns true if it breaks a secondary limit.
    pub(crate) fn exceeds_secondary_limit(
        &mut self,
        resource: QuotaResource,
        points: u32,
        now_ms: i64,
    ) -> bool {
        self.in_flight.retain(|end| now_ms < *end);
        let minute = match resource {
            QuotaResource::Core => &mut self.core_minute,
            QuotaResource::GraphQl => &mut self.graphql_minute,
        };
        !minute.charge_points(points, now_ms) || self.in_flight.len() >= self.max_concurrent
    }

    pub(crate) fn track_in_flight(&mut self, until_ms: i64) {
        self.in_flight.push(until_ms);
    }

    /// Returns the reply that reports a limit, which applies from its arrival.
    pub(crate) fn impose_limit(
        &mut self,
        signal: LimitSignal,
        resource: QuotaResource,
        now_ms: i64,
        sent_ms: i64,
        wait_s: i64,
    ) -> HttpReply {
        let reset_s = self.quota_status(resource, now_ms).reset_s;
        let primary = matches!(signal, LimitSignal::Primary | LimitSignal::PrimaryOld);
        let scope = primary.then_some(resource);
        let active = self.active_limits.iter().find(|limit| limit.resource == scope);
        let until_ms = active.map_or_else(
            || match signal {
                LimitSignal::Primary | LimitSignal::PrimaryOld => reset_s * 1000,
                LimitSignal::RetryAfter => sent_ms + wait_s * 1000,
                LimitSignal::Headerless | LimitSignal::As200 => sent_ms + HEADERLESS_LIMIT_MS,
            },
            |limit| limit.until_ms,
        );
        if active.is_none() {
            let from_ms = sent_ms;
            self.active_limits.push(ActiveLimit { signal, resource: scope, from_ms, until_ms });
        }
        let left_s = (until_ms - sent_ms).max(0).div_euclid(1000) + 1;
        limit_reply(signal, resource, left_s.min(wait_s.max(1)))
    }

    fn window_for(&mut self, resource: QuotaResource) -> &mut QuotaWindow {
        match resource {
            QuotaResource::Core => &mut self.core,
            QuotaResource::GraphQl => &mut self.graphql,
        }
    }
}

const SECONDARY_MESSAGE: &str = "You have exceeded a secondary rate limit. Please wait a few minutes \
                         before you try again.";
const PRIMARY_MESSAGE: &str = "API rate limit exceeded for user ID 1000.";

fn limit_reply(signal: LimitSignal, resource: QuotaResource, retry_after_s: i64) -> HttpReply {
    match (signal, resource) {
        (LimitSignal::Primary, QuotaResource::Core) => {
            HttpReply::from_message(403, PRIMARY_MESSAGE)
        }
        (LimitSignal::PrimaryOld, QuotaResource::Core) => {
            HttpReply::from_message(429, PRIMARY_MESSAGE)
        }
        (LimitSignal::Primary, QuotaResource::GraphQl) => HttpReply::from_json(
            200,
            format!(
                r#"{{"errors":[{{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"{PRIMARY_MESSAGE}"}}]}}"#
            ),
        ),
        (LimitSignal::PrimaryOld, QuotaResource::GraphQl) => HttpReply::from_json(
            200,
            format!(r#"{{"errors":[{{"type":"RATE_LIMITED","message":"{PRIMARY_MESSAGE}"}}]}}"#),
        ),
        (LimitSignal::RetryAfter, _) => {
            let status = if retry_after_s % 2 == 0 { 403 } else { 429 };
            HttpReply::from_message(status, SECONDARY_MESSAGE)
                .with_header("Retry-After", retry_after_s.to_string())
        }
        (LimitSignal::As200, QuotaResource::GraphQl) => HttpReply::from_json(
            200,
            format!(r#"{{"errors":[{{"message":"{SECONDARY_MESSAGE}"}}]}}"#),
        ),
        (LimitSignal::Headerless | LimitSignal::As200, _) => {
            HttpReply::from_message(403, SECONDARY_MESSAGE).without_quota_headers()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quota_window_is_anchored_at_its_first_use() {
        let mut window = QuotaWindow::new(10, 60);
        assert_eq!(window.quota_status(5_500).reset_s, 65);
        assert!(window.charge_points(4, 7_900));
        assert_eq!(
            (window.quota_status(30_000).reset_s, window.quota_status(30_000).used),
            (67, 4)
        );
        assert_eq!(window.quota_status(67_000).used, 0);
    }

    #[test]
    fn limit_applies_from_the_arrival_of_its_response_to_its_end() {
        let mut tracker = QuotaTracker::new(&RateLimitSpec::default(), false);
        tracker.impose_limit(LimitSignal::Headerless, QuotaResource::Core, 1000, 1200, 0);
        assert_eq!(tracker.find_ignored_limit(QuotaResource::GraphQl, false, 1200), None);
        assert_eq!(
            tracker.find_ignored_limit(QuotaResource::GraphQl, false, 1201),
            Some(LimitSignal::Headerless)
        );
        assert_eq!(tracker.find_ignored_limit(QuotaResource::GraphQl, false, 61_200), None);
        assert_eq!(tracker.requests_while_limited, 1);
    }
}
