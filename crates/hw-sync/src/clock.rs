//! The clock: the one place that asks the machine for the time, and the one way to wait.

use std::pin::Pin;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub type Waiting<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Our own time, in unix milliseconds.
pub trait Clock: Send + Sync {
    fn now_ms(&self) -> i64;

    /// Milliseconds since some moment of this run: they never fall, whoever sets the clock.
    fn monotonic_ms(&self) -> i64;

    /// Waits until then; not at all when it has passed.
    fn sleep_until(&self, until_ms: i64) -> Waiting<'_>;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct MachineClock;

impl Clock for MachineClock {
    #[expect(clippy::disallowed_methods, reason = "this is the place that asks")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place that asks")]
    fn monotonic_ms(&self) -> i64 {
        static START: OnceLock<Instant> = OnceLock::new();
        let passed = START.get_or_init(Instant::now).elapsed();
        i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place that waits")]
    fn sleep_until(&self, until_ms: i64) -> Waiting<'_> {
        let wait = u64::try_from(until_ms.saturating_sub(self.now_ms())).unwrap_or(0);
        Box::pin(tokio::time::sleep(Duration::from_millis(wait)))
    }
}
