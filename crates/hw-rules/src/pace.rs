//! Paces requests: computes the delay before each one from the share of the hourly rate limit that is used.

use crate::backoff::Jitter;

/// The user's choice of pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestPace {
    /// No delay below half of the rate limit.
    #[default]
    Adaptive,
    /// At least a second between requests: GitHub's advice for writes, followed for reads too.
    Conservative,
}

/// Returns the delay before the next request, in milliseconds.
///
/// `used` of `limit` points are spent; `recovering` is set after a rate limit until responses are clean again.
#[expect(clippy::cast_possible_truncation, reason = "a few thousand milliseconds")]
pub fn request_delay_ms(
    pace: RequestPace,
    used: i64,
    limit: i64,
    recovering: bool,
    jitter: Jitter,
) -> i64 {
    let share = if limit <= 0 { 0.0 } else { used as f64 / limit as f64 };
    let (low, high) = match (pace, share) {
        _ if recovering => (5_000.0, 10_000.0),
        (_, share) if share > 0.9 => (3_000.0, 5_000.0),
        (_, share) if share > 0.7 => (2_000.0, 3_000.0),
        (_, share) if share > 0.5 => (1_000.0, 2_000.0),
        (RequestPace::Adaptive, _) => (0.0, 0.0),
        (RequestPace::Conservative, _) => (1_000.0, 1_500.0),
    };
    (low + (high - low) * jitter.0.clamp(0.0, 1.0)) as i64
}

/// The default share of the hourly rate limit to leave for the user's other tools, in percent.
pub const DEFAULT_RESERVE_PERCENT: i64 = 10;

/// Returns true if only this share of the rate limit remains.
pub fn is_floor_reached(remaining: i64, limit: i64, floor_percent: i64) -> bool {
    limit > 0 && remaining.saturating_mul(100) <= limit.saturating_mul(floor_percent.clamp(0, 99))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pace_slows_down_with_use() {
        let adaptive = [0, 2_500, 2_501, 3_501, 4_501]
            .map(|used| request_delay_ms(RequestPace::Adaptive, used, 5_000, false, Jitter(0.0)));
        assert_eq!(adaptive, [0, 0, 1_000, 2_000, 3_000]);
        let conservative = [0, 2_501].map(|used| {
            request_delay_ms(RequestPace::Conservative, used, 5_000, false, Jitter(0.0))
        });
        assert_eq!(conservative, [1_000, 1_000]);
        assert_eq!(request_delay_ms(RequestPace::Adaptive, 0, 5_000, true, Jitter(1.0)), 10_000);
    }

    #[test]
    fn pace_reserves_a_tenth_for_other_tools() {
        assert!(!is_floor_reached(501, 5_000, DEFAULT_RESERVE_PERCENT));
        assert!(is_floor_reached(500, 5_000, DEFAULT_RESERVE_PERCENT));
        assert!(is_floor_reached(0, 5_000, 0), "nothing is left at all");
        assert!(!is_floor_reached(1, 5_000, 0), "everything may be used");
        assert!(!is_floor_reached(0, 0, DEFAULT_RESERVE_PERCENT), "no limit is reported");
    }
}
