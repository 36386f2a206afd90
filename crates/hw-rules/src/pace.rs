//! How fast to go: the delay before a request, by how much of the hour's budget is used.

use crate::backoff::Jitter;

/// The user's choice of pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// No delay below half of the budget.
    #[default]
    Adaptive,
    /// GitHub's advice for writes, kept for reads too: a second and more each time.
    Conservative,
}

/// The delay before the next request, in milliseconds.
///
/// `used` of `limit` points are gone; `recovering` holds while answers are not clean yet after a limit.
#[expect(clippy::cast_possible_truncation, reason = "a few thousand milliseconds")]
pub fn delay_ms(pace: Pace, used: i64, limit: i64, recovering: bool, jitter: Jitter) -> i64 {
    let share = if limit <= 0 { 0.0 } else { used as f64 / limit as f64 };
    let (low, high) = match (pace, share) {
        _ if recovering => (5_000.0, 10_000.0),
        (_, share) if 0.9 < share => (3_000.0, 5_000.0),
        (_, share) if 0.7 < share => (2_000.0, 3_000.0),
        (_, share) if 0.5 < share => (1_000.0, 2_000.0),
        (Pace::Adaptive, _) => (0.0, 0.0),
        (Pace::Conservative, _) => (1_000.0, 1_500.0),
    };
    (low + (high - low) * jitter.0.clamp(0.0, 1.0)) as i64
}

/// How much of the hour's budget is left for the user's other tools, in percent, unless he says otherwise.
pub const RESERVE_PERCENT: i64 = 10;

/// Whether all that remains is the part that is left for the user's other tools.
pub fn is_reserve(remaining: i64, limit: i64, percent: i64) -> bool {
    0 < limit && remaining.saturating_mul(100) <= limit.saturating_mul(percent.clamp(0, 90))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_grows_with_use() {
        let delay = |pace, used| delay_ms(pace, used, 5_000, false, Jitter(0.0));
        let adaptive = [0, 2_500, 2_501, 3_501, 4_501].map(|used| delay(Pace::Adaptive, used));
        assert_eq!(adaptive, [0, 0, 1_000, 2_000, 3_000]);
        let conservative = [0, 2_501].map(|used| delay(Pace::Conservative, used));
        assert_eq!(conservative, [1_000, 1_000]);
        assert_eq!(delay_ms(Pace::Adaptive, 0, 5_000, true, Jitter(1.0)), 10_000);
    }

    #[test]
    fn a_tenth_is_left_to_others() {
        assert!(!is_reserve(501, 5_000, RESERVE_PERCENT));
        assert!(is_reserve(500, 5_000, RESERVE_PERCENT));
        assert!(is_reserve(0, 5_000, 0), "nothing is left at all");
        assert!(!is_reserve(1, 5_000, 0), "everything may be used");
        assert!(!is_reserve(0, 0, RESERVE_PERCENT), "no limit is told");
    }
}
