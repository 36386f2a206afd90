//! Bounds the source's clock by our own.
//!
//! Source times order everything, so one response with a wrong `Date` could silence a lane for years. Our own
//! clock is never compared with the source's; only the time that passes on both is. A `Date` that ran ahead
//! by more than our own elapsed time explains is replaced by an estimate until responses over ten minutes agree.
//! One that fell back is requested again, and trusted when the next response agrees.

use serde::{Deserialize, Serialize};

use crate::source_time::SourceInstant;

/// The amount by which a `Date` may move further than our own elapsed time between two responses.
pub const DATE_TOLERANCE_MS: i64 = 10 * 60_000;
/// The time for which responses have to agree before a `Date` that ran ahead is trusted.
const CONFIRM_AFTER_MS: i64 = 10 * 60_000;
/// The largest distance from our own clock at which the very first `Date` is trusted.
const MAX_FIRST_OFFSET_MS: i64 = 24 * 3_600_000;
/// The distance that a lane goes back below the last trusted time when its watermark turns out to be wrong.
pub const SAFE_BACKFILL_MS: i64 = 24 * 3_600_000;

/// An estimate of a source's clock. Offsets are the source's time minus ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceClock {
    offset_ms: i64,
    /// The greatest offset trusted within the last ten minutes: a return to it needs no confirmation.
    ceiling_ms: i64,
    /// Our own time of the last trusted response.
    at_ms: i64,
    /// The time since which all responses have agreed with `offset_ms`.
    agreed_since_ms: i64,
    /// An offset that ran ahead and is not confirmed yet.
    ahead: Option<UnconfirmedOffset>,
    /// The source's time at the last contact by its present offset, after one response fell back.
    falling_from: Option<SourceInstant>,
    /// The base of a confirmed step back. Everything that relies on a later time still has to be reset. It is
    /// stored with the clock, so that the next run finishes what a crashed run left.
    #[serde(default)]
    unresolved_step: Option<SourceInstant>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct UnconfirmedOffset {
    offset_ms: i64,
    since_ms: i64,
}

/// The interpretation of one response's `Date`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateReading {
    Trusted(SourceInstant),
    /// It ran ahead; this estimate replaces it.
    Estimated(SourceInstant),
    /// It fell back for the first time: the request is repeated.
    FellBack {
        by_ms: i64,
    },
    /// It fell back and a second response agrees. Everything stamped later than `base` was stamped wrongly.
    SteppedBack {
        date: SourceInstant,
        base: SourceInstant,
    },
}

impl SourceClock {
    /// Returns the clock after the very first response, and the reading of its `Date`.
    pub fn from_first_date(date: SourceInstant, now_ms: i64) -> (Self, DateReading) {
        let offset_ms = date.0.saturating_sub(now_ms);
        if offset_ms.abs() <= MAX_FIRST_OFFSET_MS {
            return (Self::with_offset(offset_ms, now_ms), DateReading::Trusted(date));
        }
        let mut clock = Self::with_offset(0, now_ms);
        let reading = clock.read_date(date, now_ms);
        (clock, reading)
    }

    fn with_offset(offset_ms: i64, now_ms: i64) -> Self {
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

    /// Returns our own time of the last trusted response; the current time is not earlier than that.
    pub fn at_ms(&self) -> i64 {
        self.at_ms
    }

    /// Returns the time after which everything was stamped by a clock that has been set back since.
    pub fn unresolved_step(&self) -> Option<SourceInstant> {
        self.unresolved_step
    }

    /// Forgets the step back, once nothing relies on a later time any more.
    pub fn resolve_step(&mut self) {
        self.unresolved_step = None;
    }

    /// Estimates the source's current time. A single response that fell back is not trusted yet.
    pub fn estimate_now(&self, now_ms: i64) -> SourceInstant {
        let is_falling = self.falling_from.is_some();
        let offset_ms = if is_falling { self.ceiling_ms } else { self.offset_ms };
        SourceInstant(now_ms.saturating_add(offset_ms))
    }

    /// Estimates the source's current time, unless its last response disagrees with the ones before.
    pub fn undisputed_now(&self, now_ms: i64) -> Option<SourceInstant> {
        let is_disputed = self.ahead.is_some() || self.falling_from.is_some();
        (!is_disputed).then(|| self.estimate_now(now_ms))
    }

    /// Interprets the `Date` of one response and updates the estimate. `now_ms` is our own time and never falls.
    pub fn read_date(&mut self, date: SourceInstant, now_ms: i64) -> DateReading {
        let offset_ms = date.0.saturating_sub(now_ms);
        if offset_ms > self.ceiling_ms.saturating_add(DATE_TOLERANCE_MS) {
            return self.read_ahead(date, offset_ms, now_ms);
        }
        self.ahead = None;
        if offset_ms < self.offset_ms.saturating_sub(DATE_TOLERANCE_MS) {
            return self.read_behind(offset_ms, now_ms);
        }
        // compared before the offset is followed: ten minutes of agreement bring the ceiling down
        let is_below = offset_ms < self.ceiling_ms.saturating_sub(DATE_TOLERANCE_MS);
        self.follow_offset(offset_ms, now_ms);
        match self.falling_from.take() {
            Some(base) if is_below => {
                let base = self.unresolved_step.map_or(base, |known| known.min(base));
                self.unresolved_step = Some(base);
                DateReading::SteppedBack { date, base }
            }
            _ => DateReading::Trusted(date),
        }
    }

    fn read_ahead(&mut self, date: SourceInstant, offset_ms: i64, now_ms: i64) -> DateReading {
        let known = self.ahead.take().filter(|known| is_close(known.offset_ms, offset_ms));
        let ahead = known.unwrap_or(UnconfirmedOffset { offset_ms, since_ms: now_ms });
        if now_ms.saturating_sub(ahead.since_ms) >= CONFIRM_AFTER_MS {
            let unresolved_step = self.unresolved_step;
            *self = Self { unresolved_step, ..Self::with_offset(offset_ms, now_ms) };
            return DateReading::Trusted(date);
        }
        self.ahead = Some(ahead);
        DateReading::Estimated(self.estimate_now(now_ms))
    }

    fn read_behind(&mut self, offset_ms: i64, now_ms: i64) -> DateReading {
        let by_ms = self.offset_ms.saturating_sub(offset_ms);
        let base = SourceInstant(self.at_ms.saturating_add(offset_ms));
        self.falling_from = Some(self.falling_from.map_or(base, |known| known.min(base)));
        self.offset_ms = offset_ms;
        self.agreed_since_ms = now_ms;
        DateReading::FellBack { by_ms }
    }

    /// Follows an offset that agrees with the clock, slowly: many small errors must not add up to a large one.
    fn follow_offset(&mut self, offset_ms: i64, now_ms: i64) {
        if offset_ms > self.offset_ms.saturating_add(DATE_TOLERANCE_MS) {
            // an earlier response fell back, and this one did not
            self.offset_ms = offset_ms.min(self.ceiling_ms);
            self.agreed_since_ms = now_ms;
        } else {
            let drift_ms = now_ms.saturating_sub(self.at_ms).max(0) / 60;
            let moved_ms = offset_ms.saturating_sub(self.offset_ms);
            self.offset_ms += moved_ms.clamp(-drift_ms, drift_ms);
        }
        if now_ms.saturating_sub(self.agreed_since_ms) >= CONFIRM_AFTER_MS {
            self.ceiling_ms = self.offset_ms;
        }
        self.at_ms = self.at_ms.max(now_ms);
    }
}

fn is_close(a_ms: i64, b_ms: i64) -> bool {
    a_ms.abs_diff(b_ms) <= DATE_TOLERANCE_MS.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const YEAR: i64 = 365 * 24 * 60 * MINUTE;

    #[test]
    fn source_clock_replaces_one_date_that_ran_ahead() {
        let mut clock = clock_with_offset(1_000);
        assert_eq!(
            clock.read_date(SourceInstant(MINUTE + 10 * YEAR), MINUTE),
            DateReading::Estimated(SourceInstant(MINUTE + 1_000))
        );
        let after = SourceInstant(2 * MINUTE + 1_000);
        assert_eq!(clock.read_date(after, 2 * MINUTE), DateReading::Trusted(after));
    }

    #[test]
    fn source_clock_estimates_by_the_agreed_offset_when_responses_differ_both_ways() {
        let mut clock = clock_with_offset(1_000);
        let fell = clock.read_date(SourceInstant(MINUTE - 10 * YEAR), MINUTE);
        assert!(matches!(fell, DateReading::FellBack { .. }), "{fell:?}");
        let ahead = clock.read_date(SourceInstant(2 * MINUTE + YEAR), 2 * MINUTE);
        assert_eq!(ahead, DateReading::Estimated(SourceInstant(2 * MINUTE + 1_000)));
    }

    #[test]
    fn source_clock_is_disputed_while_its_last_response_disagrees() {
        let mut clock = clock_with_offset(1_000);
        assert_eq!(clock.undisputed_now(MINUTE), Some(SourceInstant(MINUTE + 1_000)));
        for lie in [YEAR, -YEAR] {
            clock.read_date(SourceInstant(lie), MINUTE);
            assert_eq!(clock.undisputed_now(MINUTE), None);
            clock.read_date(SourceInstant(MINUTE + 1_000), MINUTE);
            assert_eq!(clock.undisputed_now(MINUTE), Some(SourceInstant(MINUTE + 1_000)));
        }
        let (unknown, _) = SourceClock::from_first_date(SourceInstant(YEAR), 0);
        assert_eq!(unknown.undisputed_now(0), None);
    }

    #[test]
    fn source_clock_trusts_a_later_time_after_ten_minutes_of_agreement() {
        let mut clock = clock_with_offset(0);
        for minute in 1..=10 {
            let reading = clock.read_date(SourceInstant(YEAR + minute * MINUTE), minute * MINUTE);
            assert!(matches!(reading, DateReading::Estimated(_)), "minute {minute}: {reading:?}");
        }
        let date = SourceInstant(YEAR + 11 * MINUTE);
        assert_eq!(clock.read_date(date, 11 * MINUTE), DateReading::Trusted(date));
    }

    #[test]
    fn source_clock_never_confirms_a_wrong_date_among_right_ones() {
        let mut clock = clock_with_offset(0);
        for minute in 1..60 {
            let lie = clock.read_date(SourceInstant(YEAR), minute * MINUTE);
            assert!(matches!(lie, DateReading::Estimated(_)), "{lie:?}");
            let truth = SourceInstant(minute * MINUTE);
            assert_eq!(clock.read_date(truth, minute * MINUTE), DateReading::Trusted(truth));
        }
    }

    #[test]
    fn source_clock_asks_for_a_second_response_before_it_trusts_a_step_back() {
        let mut clock = clock_with_offset(120 * MINUTE);
        let hour = 60 * MINUTE;
        let fell = clock.read_date(SourceInstant(hour), hour);
        assert_eq!(fell, DateReading::FellBack { by_ms: 120 * MINUTE });
        let (date, base) = (SourceInstant(hour + 5_000), SourceInstant(0));
        assert_eq!(clock.read_date(date, hour + 5_000), DateReading::SteppedBack { date, base });
        let later = SourceInstant(hour + MINUTE);
        assert_eq!(
            clock.read_date(later, hour + MINUTE),
            DateReading::Trusted(later),
            "reported once"
        );
    }

    #[test]
    fn source_clock_trusts_a_step_back_however_late_the_second_response_is() {
        let (hour, day) = (60 * MINUTE, 24 * 60 * MINUTE);
        let mut clock = clock_with_offset(2 * hour);
        clock.read_date(SourceInstant(hour), hour);
        let reading = clock.read_date(SourceInstant(day), day);
        assert_eq!(
            reading,
            DateReading::SteppedBack { date: SourceInstant(day), base: SourceInstant(0) }
        );
    }

    #[test]
    fn source_clock_keeps_a_step_back_until_it_is_resolved() {
        let mut clock = clock_with_offset(120 * MINUTE);
        let hour = 60 * MINUTE;
        clock.read_date(SourceInstant(hour), hour);
        clock.read_date(SourceInstant(hour + 5_000), hour + 5_000);
        let stored = serde_json::to_string(&clock).unwrap();
        let mut clock: SourceClock = serde_json::from_str(&stored).unwrap();
        assert_eq!(clock.unresolved_step(), Some(SourceInstant(0)));
        clock.resolve_step();
        assert_eq!(clock.unresolved_step(), None);
    }

    #[test]
    fn source_clock_forgets_a_single_response_that_fell_back() {
        let mut clock = clock_with_offset(0);
        let fell = clock.read_date(SourceInstant(MINUTE - YEAR), MINUTE);
        assert!(matches!(fell, DateReading::FellBack { .. }), "{fell:?}");
        let truth = SourceInstant(2 * MINUTE);
        assert_eq!(clock.read_date(truth, 2 * MINUTE), DateReading::Trusted(truth));
        let next = SourceInstant(3 * MINUTE);
        assert_eq!(clock.read_date(next, 3 * MINUTE), DateReading::Trusted(next));
    }

    #[test]
    fn source_clock_is_not_led_astray_in_small_steps() {
        let mut clock = clock_with_offset(0);
        let lies = (1..=100).filter(|step| {
            let date = SourceInstant(step * 9 * MINUTE);
            matches!(clock.read_date(date, step * 1_000), DateReading::Trusted(_))
        });
        assert!(lies.count() < 3);
    }

    #[test]
    fn source_clock_trusts_a_first_date_within_a_day() {
        for date in [0, 23 * 60 * MINUTE, -23 * 60 * MINUTE] {
            let (_, reading) = SourceClock::from_first_date(SourceInstant(date), 0);
            assert_eq!(reading, DateReading::Trusted(SourceInstant(date)));
        }
        let (_, reading) = SourceClock::from_first_date(SourceInstant(YEAR), 5);
        assert_eq!(reading, DateReading::Estimated(SourceInstant(5)));
        let (_, reading) = SourceClock::from_first_date(SourceInstant(-YEAR), 5);
        assert!(matches!(reading, DateReading::FellBack { .. }), "{reading:?}");
    }

    fn clock_with_offset(offset_ms: i64) -> SourceClock {
        SourceClock::from_first_date(SourceInstant(offset_ms), 0).0
    }
}
