//! Decides when a stored pause ends by the clock of the machine that reads it.
//!
//! The machine that stored it and the one that reads it may have clocks that are minutes apart, and nothing compares the
//! two. Both know the source's clock, so its time of the end is the common one. A machine that has not learned it yet
//! only knows how long the pause lasts, and counts from when it first saw it.

use crate::rate_limit::MAX_WAIT_MS;
use crate::source_time::SourceInstant;

/// The longest wait that a source may request, plus the longest that our own backoff may add. A pause that is longer was
/// stored under a wrong clock.
pub const LONGEST_PAUSE_MS: i64 = MAX_WAIT_MS + 45 * 60_000;
/// The error of the source's time when two machines estimate it: a `Date` has whole seconds, and takes time to arrive.
const SOURCE_TIME_ERROR_MS: i64 = 5_000;

/// The time of a stored pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseSpan {
    /// By the clock of the machine that stored it. None in rows of older versions, which belong to whoever reads them.
    pub stored_ms: Option<i64>,
    /// By the same clock.
    pub until_ms: i64,
    /// The same end by the source's clock, if that machine knew it.
    pub source_until: Option<SourceInstant>,
}

/// The machine that stored a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseOrigin {
    /// The machine that reads it.
    ThisMachine,
    AnotherMachine,
}

/// The time of the machine that reads a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderTime {
    pub now_ms: i64,
    /// The source's time now, if this machine knows it.
    pub source_now: Option<SourceInstant>,
    /// When this machine first saw the pause.
    pub first_seen_ms: i64,
}

/// The end of a pause by the reader's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseEnd {
    At(i64),
    /// Not later than this; the real end is unknown.
    AtMost(i64),
}

impl PauseEnd {
    /// Returns the time until which the pause is obeyed.
    pub fn until_ms(self) -> i64 {
        match self {
            Self::At(until_ms) | Self::AtMost(until_ms) => until_ms,
        }
    }
}

impl PauseSpan {
    /// Returns the end by the reader's clock; none if the pause is longer than any limit.
    ///
    /// A pause was stored before it was first seen, so it never lasts longer than its whole length from then on: also
    /// when a clock was set back since.
    pub fn end_for(&self, origin: PauseOrigin, reader: ReaderTime) -> Option<PauseEnd> {
        let length_ms =
            self.until_ms.saturating_sub(self.stored_ms.unwrap_or(reader.first_seen_ms));
        if length_ms > LONGEST_PAUSE_MS {
            return None;
        }
        let latest_ms = reader.first_seen_ms.saturating_add(length_ms);
        Some(match (origin, self.source_until, reader.source_now) {
            (PauseOrigin::ThisMachine, ..) => PauseEnd::At(self.until_ms.min(latest_ms)),
            (PauseOrigin::AnotherMachine, Some(until), Some(now)) => {
                let left_ms = until.0.saturating_sub(now.0);
                let left_ms = left_ms.saturating_add(SOURCE_TIME_ERROR_MS);
                let until_ms = reader.now_ms.saturating_add(left_ms);
                PauseEnd::At(until_ms.min(latest_ms))
            }
            (PauseOrigin::AnotherMachine, ..) => PauseEnd::AtMost(latest_ms),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    /// Stored at noon, for ten minutes, by a machine whose clock is an hour ahead of the source's.
    const STORED: i64 = 12 * HOUR;
    const SPAN: PauseSpan = PauseSpan {
        stored_ms: Some(STORED),
        until_ms: STORED + 10 * MINUTE,
        source_until: Some(SourceInstant(11 * HOUR + 10 * MINUTE)),
    };

    #[test]
    fn pause_ends_by_the_clock_of_the_machine_that_stored_it_on_that_machine() {
        let reader = reader_at(STORED + MINUTE, None);
        assert_eq!(
            SPAN.end_for(PauseOrigin::ThisMachine, reader),
            Some(PauseEnd::At(STORED + 10 * MINUTE))
        );
    }

    #[test]
    fn pause_ends_by_the_sources_clock_on_another_machine() {
        // four minutes have passed, whatever the reader's own clock shows
        let source_now = SourceInstant(11 * HOUR + 4 * MINUTE);
        for now_ms in [0, STORED, 100 * HOUR] {
            let end =
                SPAN.end_for(PauseOrigin::AnotherMachine, reader_at(now_ms, Some(source_now)));
            assert_eq!(end, Some(PauseEnd::At(now_ms + 6 * MINUTE + SOURCE_TIME_ERROR_MS)));
        }
        let long_ago = reader_at(100 * HOUR, Some(SourceInstant(20 * HOUR)));
        let end = SPAN.end_for(PauseOrigin::AnotherMachine, long_ago).unwrap();
        assert!(end.until_ms() < 100 * HOUR, "it is over: {end:?}");
    }

    #[test]
    fn pause_lasts_its_length_on_a_machine_that_does_not_know_the_sources_clock() {
        let unknown = PauseSpan { source_until: None, ..SPAN };
        for (span, source_now) in [(SPAN, None), (unknown, Some(SourceInstant(0)))] {
            let reader = ReaderTime { first_seen_ms: 3 * HOUR, ..reader_at(4 * HOUR, source_now) };
            let end = span.end_for(PauseOrigin::AnotherMachine, reader);
            assert_eq!(end, Some(PauseEnd::AtMost(3 * HOUR + 10 * MINUTE)));
        }
    }

    #[test]
    fn pause_never_outlasts_its_length_from_when_it_was_first_seen() {
        let set_back = reader_at(STORED - HOUR, None);
        assert_eq!(
            SPAN.end_for(PauseOrigin::ThisMachine, set_back),
            Some(PauseEnd::At(STORED - 50 * MINUTE))
        );
        let wrong_source = reader_at(STORED, Some(SourceInstant(0)));
        assert_eq!(
            SPAN.end_for(PauseOrigin::AnotherMachine, wrong_source),
            Some(PauseEnd::At(STORED + 10 * MINUTE))
        );
    }

    #[test]
    fn pause_longer_than_any_limit_is_not_believed() {
        let until_ms = STORED + LONGEST_PAUSE_MS;
        for (until_ms, is_believed) in [(until_ms, true), (until_ms + 1, false)] {
            for stored_ms in [Some(STORED), None] {
                let span = PauseSpan { stored_ms, until_ms, ..SPAN };
                let end = span.end_for(PauseOrigin::ThisMachine, reader_at(STORED, None));
                assert_eq!(end.is_some(), is_believed, "{stored_ms:?}");
            }
        }
    }

    #[test]
    fn pause_of_an_older_version_ends_by_the_readers_clock() {
        let span = PauseSpan { stored_ms: None, source_until: None, ..SPAN };
        let end = span.end_for(PauseOrigin::ThisMachine, reader_at(STORED + MINUTE, None));
        assert_eq!(end, Some(PauseEnd::At(STORED + 10 * MINUTE)));
    }

    fn reader_at(now_ms: i64, source_now: Option<SourceInstant>) -> ReaderTime {
        ReaderTime { now_ms, source_now, first_seen_ms: now_ms }
    }
}
