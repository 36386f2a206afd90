//! A counting semaphore whose callers wait a limited time for a permit.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::DriverError;

pub(super) struct TimedSemaphore {
    available: Mutex<usize>,
    released: Condvar,
    max_wait: Duration,
}

/// One permit, released when it is dropped.
pub(super) struct SemaphorePermit<'a>(&'a TimedSemaphore);

impl TimedSemaphore {
    pub(super) fn new(permits: usize, max_wait: Duration) -> Self {
        Self { available: Mutex::new(permits), released: Condvar::new(), max_wait }
    }

    /// Acquires a permit. Waits up to `max_wait` if none is available.
    pub(super) fn acquire(&self) -> Result<SemaphorePermit<'_>, DriverError> {
        let available = self.available.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut available, _) = self
            .released
            .wait_timeout_while(available, self.max_wait, |available| *available == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *available = available.checked_sub(1).ok_or("too many concurrent readers")?;
        Ok(SemaphorePermit(self))
    }
}

impl Drop for SemaphorePermit<'_> {
    fn drop(&mut self) {
        *self.0.available.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.released.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semaphore_waits_for_a_permit_and_gives_up_after_max_wait() {
        let permits = TimedSemaphore::new(1, Duration::from_millis(20));
        let taken = permits.acquire().unwrap();
        assert!(permits.acquire().is_err(), "the permit was never released");
        drop(taken);
        assert!(permits.acquire().is_ok());
        let patient = TimedSemaphore::new(1, Duration::from_secs(60));
        let taken = patient.acquire().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| patient.acquire().is_ok());
            drop(taken);
            assert!(waiting.join().unwrap());
        });
    }
}
