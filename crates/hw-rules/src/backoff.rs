//! When to try again: how long to wait after each kind of trouble.

const MINUTE_MS: i64 = 60_000;
const LONGEST_MS: i64 = 30 * MINUTE_MS;

/// How often a server error is tried before the lane gives up for this turn.
pub const SERVER_TRIES: u32 = 10;

/// A number in 0..1 that the caller drew; waits are spread by it so that processes do not march in step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter(pub f64);

impl Jitter {
    /// The wait, plus up to this share of it.
    #[expect(clippy::cast_possible_truncation, reason = "waits are far below 2^53 ms")]
    fn stretch(self, ms: i64, share: f64) -> i64 {
        ms + (ms as f64 * share * self.0.clamp(0.0, 1.0)) as i64
    }
}

/// The wait after the n-th server error or unclassified answer (first = 1): 5 s doubling.
pub fn after_server_error(attempt: u32, jitter: Jitter) -> i64 {
    jitter.stretch(doubling(5_000, attempt), 0.25).min(LONGEST_MS)
}

/// The wait before asking for less: the next try is another question, so it does not grow.
pub fn before_asking_for_less(jitter: Jitter) -> i64 {
    jitter.stretch(2_000, 0.25)
}

/// The wait after the n-th network failure (first = 1): three quick tries, then 60 to 120 s.
pub fn after_network_error(attempt: u32, jitter: Jitter) -> i64 {
    match attempt {
        0..=3 => doubling(1_000, attempt),
        _ => jitter.stretch(MINUTE_MS, 1.0),
    }
}

/// The wait before a plain 403 is asked about once more.
pub fn after_refusal(jitter: Jitter) -> i64 {
    jitter.stretch(5_000, 0.25)
}

/// The wait after the n-th secondary limit in a row that came without any header: a minute, growing.
pub fn after_silent_limit(attempt: u32, jitter: Jitter) -> i64 {
    jitter.stretch(doubling(MINUTE_MS, attempt), 0.25).min(LONGEST_MS)
}

/// The wait before a lane that failed n turns in a row is tried again.
pub fn after_failed_turn(failures: u32, jitter: Jitter) -> i64 {
    jitter.stretch(doubling(15_000, failures), 0.25).min(LONGEST_MS)
}

/// The wait before the n-th attempt (first = 1) to reach a database server that was lost `lost_for_ms` ago; none when
/// it has been away for too long. A session that the server still takes for alive holds its locks for a minute.
pub fn after_lost_database(attempt: u32, lost_for_ms: i64) -> Option<i64> {
    const GIVE_UP_MS: i64 = 90_000;
    const LONGEST_WAIT_MS: i64 = 16_000;
    (lost_for_ms < GIVE_UP_MS).then(|| doubling(1_000, attempt).min(LONGEST_WAIT_MS))
}

fn doubling(first_ms: i64, attempt: u32) -> i64 {
    let factor = 1i64.checked_shl(attempt.saturating_sub(1)).filter(|f| 0 < *f && *f < 1 << 20);
    factor.map_or(LONGEST_MS, |factor| first_ms.saturating_mul(factor)).min(LONGEST_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end_at_half_an_hour() {
        let waits: Vec<i64> =
            (1..=11).map(|n| after_server_error(n, Jitter(0.0)) / 1_000).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_800, 1_800]);
        assert_eq!(after_silent_limit(1, Jitter(0.0)), MINUTE_MS);
        assert_eq!(after_silent_limit(u32::MAX, Jitter(1.0)), LONGEST_MS);
    }

    #[test]
    fn a_lost_database_is_tried_again_for_a_minute_and_a_half() {
        let waits: Vec<_> = (1..=7).filter_map(|n| after_lost_database(n, 0)).collect();
        assert_eq!(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000]);
        assert_eq!(after_lost_database(7, 90_000), None);
    }

    #[test]
    fn a_lost_connection_is_tried_quickly_three_times_and_then_patiently() {
        let waits: Vec<i64> =
            (1..=5).map(|n| after_network_error(n, Jitter(0.5)) / 1_000).collect();
        assert_eq!(waits, [1, 2, 4, 90, 90]);
    }
}
