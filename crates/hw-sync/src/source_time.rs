//! The source's time as this run believes it.

use hw_rules::source_clock::{DateReading, SourceClock};
use hw_rules::time::Mark;

use crate::clock::Clock;

/// What this run knows of a source's clock.
#[derive(Debug, Default)]
pub(crate) struct SourceTime {
    clock: Option<SourceClock>,
    /// Our own time when the run began, never before the last answer of the run before, and the monotonic
    /// time of that moment.
    began: Option<(i64, i64)>,
    /// The date of the last answer.
    last: Option<Mark>,
    /// Whether that date came from the source, and not from an estimate.
    is_trusted: bool,
}

impl SourceTime {
    /// Goes on with what an earlier run knew.
    pub(crate) fn resume(&mut self, known: Option<SourceClock>) {
        if self.clock.is_none() {
            self.clock = known;
        }
    }

    /// What the next run will want to know.
    pub(crate) fn clock(&self) -> Option<&SourceClock> {
        self.clock.as_ref()
    }

    /// The source's own time, as its last answer told it.
    pub(crate) fn last(&self) -> Option<Mark> {
        self.last
    }

    /// The latest time that the source can have stamped anything with, if its answers are trusted.
    pub(crate) fn latest_stamp(&self) -> Option<Mark> {
        self.last.filter(|_| self.is_trusted)
    }

    /// The moment before which a clock that was set back stamped rightly, until that is resolved.
    pub(crate) fn unresolved_step(&self) -> Option<Mark> {
        self.clock.as_ref()?.unresolved_step()
    }

    /// Nothing that is stored relies on a later time any more.
    pub(crate) fn resolve_step(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.resolve_step();
        }
    }

    /// The date to use for an answer; an error says by how much it fell back, and that it is to be asked
    /// for again.
    pub(crate) fn read(&mut self, date: Mark, clock: &dyn Clock) -> Result<Mark, i64> {
        let now_ms = self.own_time(clock);
        let reading = match &mut self.clock {
            Some(known) => known.read(date, now_ms),
            None => {
                let (clock, reading) = SourceClock::first_contact(date, now_ms);
                self.clock = Some(clock);
                reading
            }
        };
        let (date, is_trusted) = match reading {
            DateReading::Trusted(date) => (date, true),
            DateReading::Estimated(estimate) => {
                tracing::warn!(%date, %estimate, "the source's clock ran ahead; using an estimate");
                (estimate, false)
            }
            DateReading::FellBack { by_ms } => return Err(by_ms),
            DateReading::SteppedBack { date, base } => {
                tracing::warn!(%date, %base, "the source's clock was set back");
                (date, true)
            }
        };
        (self.last, self.is_trusted) = (Some(date), is_trusted);
        Ok(date)
    }

    /// Our own time, which never falls: the wall clock between runs, the monotonic one within.
    fn own_time(&mut self, clock: &dyn Clock) -> i64 {
        let monotonic_ms = clock.monotonic_ms();
        let earliest = self.clock.as_ref().map_or(i64::MIN, SourceClock::at_ms);
        let (wall_ms, began_ms) =
            *self.began.get_or_insert_with(|| (clock.now_ms().max(earliest), monotonic_ms));
        wall_ms.saturating_add(monotonic_ms.saturating_sub(began_ms))
    }
}
