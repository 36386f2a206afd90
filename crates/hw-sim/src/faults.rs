//! The faults that can hit a request, at random or armed by a test.

use std::collections::BTreeMap;

/// One way in which a response can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ApiFault {
    BadGateway,
    GatewayTimeout,
    SecondaryWithRetryAfter,
    /// A secondary limit that is recognizable by its message only.
    SecondaryWithoutHeaders,
    SecondaryAs200,
    /// REST: 403 with nothing remaining. GraphQL: 200 with `RATE_LIMIT`.
    PrimaryExhausted,
    /// As `PrimaryExhausted`, with the older type `RATE_LIMITED`.
    PrimaryExhaustedLegacy,
    /// 200 with `RESOURCE_LIMITS_EXCEEDED` and partial or null data.
    ResourceLimits,
    Reset,
    Stall,
    Truncated,
    /// An existing repository or node is null with `NOT_FOUND`, by itself or in a list.
    NotFoundOnce,
    /// One root, node or connection is null, with an error whose path names it; a connection that cannot be null
    /// makes its parent null.
    PartialError,
    /// One node lacks a mandatory field, or has it with a wrong type.
    BadNode,
    Unauthorized,
    HtmlInsteadOfJson,
    /// The token has no access. GraphQL: a root or node is null with `FORBIDDEN`, or 403; REST: 403.
    Forbidden,
}

impl ApiFault {
    pub const ALL: [Self; 17] = [
        Self::BadGateway,
        Self::GatewayTimeout,
        Self::SecondaryWithRetryAfter,
        Self::SecondaryWithoutHeaders,
        Self::SecondaryAs200,
        Self::PrimaryExhausted,
        Self::PrimaryExhaustedLegacy,
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

    /// Returns true if it happens inside a GraphQL response.
    pub(crate) fn needs_graphql(self) -> bool {
        matches!(self, Self::ResourceLimits | Self::PartialError | Self::BadNode)
    }
}

/// The probability of each fault, per request.
#[derive(Debug, Clone, Default)]
pub struct FaultRates(BTreeMap<ApiFault, f64>);

impl FaultRates {
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Gives every fault that passes by itself this probability; a rejected token does not pass.
    #[must_use]
    pub fn all_transient(probability: f64) -> Self {
        let transient = ApiFault::ALL.into_iter().filter(|fault| *fault != ApiFault::Unauthorized);
        Self(transient.map(|fault| (fault, probability)).collect())
    }

    #[must_use]
    pub fn with_rate(mut self, fault: ApiFault, probability: f64) -> Self {
        self.0.insert(fault, probability);
        self
    }
}

/// Chooses faults by their rates and by what tests armed, and counts the ones that fired.
#[derive(Debug)]
pub(crate) struct FaultInjector {
    rates: FaultRates,
    armed_faults: Vec<ArmedFault>,
    fired_counts: BTreeMap<ApiFault, u64>,
}

/// A fault that hits the next requests it can.
#[derive(Debug)]
struct ArmedFault {
    fault: ApiFault,
    remaining: u32,
}

/// The properties of a request that decide which faults can hit it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FaultTarget {
    pub(crate) is_graphql: bool,
    /// See [`crate::WorldSpec::max_request_weight`].
    pub(crate) weight: u64,
}

impl FaultTarget {
    fn can_meet(self, fault: ApiFault) -> bool {
        self.is_graphql || !fault.needs_graphql()
    }
}

impl FaultInjector {
    pub(crate) fn new(rates: FaultRates) -> Self {
        Self { rates, armed_faults: Vec::new(), fired_counts: BTreeMap::new() }
    }

    pub(crate) fn arm_fault(&mut self, fault: ApiFault, times: u32) {
        if times > 0 {
            self.armed_faults.push(ArmedFault { fault, remaining: times });
        }
    }

    pub(crate) fn replace_rates(&mut self, rates: FaultRates) {
        self.rates = rates;
        self.armed_faults.clear();
    }

    pub(crate) fn fired_counts(&self) -> &BTreeMap<ApiFault, u64> {
        &self.fired_counts
    }

    /// Returns the faults that may hit this request: the armed ones in their order, then at most one at random.
    pub(crate) fn candidate_faults(
        &self,
        target: FaultTarget,
        rng: &mut fastrand::Rng,
    ) -> Vec<ApiFault> {
        let mut faults: Vec<ApiFault> = self.armed_faults.iter().map(|armed| armed.fault).collect();
        faults.extend(self.roll_fault(target, rng));
        faults.retain(|fault| target.can_meet(*fault));
        faults
    }

    /// Counts a failure that was neither armed nor chosen at random.
    pub(crate) fn count_fault(&mut self, fault: ApiFault) {
        *self.fired_counts.entry(fault).or_default() += 1;
    }

    /// Counts a fault that fired, and uses up one armed occurrence of it.
    pub(crate) fn record_fired(&mut self, fault: ApiFault) {
        self.count_fault(fault);
        if let Some(armed) = self.armed_faults.iter_mut().find(|armed| armed.fault == fault) {
            armed.remaining -= 1;
        }
        self.armed_faults.retain(|armed| armed.remaining > 0);
    }

    fn roll_fault(&self, target: FaultTarget, rng: &mut fastrand::Rng) -> Option<ApiFault> {
        let possible = self.rates.0.iter().filter(|(_, probability)| **probability > 0.0);
        let mut hit = None;
        for (fault, probability) in possible {
            let roll = rng.f64();
            if hit.is_none() && roll < probability * probability_scale(*fault, target) {
                hit = Some(*fault);
            }
        }
        hit
    }
}

/// Returns the factor for the probability of a fault: small pages never exceed resource limits, so that requesting less
/// helps.
fn probability_scale(fault: ApiFault, target: FaultTarget) -> f64 {
    match (fault, target.weight) {
        (ApiFault::ResourceLimits, 0..=10) => 0.0,
        (ApiFault::ResourceLimits, 11..=50) => 0.5,
        _ => 1.0,
    }
}
