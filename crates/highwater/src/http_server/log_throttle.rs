//! Limits log lines that a flood would repeat to one per minute.

const INTERVAL_MS: i64 = 60_000;

#[derive(Debug, Default)]
pub(super) struct LogThrottle {
    logged_at_ms: Option<i64>,
}

impl LogThrottle {
    /// Returns true if the line should be logged now, and records that it was. A clock that is set back does not
    /// silence it.
    pub(super) fn is_due(&mut self, now_ms: i64) -> bool {
        let is_due = self.logged_at_ms.is_none_or(|at_ms| (now_ms - at_ms).abs() >= INTERVAL_MS);
        if is_due {
            self.logged_at_ms = Some(now_ms);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_throttle_lets_one_line_a_minute_through() {
        let mut throttle = LogThrottle::default();
        let due = [0, 1, 59_999, 60_000, 60_001, -5].map(|now_ms| throttle.is_due(now_ms));
        assert_eq!(due, [true, false, false, true, false, true]);
    }
}
