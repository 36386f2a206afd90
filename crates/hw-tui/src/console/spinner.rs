//! The wheel in front of active items: it turns as fast as requests are answered.

const FACES: [&str; 4] = ["🔄", "🔃", "⚡", "🔁"];
/// The rate is measured over this long.
const MEASURED_MS: i64 = 1_000;
/// More turns a second than frames would be seen as standing still.
const FASTEST: u64 = 5;

#[derive(Debug, Clone)]
pub(super) struct Spinner {
    /// When the rate was last measured, and how many requests there were by then.
    measured_ms: i64,
    requests: u64,
    /// Thousandths of a step: taken by then, and per millisecond since.
    taken: u64,
    steps_a_second: u64,
}

impl Spinner {
    pub(super) fn new(now_ms: i64) -> Self {
        Self { measured_ms: now_ms, requests: 0, taken: 0, steps_a_second: 1 }
    }

    /// Measures the rate when a second has passed: one step for each request, as far as eyes can follow.
    pub(super) fn measure(&mut self, requests: u64, now_ms: i64) {
        let passed = now_ms.saturating_sub(self.measured_ms);
        if passed < MEASURED_MS {
            return;
        }
        self.taken = self.steps(now_ms);
        let seconds = passed.unsigned_abs().div_ceil(MEASURED_MS.unsigned_abs());
        let asked = requests.saturating_sub(self.requests);
        self.steps_a_second = asked.div_ceil(seconds).min(FASTEST);
        (self.measured_ms, self.requests) = (now_ms, requests);
    }

    pub(super) fn face(&self, now_ms: i64) -> &'static str {
        let step = usize::try_from(self.steps(now_ms) / 1_000).unwrap_or(0);
        FACES[step % FACES.len()]
    }

    fn steps(&self, now_ms: i64) -> u64 {
        let passed = u64::try_from(now_ms.saturating_sub(self.measured_ms)).unwrap_or(0);
        self.taken + passed * self.steps_a_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spinner_turns_with_the_request_rate() {
        for (requests, steps) in [(0, 0), (1, 1), (3, 3), (5, 5), (500, 5)] {
            let mut spinner = Spinner::new(0);
            spinner.measure(requests, 1_000);
            let taken = (spinner.steps(2_000) - spinner.steps(1_000)) / 1_000;
            assert_eq!(taken, steps, "{requests} requests a second");
        }
    }

    #[test]
    fn its_faces_come_in_their_order_and_none_is_left_out() {
        let mut spinner = Spinner::new(0);
        spinner.measure(4, 1_000);
        let faces: Vec<_> = (0..5).map(|quarter| spinner.face(1_000 + quarter * 250)).collect();
        assert_eq!(faces, ["🔃", "⚡", "🔁", "🔄", "🔃"]);
    }

    #[test]
    fn it_stands_still_while_nothing_is_asked() {
        let mut spinner = Spinner::new(0);
        spinner.measure(7, 1_000);
        spinner.measure(7, 2_000);
        assert_eq!(spinner.face(2_000), spinner.face(60_000));
        let before = spinner.face(60_000);
        spinner.measure(8, 60_000);
        assert_eq!(spinner.face(60_000), before, "a new rate makes no jump");
    }
}
