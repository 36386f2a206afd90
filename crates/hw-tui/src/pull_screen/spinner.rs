//! Animates the spinner in front of active items: it turns as fast as responses arrive.

const FRAMES: [&str; 4] = ["🔄", "🔃", "⚡", "🔁"];
/// The time over which the rate is measured.
const RATE_WINDOW_MS: i64 = 1_000;
/// The highest speed: at the screen's refresh rate, a faster spinner would appear to stand still.
const MAX_STEPS_PER_SECOND: u64 = 5;

#[derive(Debug, Clone)]
pub(super) struct Spinner {
    /// The time of the last measurement, and the number of requests until then.
    measured_ms: i64,
    requests: u64,
    /// The position at the last measurement, in thousandths of a step.
    millisteps: u64,
    steps_per_second: u64,
}

impl Spinner {
    pub(super) fn new(now_ms: i64) -> Self {
        Self { measured_ms: now_ms, requests: 0, millisteps: 0, steps_per_second: 1 }
    }

    /// Measures the rate when a second has passed: one step for each request, up to the highest speed.
    pub(super) fn update_rate(&mut self, requests: u64, now_ms: i64) {
        let elapsed_ms = now_ms.saturating_sub(self.measured_ms);
        if elapsed_ms < RATE_WINDOW_MS {
            return;
        }
        self.millisteps = self.millisteps_at(now_ms);
        let seconds = elapsed_ms.unsigned_abs().div_ceil(RATE_WINDOW_MS.unsigned_abs());
        let new_requests = requests.saturating_sub(self.requests);
        self.steps_per_second = new_requests.div_ceil(seconds).min(MAX_STEPS_PER_SECOND);
        (self.measured_ms, self.requests) = (now_ms, requests);
    }

    pub(super) fn frame_at(&self, now_ms: i64) -> &'static str {
        let step = usize::try_from(self.millisteps_at(now_ms) / 1_000).unwrap_or(0);
        FRAMES[step % FRAMES.len()]
    }

    fn millisteps_at(&self, now_ms: i64) -> u64 {
        let elapsed_ms = u64::try_from(now_ms.saturating_sub(self.measured_ms)).unwrap_or(0);
        self.millisteps + elapsed_ms * self.steps_per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spinner_turns_with_the_request_rate() {
        for (requests, steps) in [(0, 0), (1, 1), (3, 3), (5, 5), (500, 5)] {
            let mut spinner = Spinner::new(0);
            spinner.update_rate(requests, 1_000);
            let taken = (spinner.millisteps_at(2_000) - spinner.millisteps_at(1_000)) / 1_000;
            assert_eq!(taken, steps, "{requests} requests a second");
        }
    }

    #[test]
    fn spinner_shows_every_frame_in_order() {
        let mut spinner = Spinner::new(0);
        spinner.update_rate(4, 1_000);
        let frames: Vec<_> =
            (0..5).map(|quarter| spinner.frame_at(1_000 + quarter * 250)).collect();
        assert_eq!(frames, ["🔃", "⚡", "🔁", "🔄", "🔃"]);
    }

    #[test]
    fn spinner_stands_still_without_requests() {
        let mut spinner = Spinner::new(0);
        spinner.update_rate(7, 1_000);
        spinner.update_rate(7, 2_000);
        assert_eq!(spinner.frame_at(2_000), spinner.frame_at(60_000));
        let before = spinner.frame_at(60_000);
        spinner.update_rate(8, 60_000);
        assert_eq!(spinner.frame_at(60_000), before, "a new rate does not make it jump");
    }
}
