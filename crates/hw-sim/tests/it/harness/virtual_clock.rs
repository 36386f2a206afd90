//! The virtual clock: the runtime's paused clock, read as Unix milliseconds.

use std::time::Duration;

use hw_sync::clock::{Clock, SleepFuture};
use tokio::time::Instant;

pub(crate) struct VirtualClock {
    start_ms: i64,
    started: std::sync::OnceLock<Instant>,
}

impl VirtualClock {
    pub(crate) fn starting_at(start_ms: i64) -> Self {
        Self { start_ms, started: std::sync::OnceLock::new() }
    }

    #[expect(clippy::disallowed_methods, reason = "the runtime's paused clock, not the machine's")]
    pub(crate) fn virtual_now_ms(&self) -> i64 {
        if tokio::runtime::Handle::try_current().is_err() {
            return self.start_ms;
        }
        let started = self.started.get_or_init(Instant::now);
        self.start_ms + i64::try_from(started.elapsed().as_millis()).unwrap()
    }

    /// Lets time pass.
    #[expect(clippy::disallowed_methods, reason = "the runtime's paused clock, not the machine's")]
    pub(crate) async fn advance_by(&self, ms: u64) {
        self.virtual_now_ms();
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

impl Clock for VirtualClock {
    fn now_ms(&self) -> i64 {
        self.virtual_now_ms()
    }

    fn monotonic_ms(&self) -> i64 {
        self.virtual_now_ms()
    }

    fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_> {
        let wait = u64::try_from(until_ms - self.virtual_now_ms()).unwrap_or(0);
        Box::pin(self.advance_by(wait))
    }
}
