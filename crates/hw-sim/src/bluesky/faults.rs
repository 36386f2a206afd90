//! The faults that can hit a request: at random, armed for the next request, or scripted for the nth one.

use std::collections::BTreeMap;

use super::endpoint::XrpcEndpoint;
use super::reply::XrpcError;

/// One way in which an answer of the AppView can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AppViewFault {
    /// 500 in the form of XRPC.
    InternalError,
    /// 502, in the form of XRPC or as a page of HTML.
    BadGateway,
    /// 503 as a page of HTML.
    Unavailable,
    /// 504 after a long wait.
    GatewayTimeout,
    /// The connection breaks before the request is read.
    DroppedBefore,
    /// The request is done, and the connection breaks before the answer.
    DroppedAfter,
    /// No answer, ever.
    Stall,
    /// The body ends early, and the connection with it.
    Truncated,
    /// The body is half of a JSON document, with a length that fits.
    HalfJson,
    /// 200 with a page of HTML.
    HtmlInsteadOfJson,
    /// 429 with `RateLimit-*` and `Retry-After`; all requests are refused until then.
    RateLimited,
    /// 429 without any header.
    RateLimitedWithoutHeaders,
    /// A page without items, whose cursor leads to the items it should have had.
    EmptyPage,
    /// A page with fewer items than requested; the rest follows.
    ShortPage,
    /// A page without a cursor, though more follows.
    MissingCursor,
    /// An empty page without a cursor, in answer to a good cursor.
    CursorToNothing,
    /// 500 in answer to a good cursor.
    CursorError,
    /// One of several profiles or posts is missing from the answer.
    MissingEntry,
    /// 400 `ExpiredToken` for a token that has not expired.
    ExpiredToken,
}

impl AppViewFault {
    pub const ALL: [Self; 19] = [
        Self::InternalError,
        Self::BadGateway,
        Self::Unavailable,
        Self::GatewayTimeout,
        Self::DroppedBefore,
        Self::DroppedAfter,
        Self::Stall,
        Self::Truncated,
        Self::HalfJson,
        Self::HtmlInsteadOfJson,
        Self::RateLimited,
        Self::RateLimitedWithoutHeaders,
        Self::EmptyPage,
        Self::ShortPage,
        Self::MissingCursor,
        Self::CursorToNothing,
        Self::CursorError,
        Self::MissingEntry,
        Self::ExpiredToken,
    ];

    /// Returns true if a walk of pages that trusts each answer loses items by it.
    #[must_use]
    pub fn hides_items(self) -> bool {
        matches!(self, Self::MissingCursor | Self::CursorToNothing | Self::MissingEntry)
    }
}

/// The probability of each fault, per request.
#[derive(Debug, Clone, Default)]
pub struct BlueskyFaults(BTreeMap<AppViewFault, f64>);

impl BlueskyFaults {
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Gives every fault this probability, except those that hide items from a reader who trusts the answer.
    #[must_use]
    pub fn all_visible(probability: f64) -> Self {
        let visible = AppViewFault::ALL.into_iter().filter(|fault| !fault.hides_items());
        Self(visible.map(|fault| (fault, probability)).collect())
    }

    #[must_use]
    pub fn all(probability: f64) -> Self {
        Self(AppViewFault::ALL.into_iter().map(|fault| (fault, probability)).collect())
    }

    #[must_use]
    pub fn with_rate(mut self, fault: AppViewFault, probability: f64) -> Self {
        self.0.insert(fault, probability);
        self
    }
}

/// What happens to one request instead of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mishap {
    Fault(AppViewFault),
    Error(XrpcError),
}

/// Chooses faults by their rates and by what tests armed or scripted, and counts the ones that fired.
#[derive(Debug)]
pub(super) struct MishapPlan {
    rates: BlueskyFaults,
    armed: Vec<ArmedFault>,
    scripted: Vec<ScriptedMishap>,
    fired_counts: BTreeMap<AppViewFault, u64>,
}

#[derive(Debug)]
struct ArmedFault {
    fault: AppViewFault,
    remaining: u32,
}

#[derive(Debug)]
struct ScriptedMishap {
    endpoint: XrpcEndpoint,
    /// The number of the request among all requests to the endpoint, from 1 on.
    number: u64,
    mishap: Mishap,
}

impl MishapPlan {
    pub(super) fn new(rates: BlueskyFaults) -> Self {
        Self { rates, armed: Vec::new(), scripted: Vec::new(), fired_counts: BTreeMap::new() }
    }

    pub(super) fn arm_fault(&mut self, fault: AppViewFault, times: u32) {
        if times > 0 {
            self.armed.push(ArmedFault { fault, remaining: times });
        }
    }

    pub(super) fn script_mishap(&mut self, endpoint: XrpcEndpoint, number: u64, mishap: Mishap) {
        self.scripted.push(ScriptedMishap { endpoint, number, mishap });
    }

    pub(super) fn replace_rates(&mut self, rates: BlueskyFaults) {
        self.rates = rates;
        self.armed.clear();
        self.scripted.clear();
    }

    pub(super) fn fired_counts(&self) -> &BTreeMap<AppViewFault, u64> {
        &self.fired_counts
    }

    /// Returns what may hit this request, the most specific first: scripted, armed, at random.
    ///
    /// `number` is its number among the requests to the endpoint. A scripted mishap is used up even if it cannot happen.
    pub(super) fn candidates(
        &mut self,
        endpoint: XrpcEndpoint,
        number: u64,
        rng: &mut fastrand::Rng,
    ) -> Vec<Mishap> {
        let due = self
            .scripted
            .extract_if(.., |scripted| scripted.endpoint == endpoint && scripted.number == number);
        let mut candidates: Vec<Mishap> = due.map(|scripted| scripted.mishap).collect();
        candidates.extend(self.armed.iter().map(|armed| Mishap::Fault(armed.fault)));
        candidates.extend(self.roll_fault(rng).map(Mishap::Fault));
        candidates
    }

    /// Counts a fault that fired, and uses up one armed occurrence of it.
    pub(super) fn record_fired(&mut self, fault: AppViewFault) {
        *self.fired_counts.entry(fault).or_default() += 1;
        if let Some(armed) = self.armed.iter_mut().find(|armed| armed.fault == fault) {
            armed.remaining -= 1;
        }
        self.armed.retain(|armed| armed.remaining > 0);
    }

    /// Rolls once for each fault with a rate, so that the numbers drawn do not depend on which one hits.
    fn roll_fault(&self, rng: &mut fastrand::Rng) -> Option<AppViewFault> {
        let rolls =
            self.rates.0.iter().map(|(fault, probability)| (*fault, rng.f64() < *probability));
        let hits: Vec<(AppViewFault, bool)> = rolls.collect();
        hits.into_iter().find(|(_, is_hit)| *is_hit).map(|(fault, _)| fault)
    }
}
