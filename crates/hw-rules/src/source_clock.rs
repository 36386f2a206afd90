//! Bounds the source's clock by our own.
//!
//! Source times order everything, so one answer with a wrong `Date` could silence a lane for years. Our own
//! clock is never compared with the source's; only the time that passes on both is. A `Date` that ran ahead
//! by more than our own elapsed time explains is replaced by an estimate until answers over ten minutes agree.
//! One that fell back is asked for again, and believed when the next answer agrees.

use serde::{Deserialize, Serialize};

use crate::time::Mark;

/// How much further than our own elapsed time a `Date` may move between two answers.
pub const TOLERANCE_MS: i64 = 10 * 60_000;
/// How long answers have to agree before a `Date` that ran ahead is believed.
pub const CONFIRM_MS: i64 = 10 * 60_000;
/// How far from our own clock the very first `Date` may be to be taken at its word.
pub const FIRST_CONTACT_MS: i64 = 24 * 3_600_000;
/// How far below the last trusted time a lane goes back when its watermark turns out to be wrong.
pub const SAFE_BACKFILL_MS: i64 = 24 * 3_600_000;

/// What is believed of a source's clock. Offsets are the source's time minus ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceClock {
    offset_ms: i64,
    /// The greatest offset believed within the last ten minutes: going back up to it is no surprise.
    ceiling_ms: i64,
    /// Our own time of the last trusted answer.
    at_ms: i64,
    /// Since when all answers have agreed with `offset_ms`.
    agreed_since_ms: i64,
    /// An offset that ran ahead and is not confirmed yet.
    ahead: Option<UnconfirmedOffset>,
    /// Where the source's clock stood at the last contact, by its present reckoning, after one answer fell back.
    falling_from: Option<Mark>,
    /// The base of a step back that was confirmed: whatever relies on a later time still has to be reset. It is
    /// stored with the clock, so that a run that dies in between leaves it to the next one.
    #[serde(default)]
    unresolved_step: Option<Mark>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UnconfirmedOffset {
    offset_ms: i64,
    since_ms: i64,
}

/// How the `Date` of one answer is to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateReading {
    Trusted(Mark),
    /// It ran ahead; this estimate takes its place.
    Estimated(Mark),
    /// It fell back for the first time: the same is asked again.
    FellBack {
        by_ms: i64,
    },
    /// It fell back and a second answer agrees. Whatever was stamped later than `base` was stamped wrongly.
    SteppedBack {
        date: Mark,
        base: Mark,
    },
}

impl SourceClock {
    /// The clock after the very first answer.
    pub fn first_contact(date: Mark, now_ms: i64) -> (Self, DateReading) {
        let offset_ms = date.0.saturating_sub(now_ms);
        if offset_ms.abs() <= FIRST_CONTACT_MS {
            return (Self::agreed(offset_ms, now_ms), DateReading::Trusted(date));
        }
        let mut clock = Self::agreed(0, now_ms);
        let reading = clock.read(date, now_ms);
        (clock, reading)
    }

    fn agreed(offset_ms: i64, now_ms: i64) -> Self {
        Self {
            offset_ms,
            ceiling_ms: offset_ms,
            at_ms: now_ms,
            agreed_since_ms: now_ms,
            ahead: None,
            falling_from: None,
            unresolved_step: None,
        }
    }

    /// Our own time of the last trusted answer: what is read now is not earlier than that.
    pub fn at_ms(&self) -> i64 {
        self.at_ms
    }

    /// The time beyond which everything was stamped by a clock that has been set back since.
    pub fn unresolved_step(&self) -> Option<Mark> {
        self.unresolved_step
    }

    /// Forgets the step back: nothing relies on a later time any more.
    pub fn resolve_step(&mut self) {
        self.unresolved_step = None;
    }

    /// The source's time now, as far as we can tell. One answer that fell back is not believed yet.
    pub fn estimate(&self, now_ms: i64) -> Mark {
        let is_falling = self.falling_from.is_some();
        let offset_ms = if is_falling { self.ceiling_ms } else { self.offset_ms };
        Mark(now_ms.saturating_add(offset_ms))
    }

    /// Judges the `Date` of one answer and learns from it. `now_ms` is our own time and never falls.
    pub fn read(&mut self, date: Mark, now_ms: i64) -> DateReading {
        let offset_ms = date.0.saturating_sub(now_ms);
        if offset_ms > self.ceiling_ms.saturating_add(TOLERANCE_MS) {
            return self.read_ahead(date, offset_ms, now_ms);
        }
        self.ahead = None;
        if offset_ms < self.offset_ms.saturating_sub(TOLERANCE_MS) {
            return self.read_behind(offset_ms, now_ms);
        }
        // before the answer is agreed with: ten minutes of agreement bring the ceiling down
        let is_below = offset_ms < self.ceiling_ms.saturating_sub(TOLERANCE_MS);
        self.agree(offset_ms, now_ms);
        match self.falling_from.take() {
            Some(base) if is_below => {
                let base = self.unresolved_step.map_or(base, |known| known.min(base));
                self.unresolved_step = Some(base);
                DateReading::SteppedBack { date, base }
            }
            _ => DateReading::Trusted(date),
        }
    }

    fn read_ahead(&mut self, date: Mark, offset_ms: i64, now_ms: i64) -> DateReading {
        let known = self.ahead.take().filter(|known| is_close(known.offset_ms, offset_ms));
        let ahead = known.unwrap_or(UnconfirmedOffset { offset_ms, since_ms: now_ms });
        if now_ms.saturating_sub(ahead.since_ms) >= CONFIRM_MS {
            let unresolved_step = self.unresolved_step;
            *self = Self { unresolved_step, ..Self::agreed(offset_ms, now_ms) };
            return DateReading::Trusted(date);
        }
        self.ahead = Some(ahead);
        DateReading::Estimated(self.estimate(now_ms))
    }

    fn read_behind(&mut self, offset_ms: i64, now_ms: i64) -> DateReading {
        let by_ms = self.offset_ms.saturating_sub(offset_ms);
        let base = Mark(self.at_ms.saturating_add(offset_ms));
        self.falling_from = Some(self.falling_from.map_or(base, |known| known.min(base)));
        self.offset_ms = offset_ms;
        self.agreed_since_ms = now_ms;
        DateReading::FellBack { by_ms }
    }

    /// Follows what agrees with the clock, slowly: many small lies must not add up to a large one.
    fn agree(&mut self, offset_ms: i64, now_ms: i64) {
        if offset_ms > self.offset_ms.saturating_add(TOLERANCE_MS) {
            // an answer fell back, and this one did not
            self.offset_ms = offset_ms.min(self.ceiling_ms);
            self.agreed_since_ms = now_ms;
        } else {
            let drift_ms = now_ms.saturating_sub(self.at_ms).max(0) / 60;
            let moved_ms = offset_ms.saturating_sub(self.offset_ms);
            self.offset_ms += moved_ms.clamp(-drift_ms, drift_ms);
        }
        if now_ms.saturating_sub(self.agreed_since_ms) >= CONFIRM_MS {
            self.ceiling_ms = self.offset_ms;
        }
        self.at_ms = self.at_ms.max(now_ms);
    }
}

fn is_close(a_ms: i64, b_ms: i64) -> bool {
    a_ms.abs_diff(b_ms) <= TOLERANCE_MS.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const YEAR: i64 = 365 * 24 * 60 * MINUTE;

    #[test]
    fn source_clock_replaces_one_date_that_ran_ahead() {
        let mut clock = started(1_000);
        assert_eq!(
            clock.read(Mark(MINUTE + 10 * YEAR), MINUTE),
            DateReading::Estimated(Mark(MINUTE + 1_000))
        );
        let after = Mark(2 * MINUTE + 1_000);
        assert_eq!(clock.read(after, 2 * MINUTE), DateReading::Trusted(after));
    }

    #[test]
    fn source_clock_estimates_by_what_agreed_when_answers_differ_both_ways() {
        let mut clock = started(1_000);
        let fell = clock.read(Mark(MINUTE - 10 * YEAR), MINUTE);
        assert!(matches!(fell, DateReading::FellBack { .. }), "{fell:?}");
        let ahead = clock.read(Mark(2 * MINUTE + YEAR), 2 * MINUTE);
        assert_eq!(ahead, DateReading::Estimated(Mark(2 * MINUTE + 1_000)));
    }

    #[test]
    fn source_clock_believes_a_later_time_after_ten_minutes_of_agreement() {
        let mut clock = started(0);
        for minute in 1..=10 {
            let reading = clock.read(Mark(YEAR + minute * MINUTE), minute * MINUTE);
            assert!(matches!(reading, DateReading::Estimated(_)), "minute {minute}: {reading:?}");
        }
        let date = Mark(YEAR + 11 * MINUTE);
        assert_eq!(clock.read(date, 11 * MINUTE), DateReading::Trusted(date));
    }

    #[test]
    fn source_clock_never_confirms_a_lie_among_true_answers() {
        let mut clock = started(0);
        for minute in 1..60 {
            let lie = clock.read(Mark(YEAR), minute * MINUTE);
            assert!(matches!(lie, DateReading::Estimated(_)), "{lie:?}");
            let truth = Mark(minute * MINUTE);
            assert_eq!(clock.read(truth, minute * MINUTE), DateReading::Trusted(truth));
        }
    }

    #[test]
    fn source_clock_asks_again_before_it_believes_a_step_back() {
        let mut clock = started(120 * MINUTE);
        let hour = 60 * MINUTE;
        let fell = clock.read(Mark(hour), hour);
        assert_eq!(fell, DateReading::FellBack { by_ms: 120 * MINUTE });
        let (date, base) = (Mark(hour + 5_000), Mark(0));
        assert_eq!(clock.read(date, hour + 5_000), DateReading::SteppedBack { date, base });
        let later = Mark(hour + MINUTE);
        assert_eq!(clock.read(later, hour + MINUTE), DateReading::Trusted(later), "told once");
    }

    #[test]
    fn source_clock_believes_a_step_back_however_late_the_second_answer_comes() {
        let (hour, day) = (60 * MINUTE, 24 * 60 * MINUTE);
        let mut clock = started(2 * hour);
        clock.read(Mark(hour), hour);
        let reading = clock.read(Mark(day), day);
        assert_eq!(reading, DateReading::SteppedBack { date: Mark(day), base: Mark(0) });
    }

    #[test]
    fn source_clock_keeps_a_step_back_until_it_is_resolved() {
        let mut clock = started(120 * MINUTE);
        let hour = 60 * MINUTE;
        clock.read(Mark(hour), hour);
        clock.read(Mark(hour + 5_000), hour + 5_000);
        let stored = serde_json::to_string(&clock).unwrap();
        let mut clock: SourceClock = serde_json::from_str(&stored).unwrap();
        assert_eq!(clock.unresolved_step(), Some(Mark(0)));
        clock.resolve_step();
        assert_eq!(clock.unresolved_step(), None);
    }

    #[test]
    fn source_clock_forgets_one_answer_that_fell_back() {
        let mut clock = started(0);
        let fell = clock.read(Mark(MINUTE - YEAR), MINUTE);
        assert!(matches!(fell, DateReading::FellBack { .. }), "{fell:?}");
        let truth = Mark(2 * MINUTE);
        assert_eq!(clock.read(truth, 2 * MINUTE), DateReading::Trusted(truth));
        let next = Mark(3 * MINUTE);
        assert_eq!(clock.read(next, 3 * MINUTE), DateReading::Trusted(next));
    }

    #[test]
    fn source_clock_is_not_led_astray_in_small_steps() {
        let mut clock = started(0);
        let lies = (1..=100).filter(|step| {
            let date = Mark(step * 9 * MINUTE);
            matches!(clock.read(date, step * 1_000), DateReading::Trusted(_))
        });
        assert!(lies.count() < 3);
    }

    #[test]
    fn source_clock_takes_a_first_date_within_a_day_at_its_word() {
        for date in [0, 23 * 60 * MINUTE, -23 * 60 * MINUTE] {
            let (_, reading) = SourceClock::first_contact(Mark(date), 0);
            assert_eq!(reading, DateReading::Trusted(Mark(date)));
        }
        let (_, reading) = SourceClock::first_contact(Mark(YEAR), 5);
        assert_eq!(reading, DateReading::Estimated(Mark(5)));
        let (_, reading) = SourceClock::first_contact(Mark(-YEAR), 5);
        assert!(matches!(reading, DateReading::FellBack { .. }), "{reading:?}");
    }

    fn started(offset_ms: i64) -> SourceClock {
        SourceClock::first_contact(Mark(offset_ms), 0).0
    }
}
