//! Rate limits of client addresses, in fixed windows.

use std::collections::HashMap;
use std::ops::Range;

use super::spec::XrpcLimits;

/// Counts the requests of each address.
#[derive(Debug)]
pub(super) struct ClientLimiter {
    limits: XrpcLimits,
    requests: HashMap<String, RequestWindow>,
    logins: HashMap<String, RequestWindow>,
    /// The time until which every request is refused.
    closed_until_ms: i64,
    /// The times between which a client knows that it may not send anything.
    announced_ms: HashMap<String, Range<i64>>,
    /// Requests that arrived in these times.
    pub(super) requests_while_limited: u64,
}

#[derive(Debug, Clone, Copy)]
struct RequestWindow {
    ends_ms: i64,
    count: u32,
}

/// What is left of a limit after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitStatus {
    limit: u32,
    used: u32,
    window_ms: i64,
    ends_ms: i64,
}

impl LimitStatus {
    pub(super) fn is_exceeded(self) -> bool {
        self.used > self.limit
    }

    pub(super) fn ends_ms(self) -> i64 {
        self.ends_ms
    }

    /// Returns the headers that report the limit. The end of the window is in seconds of the server's clock.
    pub(super) fn headers(self, clock_offset_ms: i64) -> [(&'static str, String); 4] {
        let reset_s = (self.ends_ms + clock_offset_ms + 999).div_euclid(1000);
        [
            ("RateLimit-Limit", self.limit.to_string()),
            ("RateLimit-Remaining", self.limit.saturating_sub(self.used).to_string()),
            ("RateLimit-Reset", reset_s.to_string()),
            ("RateLimit-Policy", format!("{};w={}", self.limit, self.window_ms / 1000)),
        ]
    }

    pub(super) fn retry_after_s(self, now_ms: i64) -> i64 {
        (self.ends_ms - now_ms + 999).div_euclid(1000).max(1)
    }
}

impl ClientLimiter {
    pub(super) fn new(limits: &XrpcLimits) -> Self {
        Self {
            limits: limits.clone(),
            requests: HashMap::new(),
            logins: HashMap::new(),
            closed_until_ms: i64::MIN,
            announced_ms: HashMap::new(),
            requests_while_limited: 0,
        }
    }

    /// Counts a request, also one beyond the limit.
    pub(super) fn count_request(&mut self, client: &str, now_ms: i64) -> LimitStatus {
        let knows_limit =
            self.announced_ms.get(client).is_some_and(|known| known.contains(&now_ms));
        self.requests_while_limited += u64::from(knows_limit);
        let limit = self.limits.requests_per_window;
        let window_ms = self.limits.window_ms;
        let status = count_in_window(&mut self.requests, client, limit, window_ms, now_ms);
        if now_ms < self.closed_until_ms {
            return self.closed_status();
        }
        status
    }

    /// Refuses every request until this time.
    pub(super) fn close_until(&mut self, until_ms: i64) -> LimitStatus {
        self.closed_until_ms = self.closed_until_ms.max(until_ms);
        self.closed_status()
    }

    fn closed_status(&self) -> LimitStatus {
        let limit = self.limits.requests_per_window;
        LimitStatus {
            limit,
            used: limit.saturating_add(1),
            window_ms: self.limits.window_ms,
            ends_ms: self.closed_until_ms,
        }
    }

    /// Counts a request for a session, also one beyond the limit.
    pub(super) fn count_login(&mut self, client: &str, now_ms: i64) -> LimitStatus {
        let limit = self.limits.logins_per_window;
        count_in_window(&mut self.logins, client, limit, self.limits.window_ms, now_ms)
    }

    pub(super) fn has_headers(&self) -> bool {
        self.limits.has_headers
    }

    /// Records that a client learns at `from_ms` of a limit that ends at `until_ms`.
    pub(super) fn announce_limit(&mut self, client: &str, from_ms: i64, until_ms: i64) {
        let known = self.announced_ms.entry(client.to_owned()).or_insert(from_ms..until_ms);
        if !known.contains(&from_ms) {
            known.start = from_ms;
        }
        known.end = known.end.max(until_ms);
    }
}

fn count_in_window(
    windows: &mut HashMap<String, RequestWindow>,
    client: &str,
    limit: u32,
    window_ms: i64,
    now_ms: i64,
) -> LimitStatus {
    let fresh = RequestWindow { ends_ms: now_ms + window_ms, count: 0 };
    let window = windows.entry(client.to_owned()).or_insert(fresh);
    if window.ends_ms <= now_ms {
        *window = fresh;
    }
    window.count += 1;
    LimitStatus { limit, used: window.count, window_ms, ends_ms: window.ends_ms }
}
