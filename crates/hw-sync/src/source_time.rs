//! Tracks the source's clock and decides which dates of its responses to trust.

use hw_rules::source_clock::{DateReading, SourceClock};
use hw_rules::source_time::SourceInstant;

use crate::clock::Clock;

/// State of a source's clock in this run.
#[derive(Debug, Default)]
pub(crate) struct SourceTimeTracker {
    clock: Option<SourceClock>,
    start: Option<RunStart>,
    /// True once this run received a response.
    has_response: bool,
    /// The date of the last response.
    last_date: Option<SourceInstant>,
    /// True if `last_date` came from the source, false if it is an estimate.
    is_trusted: bool,
}

/// The start of the run, by both of our clocks.
#[derive(Debug, Clone, Copy)]
struct RunStart {
    /// Never before the last response of the previous run.
    wall_ms: i64,
    monotonic_ms: i64,
}

impl SourceTimeTracker {
    /// Continues with the clock state of an earlier run, unless this one has received a response already.
    pub(crate) fn resume_clock(&mut self, known: Option<SourceClock>) {
        if !self.has_response
            && let Some(known) = known
        {
            self.clock = Some(known);
        }
    }

    /// Returns the source's current time, as far as it is known and undisputed.
    pub(crate) fn source_now(&mut self, clock: &dyn Clock) -> Option<SourceInstant> {
        let now_ms = self.steady_now_ms(clock);
        self.clock.as_ref()?.undisputed_now(now_ms)
    }

    /// Returns the clock state to store for the next run.
    pub(crate) fn clock(&self) -> Option<&SourceClock> {
        self.clock.as_ref()
    }

    /// Returns the source's own time, as of its last response.
    pub(crate) fn last_date(&self) -> Option<SourceInstant> {
        self.last_date
    }

    /// Returns the latest time that the source can have stamped an item with, if its date is trusted.
    pub(crate) fn latest_stamp(&self) -> Option<SourceInstant> {
        self.last_date.filter(|_| self.is_trusted)
    }

    /// Returns the moment before which the stamps of a clock that was set back are right, until that is resolved.
    pub(crate) fn unresolved_step(&self) -> Option<SourceInstant> {
        self.clock.as_ref()?.unresolved_step()
    }

    /// Marks the step as resolved: no stored claim relies on a later time any more.
    pub(crate) fn resolve_step(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.resolve_step();
        }
    }

    /// Returns the date to use for a response. The error is the number of milliseconds by which it fell back; then
    /// the request has to be repeated.
    pub(crate) fn read_date(
        &mut self,
        date: SourceInstant,
        clock: &dyn Clock,
    ) -> Result<SourceInstant, i64> {
        let now_ms = self.steady_now_ms(clock);
        self.has_response = true;
        let reading = match &mut self.clock {
            Some(known) => known.read_date(date, now_ms),
            None => {
                let (clock, reading) = SourceClock::from_first_date(date, now_ms);
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
        (self.last_date, self.is_trusted) = (Some(date), is_trusted);
        Ok(date)
    }

    /// Returns our own time, which never decreases: the wall clock between runs, the monotonic one within.
    fn steady_now_ms(&mut self, clock: &dyn Clock) -> i64 {
        let monotonic_ms = clock.monotonic_ms();
        let earliest = self.clock.as_ref().map_or(i64::MIN, SourceClock::at_ms);
        let start = self.start.get_or_insert_with(|| RunStart {
            wall_ms: clock.now_ms().max(earliest),
            monotonic_ms,
        });
        start.wall_ms.saturating_add(monotonic_ms.saturating_sub(start.monotonic_ms))
    }
}
