//! A database server that went away in the middle of a pull.

use hw_rules::backoff;

/// The attempts to reach it again.
#[derive(Default)]
pub(crate) struct Outage {
    attempts: u32,
    /// When the connection was lost.
    since_ms: Option<i64>,
}

/// Work that went on for so long was not part of an earlier outage.
const RECOVERED_MS: i64 = 60_000;

impl Outage {
    /// How long to wait before the work that began at `began_ms` is repeated; none when this error is no lost
    /// connection, or when the server has been away for too long.
    pub(crate) fn next_wait(
        &mut self,
        error: &hw_store::Error,
        began_ms: i64,
        now_ms: i64,
    ) -> Option<i64> {
        if now_ms.saturating_sub(began_ms) > RECOVERED_MS {
            *self = Self::default();
        }
        // the server holds the write lock for a lost session until it notices
        let is_left_locked = matches!(error, hw_store::Error::Locked(_)) && self.attempts > 0;
        if !error.is_lost_connection() && !is_left_locked {
            return None;
        }
        self.attempts += 1;
        let since_ms = *self.since_ms.get_or_insert(now_ms);
        backoff::after_lost_database(self.attempts, now_ms.saturating_sub(since_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_is_waited_out_for_a_while_and_then_given_up() {
        let (mut outage, mut now_ms, mut waits) = (Outage::default(), 0, 0);
        while let Some(wait_ms) = outage.next_wait(&lost(), now_ms, now_ms) {
            now_ms += wait_ms;
            waits += 1;
        }
        assert_eq!((waits, now_ms), (9, 95_000));
    }

    #[test]
    fn outage_that_ended_counts_no_longer() {
        let mut outage = Outage::default();
        assert_eq!(outage.next_wait(&lost(), 0, 0), Some(1_000));
        assert_eq!(outage.next_wait(&lost(), 1_000, 1_000), Some(2_000));
        assert_eq!(outage.next_wait(&lost(), 3_000, 300_000), Some(1_000));
    }

    #[test]
    fn outage_is_nothing_but_a_lost_connection_and_the_lock_it_leaves() {
        let locked = hw_store::Error::Locked("x".into());
        assert_eq!(Outage::default().next_wait(&locked, 0, 0), None);
        let mut outage = Outage::default();
        outage.next_wait(&lost(), 0, 0);
        assert_eq!(outage.next_wait(&locked, 1_000, 11_000), Some(2_000));
        let full = hw_store::Error::Full("x".into());
        assert_eq!(outage.next_wait(&full, 1_000, 11_000), None);
    }

    fn lost() -> hw_store::Error {
        hw_store::Error::Unreachable("x".into())
    }
}
