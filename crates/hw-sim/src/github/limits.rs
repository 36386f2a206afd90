//! Quotas, limits and who ignores them.

use super::reply::Reply;
use crate::spec::Limits;

const HOUR_S: i64 = 3600;
const HEADERLESS_MS: i64 = 60_000;
/// What a time-out costs in the window after it.
const TIMED_OUT_POINTS: u32 = 10;

/// The two sides with a quota of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resource {
    Core,
    GraphQl,
}

/// How a client is told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Primary,
    /// With the error type of earlier years.
    PrimaryOld,
    RetryAfter,
    Headerless,
    /// A secondary limit inside a 200; only GraphQL does that.
    As200,
}

/// A fixed window, anchored at its first use.
#[derive(Debug)]
struct Window {
    limit: u32,
    length_s: i64,
    used: u32,
    reset_s: Option<i64>,
    /// The latest end that a client was told; nobody promises that answers agree.
    told_s: Option<i64>,
    /// What the next window begins with.
    debt: u32,
}

impl Window {
    fn new(limit: u32, length_s: i64) -> Self {
        Self { limit, length_s, used: 0, reset_s: None, told_s: None, debt: 0 }
    }

    fn roll(&mut self, now_ms: i64) {
        if self.end_s().is_some_and(|end| end * 1000 <= now_ms) {
            self.used = std::mem::take(&mut self.debt).min(self.limit);
            self.reset_s = None;
            self.told_s = None;
        }
    }

    /// When it really ends: the later of what was told.
    fn end_s(&self) -> Option<i64> {
        self.told_s.or(self.reset_s)
    }

    fn was_told(&mut self, skew_s: i64) {
        let told = self.reset_s.map(|reset| reset + skew_s);
        self.told_s = self.told_s.max(told);
    }

    /// Takes the points, or nothing when there are too few.
    fn charge(&mut self, points: u32, now_ms: i64) -> bool {
        self.roll(now_ms);
        self.anchor(now_ms);
        let fits = self.used.saturating_add(points) <= self.limit;
        self.used = if fits { self.used + points } else { self.limit };
        fits
    }

    fn exhaust(&mut self, now_ms: i64) {
        self.roll(now_ms);
        self.anchor(now_ms);
        self.used = self.limit;
    }

    fn anchor(&mut self, now_ms: i64) {
        self.reset_s.get_or_insert(now_ms.div_euclid(1000) + self.length_s);
    }

    /// An unused window would start now, whenever now is.
    fn quota(&mut self, now_ms: i64) -> Quota {
        self.roll(now_ms);
        let reset_s = self.reset_s.unwrap_or(now_ms.div_euclid(1000) + self.length_s);
        Quota { limit: self.limit, used: self.used, reset_s }
    }
}

/// What the headers say about a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quota {
    pub(crate) limit: u32,
    pub(crate) used: u32,
    pub(crate) reset_s: i64,
}

impl Quota {
    pub(crate) fn remaining(self) -> u32 {
        self.limit - self.used
    }
}

/// A limit that was told to the client and is not over.
#[derive(Debug, Clone, Copy)]
struct Standing {
    signal: Signal,
    /// `None`: both sides.
    resource: Option<Resource>,
    /// When the answer that tells of it arrives.
    from_ms: i64,
    until_ms: i64,
}

/// All quotas of the one principal.
#[derive(Debug)]
pub(crate) struct Gatekeeper {
    core: Window,
    graphql: Window,
    core_minute: Window,
    graphql_minute: Window,
    concurrent: usize,
    /// When each answer under way arrives.
    in_flight: Vec<i64>,
    standing: Vec<Standing>,
    /// Whether clocks disagree and time-outs are not forgotten.
    jitter: bool,
    /// By how much the present answer's clock is wrong about resets.
    skew_s: i64,
    pub(crate) started_while_limited: u64,
}

impl Gatekeeper {
    pub(crate) fn new(limits: &Limits, jitter: bool) -> Self {
        Self {
            core: Window::new(limits.core_per_hour, HOUR_S),
            graphql: Window::new(limits.graphql_points_per_hour, HOUR_S),
            core_minute: Window::new(limits.core_per_minute, 60),
            graphql_minute: Window::new(limits.graphql_per_minute, 60),
            concurrent: limits.concurrent,
            in_flight: Vec::new(),
            standing: Vec::new(),
            jitter,
            skew_s: 0,
            started_while_limited: 0,
        }
    }

    pub(crate) fn quota(&mut self, resource: Resource, now_ms: i64) -> Quota {
        let skew_s = self.skew_s;
        let quota = self.window(resource).quota(now_ms);
        Quota { reset_s: quota.reset_s + skew_s, ..quota }
    }

    /// Everything told from now on comes from a clock that is wrong by so much.
    pub(crate) fn answer_with(&mut self, skew_s: i64) {
        self.skew_s = skew_s;
    }

    /// The client now knows when this side's window ends, or believes so.
    pub(crate) fn was_told(&mut self, resource: Resource, now_ms: i64) {
        let skew_s = self.skew_s;
        let window = self.window(resource);
        window.roll(now_ms);
        window.was_told(skew_s);
        let Some(end_s) = window.end_s() else { return };
        for limit in self.standing.iter_mut().filter(|limit| limit.resource == Some(resource)) {
            limit.until_ms = limit.until_ms.max(end_s * 1000);
        }
    }

    /// A request ran out of time, which is not forgotten.
    pub(crate) fn timed_out(&mut self, resource: Resource) {
        if self.jitter {
            self.window(resource).debt += TIMED_OUT_POINTS;
        }
    }

    pub(crate) fn charge(&mut self, resource: Resource, points: u32, now_ms: i64) -> bool {
        self.window(resource).charge(points, now_ms)
    }

    pub(crate) fn exhaust(&mut self, resource: Resource, now_ms: i64) {
        self.window(resource).exhaust(now_ms);
    }

    /// The limit a request runs into although it was told; counts it.
    pub(crate) fn ignored(
        &mut self,
        resource: Resource,
        free: bool,
        now_ms: i64,
    ) -> Option<Signal> {
        self.standing.retain(|limit| now_ms < limit.until_ms);
        let mut told = self.standing.iter().filter(|limit| limit.from_ms < now_ms);
        let hit = told.find(|limit| limit.resource.is_none_or(|of| of == resource && !free))?;
        self.started_while_limited += 1;
        Some(hit.signal)
    }

    /// The secondary limit a request breaks by coming too soon after the others.
    pub(crate) fn rushed(&mut self, resource: Resource, points: u32, now_ms: i64) -> bool {
        self.in_flight.retain(|end| now_ms < *end);
        let minute = match resource {
            Resource::Core => &mut self.core_minute,
            Resource::GraphQl => &mut self.graphql_minute,
        };
        !minute.charge(points, now_ms) || self.concurrent <= self.in_flight.len()
    }

    pub(crate) fn under_way(&mut self, until_ms: i64) {
        self.in_flight.push(until_ms);
    }

    /// The answer that tells of a limit, which holds from its arrival on.
    pub(crate) fn limit(
        &mut self,
        signal: Signal,
        resource: Resource,
        now_ms: i64,
        sent_ms: i64,
        wait_s: i64,
    ) -> Reply {
        let reset_s = self.quota(resource, now_ms).reset_s;
        let primary = matches!(signal, Signal::Primary | Signal::PrimaryOld);
        let scope = primary.then_some(resource);
        let standing = self.standing.iter().find(|limit| limit.resource == scope);
        let until_ms = standing.map_or_else(
            || match signal {
                Signal::Primary | Signal::PrimaryOld => reset_s * 1000,
                Signal::RetryAfter => sent_ms + wait_s * 1000,
                Signal::Headerless | Signal::As200 => sent_ms + HEADERLESS_MS,
            },
            |limit| limit.until_ms,
        );
        if standing.is_none() {
            let from_ms = sent_ms;
            self.standing.push(Standing { signal, resource: scope, from_ms, until_ms });
        }
        let left_s = (until_ms - sent_ms).max(0).div_euclid(1000) + 1;
        told(signal, resource, left_s.min(wait_s.max(1)))
    }

    fn window(&mut self, resource: Resource) -> &mut Window {
        match resource {
            Resource::Core => &mut self.core,
            Resource::GraphQl => &mut self.graphql,
        }
    }
}

const SECONDARY: &str = "You have exceeded a secondary rate limit. Please wait a few minutes \
                         before you try again.";
const PRIMARY: &str = "API rate limit exceeded for user ID 1000.";

fn told(signal: Signal, resource: Resource, retry_after_s: i64) -> Reply {
    match (signal, resource) {
        (Signal::Primary, Resource::Core) => Reply::message(403, PRIMARY),
        (Signal::PrimaryOld, Resource::Core) => Reply::message(429, PRIMARY),
        (Signal::Primary, Resource::GraphQl) => Reply::json(
            200,
            format!(
                r#"{{"errors":[{{"type":"RATE_LIMIT","code":"graphql_rate_limit","message":"{PRIMARY}"}}]}}"#
            ),
        ),
        (Signal::PrimaryOld, Resource::GraphQl) => Reply::json(
            200,
            format!(r#"{{"errors":[{{"type":"RATE_LIMITED","message":"{PRIMARY}"}}]}}"#),
        ),
        (Signal::RetryAfter, _) => {
            let status = if retry_after_s % 2 == 0 { 403 } else { 429 };
            Reply::message(status, SECONDARY).with("Retry-After", retry_after_s.to_string())
        }
        (Signal::As200, Resource::GraphQl) => {
            Reply::json(200, format!(r#"{{"errors":[{{"message":"{SECONDARY}"}}]}}"#))
        }
        (Signal::Headerless | Signal::As200, _) => Reply::message(403, SECONDARY).without_quota(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_anchored_at_its_first_use() {
        let mut window = Window::new(10, 60);
        assert_eq!(window.quota(5_500).reset_s, 65);
        assert!(window.charge(4, 7_900));
        assert_eq!((window.quota(30_000).reset_s, window.quota(30_000).used), (67, 4));
        assert_eq!(window.quota(67_000).used, 0);
    }

    #[test]
    fn a_limit_holds_from_the_arrival_of_its_answer_to_its_end() {
        let mut gate = Gatekeeper::new(&Limits::default(), false);
        gate.limit(Signal::Headerless, Resource::Core, 1000, 1200, 0);
        assert_eq!(gate.ignored(Resource::GraphQl, false, 1200), None);
        assert_eq!(gate.ignored(Resource::GraphQl, false, 1201), Some(Signal::Headerless));
        assert_eq!(gate.ignored(Resource::GraphQl, false, 61_200), None);
        assert_eq!(gate.started_while_limited, 1);
    }
}
