//! A number of places that may be taken at a time; whoever finds none waits for one.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::error::DriverError;

pub(super) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
    patience: Duration,
}

/// One place, until it is dropped.
pub(super) struct Permit<'a>(&'a Permits);

impl Permits {
    pub(super) fn new(places: usize, patience: Duration) -> Self {
        Self { free: Mutex::new(places), freed: Condvar::new(), patience }
    }

    /// Takes a place; waits when there is none, but not for ever.
    pub(super) fn take(&self) -> Result<Permit<'_>, DriverError> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut free, _) = self
            .freed
            .wait_timeout_while(free, self.patience, |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *free = free.checked_sub(1).ok_or("too many are reading at once")?;
        Ok(Permit(self))
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_finds_no_place_waits_for_one_and_not_for_ever() {
        let permits = Permits::new(1, Duration::from_millis(20));
        let taken = permits.take().unwrap();
        assert!(permits.take().is_err(), "nobody went");
        drop(taken);
        assert!(permits.take().is_ok());
        let patient = Permits::new(1, Duration::from_secs(60));
        let taken = patient.take().unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| patient.take().is_ok());
            drop(taken);
            assert!(waiting.join().unwrap());
        });
    }
}
