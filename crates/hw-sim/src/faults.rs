//! Bad weather: what can go wrong with one request, by chance or by order.

use std::collections::BTreeMap;

/// One way in which an answer differs from what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    BadGateway,
    GatewayTimeout,
    SecondaryWithRetryAfter,
    /// A secondary limit that only its message gives away.
    SecondaryWithoutHeaders,
    SecondaryAs200,
    /// REST: 403 with nothing remaining. GraphQL: 200 with `RATE_LIMIT`.
    PrimaryExhausted,
    /// As `PrimaryExhausted`, with the older type `RATE_LIMITED`.
    RateLimited200Old,
    /// 200 with `RESOURCE_LIMITS_EXCEEDED` and partial or null data.
    ResourceLimits,
    Reset,
    Stall,
    Truncated,
    /// A repository or node that exists answers null and `NOT_FOUND`, by itself or in a list.
    NotFoundOnce,
    /// One root, node or connection is null, with an error whose path names it; where null is no value
    /// for a connection, whatever holds it is null.
    PartialError,
    /// One node lacks a mandatory field, or has it in a wrong type.
    BadNode,
    Unauthorized,
    HtmlInsteadOfJson,
    /// The token may not see it. GraphQL: a root or node is null with `FORBIDDEN`, or 403; REST: 403.
    Forbidden,
}

impl Fault {
    pub const ALL: [Self; 17] = [
        Self::BadGateway,
        Self::GatewayTimeout,
        Self::SecondaryWithRetryAfter,
        Self::SecondaryWithoutHeaders,
        Self::SecondaryAs200,
        Self::PrimaryExhausted,
        Self::RateLimited200Old,
        Self::ResourceLimits,
        Self::Reset,
        Self::Stall,
        Self::Truncated,
        Self::NotFoundOnce,
        Self::PartialError,
        Self::BadNode,
        Self::Unauthorized,
        Self::HtmlInsteadOfJson,
        Self::Forbidden,
    ];

    /// Whether it lives inside a GraphQL answer, and so needs one to happen in.
    pub(crate) fn needs_graphql(self) -> bool {
        matches!(self, Self::ResourceLimits | Self::PartialError | Self::BadNode)
    }
}

/// The probability of each fault, per request.
#[derive(Debug, Clone, Default)]
pub struct FaultRates(BTreeMap<Fault, f64>);

impl FaultRates {
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Every fault that passes by itself; a refused token does not.
    #[must_use]
    pub fn every(probability: f64) -> Self {
        let passing = Fault::ALL.into_iter().filter(|fault| *fault != Fault::Unauthorized);
        Self(passing.map(|fault| (fault, probability)).collect())
    }

    #[must_use]
    pub fn with(mut self, fault: Fault, probability: f64) -> Self {
        self.0.insert(fault, probability);
        self
    }
}

/// The dice and the orders, and a count of what came of them.
#[derive(Debug)]
pub(crate) struct Weather {
    rates: FaultRates,
    armed: Vec<(Fault, u32)>,
    fired: BTreeMap<Fault, u64>,
}

/// What a request is, as far as the weather cares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) graphql: bool,
    /// See [`crate::WorldSpec::heaviest`].
    pub(crate) weight: u64,
}

impl Weather {
    pub(crate) fn new(rates: FaultRates) -> Self {
        Self { rates, armed: Vec::new(), fired: BTreeMap::new() }
    }

    pub(crate) fn arm(&mut self, fault: Fault, times: u32) {
        if 0 < times {
            self.armed.push((fault, times));
        }
    }

    pub(crate) fn change(&mut self, rates: FaultRates) {
        self.rates = rates;
        self.armed.clear();
    }

    pub(crate) fn fired(&self) -> &BTreeMap<Fault, u64> {
        &self.fired
    }

    /// The faults this request might meet: the ordered ones in their order, then at most one by chance.
    pub(crate) fn candidates(&self, target: Target, dice: &mut fastrand::Rng) -> Vec<Fault> {
        let fits = |fault: Fault| target.graphql || !fault.needs_graphql();
        let mut found: Vec<Fault> =
            self.armed.iter().map(|(fault, _)| *fault).filter(|fault| fits(*fault)).collect();
        found.extend(self.by_chance(target, dice).filter(|fault| fits(*fault)));
        found
    }

    /// Counts what looks like a fault but was neither ordered nor by chance.
    pub(crate) fn count(&mut self, fault: Fault) {
        *self.fired.entry(fault).or_default() += 1;
    }

    /// Notes that a fault really happened, and uses up one order for it.
    pub(crate) fn happened(&mut self, fault: Fault) {
        self.count(fault);
        if let Some(order) = self.armed.iter_mut().find(|(armed, _)| *armed == fault) {
            order.1 -= 1;
        }
        self.armed.retain(|(_, times)| 0 < *times);
    }

    fn by_chance(&self, target: Target, dice: &mut fastrand::Rng) -> Option<Fault> {
        let likely = self.rates.0.iter().filter(|(_, probability)| 0.0 < **probability);
        let mut hit = None;
        for (fault, probability) in likely {
            let roll = dice.f64();
            if hit.is_none() && roll < probability * share(*fault, target) {
                hit = Some(*fault);
            }
        }
        hit
    }
}

/// How much of its probability a fault keeps: small pages never exceed resource limits, so that
/// asking for less helps.
fn share(fault: Fault, target: Target) -> f64 {
    match (fault, target.weight) {
        (Fault::ResourceLimits, 0..=10) => 0.0,
        (Fault::ResourceLimits, 11..=50) => 0.5,
        _ => 1.0,
    }
}
