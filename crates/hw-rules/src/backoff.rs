//! Computes the delay before a retry, for each kind of failure.

const MINUTE_MS: i64 = 60_000;
const MAX_DELAY_MS: i64 = 30 * MINUTE_MS;

/// The number of attempts at a request that ends in server errors, before the lane gives up for this turn.
pub const MAX_SERVER_ATTEMPTS: u32 = 10;

/// A random number in 0..1 from the caller. It spreads delays, so that processes do not retry in step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter(pub f64);

impl Jitter {
    /// Returns the delay plus up to this share of it.
    #[expect(clippy::cast_possible_truncation, reason = "delays are far below 2^53 ms")]
    fn stretch_delay(self, ms: i64, share: f64) -> i64 {
        ms + (ms as f64 * share * self.0.clamp(0.0, 1.0)) as i64
    }
}

/// The delays between the attempts at a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDelays {
    /// They grow with each failure, and depend on its kind.
    Growing,
    /// Each is twice the one before, whatever the failure is. After this many, the request is given up.
    Doubling { first_ms: i64, retries: u32 },
}

impl RetryDelays {
    /// Returns the delay after the n-th failure (first = 1), of which `growing_ms` is the one for its kind; none gives up.
    pub fn delay_ms(self, failures: u32, growing_ms: i64) -> Option<i64> {
        match self {
            Self::Growing => Some(growing_ms),
            Self::Doubling { first_ms, retries } => {
                (failures <= retries).then(|| exponential_delay_ms(first_ms, failures))
            }
        }
    }
}

/// Returns the delay after the n-th server error or unclassified response (first = 1): 5 s, doubling.
pub fn server_error_delay_ms(attempt: u32, jitter: Jitter) -> i64 {
    jitter.stretch_delay(exponential_delay_ms(5_000, attempt), 0.25).min(MAX_DELAY_MS)
}

/// Returns the delay before a smaller page is requested. It does not grow, because the next request is a different one.
pub fn smaller_page_delay_ms(jitter: Jitter) -> i64 {
    jitter.stretch_delay(2_000, 0.25)
}

/// Returns the delay after the n-th network failure (first = 1): three quick attempts, then 60 to 120 s.
pub fn network_error_delay_ms(attempt: u32, jitter: Jitter) -> i64 {
    match attempt {
        0..=3 => exponential_delay_ms(1_000, attempt),
        _ => jitter.stretch_delay(MINUTE_MS, 1.0),
    }
}

/// Returns the delay before a request is repeated after a plain 403.
pub fn refusal_delay_ms(jitter: Jitter) -> i64 {
    jitter.stretch_delay(5_000, 0.25)
}

/// Returns the delay after the n-th secondary rate limit in a row without any header: a minute, doubling.
pub fn silent_limit_delay_ms(attempt: u32, jitter: Jitter) -> i64 {
    jitter.stretch_delay(exponential_delay_ms(MINUTE_MS, attempt), 0.25).min(MAX_DELAY_MS)
}

/// Returns the delay before a lane that failed n turns in a row is tried again.
pub fn failed_turn_delay_ms(failures: u32, jitter: Jitter) -> i64 {
    jitter.stretch_delay(exponential_delay_ms(15_000, failures), 0.25).min(MAX_DELAY_MS)
}

/// Returns the delay before the n-th attempt (first = 1) to reach a database server that was lost `lost_for_ms` ago;
/// none when it has been away for too long. A session that the server still considers alive holds its locks for a
/// minute, so a shorter patience would give up too early.
pub fn lost_database_delay_ms(attempt: u32, lost_for_ms: i64) -> Option<i64> {
    const GIVE_UP_AFTER_MS: i64 = 90_000;
    const MAX_WAIT_MS: i64 = 16_000;
    (lost_for_ms < GIVE_UP_AFTER_MS).then(|| exponential_delay_ms(1_000, attempt).min(MAX_WAIT_MS))
}

/// Returns the delay before a service starts over that was interrupted n times in a row (first = 1).
pub fn restart_delay_ms(attempt: u32) -> i64 {
    exponential_delay_ms(1_000, attempt).min(MINUTE_MS)
}

fn exponential_delay_ms(first_ms: i64, attempt: u32) -> i64 {
    let factor = 1i64.checked_shl(attempt.saturating_sub(1)).filter(|f| (1..1 << 20).contains(f));
    factor.map_or(MAX_DELAY_MS, |factor| first_ms.saturating_mul(factor)).min(MAX_DELAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_up_to_half_an_hour() {
        let waits: Vec<i64> =
            (1..=11).map(|n| server_error_delay_ms(n, Jitter(0.0)) / 1_000).collect();
        assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1_280, 1_800, 1_800]);
        assert_eq!(silent_limit_delay_ms(1, Jitter(0.0)), MINUTE_MS);
        assert_eq!(silent_limit_delay_ms(u32::MAX, Jitter(1.0)), MAX_DELAY_MS);
    }

    #[test]
    fn backoff_doubles_a_few_delays_and_then_gives_up() {
        let delays = RetryDelays::Doubling { first_ms: 1_000, retries: 3 };
        let waits: Vec<_> = (1..=4).map(|n| delays.delay_ms(n, 7)).collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), Some(4_000), None]);
        let longest = RetryDelays::Doubling { first_ms: 60_000, retries: 10 };
        assert_eq!(longest.delay_ms(10, 7), Some(MAX_DELAY_MS));
        assert_eq!(RetryDelays::Doubling { first_ms: 0, retries: 1 }.delay_ms(1, 7), Some(0));
        assert_eq!(RetryDelays::Growing.delay_ms(5, 7), Some(7));
    }

    #[test]
    fn backoff_retries_a_lost_database_for_ninety_seconds() {
        let waits: Vec<_> = (1..=7).filter_map(|n| lost_database_delay_ms(n, 0)).collect();
        assert_eq!(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000]);
        assert_eq!(lost_database_delay_ms(7, 90_000), None);
    }

    #[test]
    fn backoff_retries_the_network_quickly_three_times_then_slowly() {
        let waits: Vec<i64> =
            (1..=5).map(|n| network_error_delay_ms(n, Jitter(0.5)) / 1_000).collect();
        assert_eq!(waits, [1, 2, 4, 90, 90]);
    }
}
