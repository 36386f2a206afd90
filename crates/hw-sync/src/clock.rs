//! Reads the machine's clock and waits: the only module that does either.

use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub type SleepFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Our own time, in unix milliseconds.
pub trait Clock: Send + Sync {
    fn now_ms(&self) -> i64;

    /// Returns the milliseconds since some moment of this run. They never decrease, even if the clock is set back.
    fn monotonic_ms(&self) -> i64;

    /// Waits until this time; returns at once if it has passed.
    fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_>;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct MachineClock;

impl Clock for MachineClock {
    #[expect(clippy::disallowed_methods, reason = "the one module that reads the clock")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "the one module that reads the clock")]
    fn monotonic_ms(&self) -> i64 {
        static START: OnceLock<Instant> = OnceLock::new();
        let passed = START.get_or_init(Instant::now).elapsed();
        i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "the one module that waits")]
    fn sleep_until(&self, until_ms: i64) -> SleepFuture<'_> {
        let wait = u64::try_from(until_ms.saturating_sub(self.now_ms())).unwrap_or(0);
        Box::pin(tokio::time::sleep(Duration::from_millis(wait)))
    }
}
