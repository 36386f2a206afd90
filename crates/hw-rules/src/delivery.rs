//! Delivers events to consumers: at least once each, until one acknowledges them or they count as dead letters.
//!
//! A consumer's position is a set, stored as a floor and exceptions: it has acknowledged everything up to the floor but
//! the exceptions below it, and nothing above but those.

use std::time::Duration;

/// The state of an event at one consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeliveryState {
    /// Somebody works on it until the lease ends.
    Leased,
    /// It was rejected, and comes again.
    Waiting,
    Acknowledged,
    /// It failed too often, and does not come again.
    Dead,
}

impl DeliveryState {
    pub const ALL: [Self; 4] = [Self::Leased, Self::Waiting, Self::Acknowledged, Self::Dead];

    pub fn name(self) -> &'static str {
        match self {
            Self::Leased => "leased",
            Self::Waiting => "waiting",
            Self::Acknowledged => "acknowledged",
            Self::Dead => "dead",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// How often an event is delivered before it counts as a dead letter.
pub const DEFAULT_MAX_TRIES: u32 = 5;
/// The time for which a delivered event belongs to its reader.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(600);
/// The time for which events are kept after the last consumer's acknowledgement.
pub const RETENTION_MS: i64 = 90 * 86_400_000;

/// Returns the state of an event whose delivery failed: rejected, or not acknowledged before its lease ended.
pub fn state_after_failure(tries: u32, max_tries: u32) -> DeliveryState {
    if tries >= max_tries { DeliveryState::Dead } else { DeliveryState::Waiting }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivery_that_fails_too_often_is_dead() {
        let states = [1, 4, 5, 6].map(|tries| state_after_failure(tries, DEFAULT_MAX_TRIES));
        let (waiting, dead) = (DeliveryState::Waiting, DeliveryState::Dead);
        assert_eq!(states, [waiting, waiting, dead, dead]);
        for state in DeliveryState::ALL {
            assert_eq!(DeliveryState::from_name(state.name()), Some(state));
        }
    }
}
