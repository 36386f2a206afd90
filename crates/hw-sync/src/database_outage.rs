//! Waits for a database server that becomes unreachable during a pull or a poll.

use hw_rules::backoff;

use crate::SyncError;
use crate::clock::Clock;
use crate::progress::{ProgressEvent, ProgressSink};

/// An outage in progress, and the attempts to reconnect.
#[derive(Default)]
pub(crate) struct DatabaseOutage {
    attempts: u32,
    /// Time at which the connection was lost.
    since_ms: Option<i64>,
}

/// Work that ran at least this long ended an earlier outage.
const RECOVERY_MS: i64 = 60_000;

impl DatabaseOutage {
    /// Returns the wait before the work that began at `began_ms` is repeated; none if this error is not a lost
    /// connection, or if the outage lasts too long.
    pub(crate) fn next_delay(
        &mut self,
        error: &hw_store::StoreError,
        began_ms: i64,
        now_ms: i64,
    ) -> Option<i64> {
        if now_ms.saturating_sub(began_ms) > RECOVERY_MS {
            *self = Self::default();
        }
        // the server keeps the write lock of a lost session until it notices
        let is_left_locked =
            matches!(error, hw_store::StoreError::DatabaseLocked(_)) && self.attempts > 0;
        if !error.is_lost_connection() && !is_left_locked {
            return None;
        }
        self.attempts += 1;
        let since_ms = *self.since_ms.get_or_insert(now_ms);
        backoff::lost_database_delay_ms(self.attempts, now_ms.saturating_sub(since_ms))
    }
}

/// Repeats work whose connection to the database is lost, once there is a new one.
///
/// This is safe because pages are stored with their progress, and a page that may or may not have been stored is simply
/// stored again.
pub(crate) async fn outlive_outages<T>(
    clock: &dyn Clock,
    progress: &ProgressSink,
    mut work: impl AsyncFnMut() -> Result<T, SyncError>,
) -> Result<T, SyncError> {
    let mut outage = DatabaseOutage::default();
    loop {
        let began_ms = clock.now_ms();
        let error = match work().await {
            Err(SyncError::Store(error)) => error,
            other => return other,
        };
        let Some(wait_ms) = outage.next_delay(&error, began_ms, clock.now_ms()) else {
            return Err(error.into());
        };
        tracing::warn!(%error, wait_ms, "lost the connection to the database; starting over");
        progress.emit(|| ProgressEvent::RetryScheduled { reason: error.to_string(), wait_ms });
        clock.sleep_until(clock.now_ms() + wait_ms).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_is_waited_out_for_a_limited_time() {
        let (mut outage, mut now_ms, mut waits) = (DatabaseOutage::default(), 0, 0);
        while let Some(wait_ms) = outage.next_delay(&lost_connection(), now_ms, now_ms) {
            now_ms += wait_ms;
            waits += 1;
        }
        assert_eq!((waits, now_ms), (9, 95_000));
    }

    #[test]
    fn outage_that_ended_no_longer_counts() {
        let mut outage = DatabaseOutage::default();
        assert_eq!(outage.next_delay(&lost_connection(), 0, 0), Some(1_000));
        assert_eq!(outage.next_delay(&lost_connection(), 1_000, 1_000), Some(2_000));
        assert_eq!(outage.next_delay(&lost_connection(), 3_000, 300_000), Some(1_000));
    }

    #[test]
    fn outage_begins_with_a_lost_connection_and_includes_the_lock_it_leaves() {
        let locked = hw_store::StoreError::DatabaseLocked("x".into());
        assert_eq!(DatabaseOutage::default().next_delay(&locked, 0, 0), None);
        let mut outage = DatabaseOutage::default();
        outage.next_delay(&lost_connection(), 0, 0);
        assert_eq!(outage.next_delay(&locked, 1_000, 11_000), Some(2_000));
        let full = hw_store::StoreError::DiskFull("x".into());
        assert_eq!(outage.next_delay(&full, 1_000, 11_000), None);
    }

    fn lost_connection() -> hw_store::StoreError {
        hw_store::StoreError::Unreachable("x".into())
    }
}
