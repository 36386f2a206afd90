//! One turn of one lane: ask, decide, fetch, keep.

use hw_rules::backoff;
use hw_rules::lane::Lane;
use hw_rules::plan::{self, LaneState, Plan, Why};
use hw_rules::time::Mark;
use hw_rules::walk::Floor;
use hw_store::{Failure, Ingested, Lease, Store};

use crate::Error;
use crate::fetch::{Fetch, Stop};
use crate::{scan, sweep};

/// A lane that is followed, and how the source calls its scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    pub lane: Lane,
    pub repository_id: i64,
    pub node_id: String,
}

/// What a turn works with.
pub struct Room<'a> {
    pub store: &'a Store,
    pub fetch: &'a Fetch,
    pub lease: &'a Lease,
    /// How many days back items are held; none holds all.
    pub window_days: Option<u32>,
    pub allow_mass_removal: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turned {
    Done(Tally),
    /// The lane has to wait until then; nothing was asked.
    Slept {
        until_ms: i64,
        why: Why,
    },
}

/// What a turn did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub pages: u64,
    pub seen: u64,
    pub stored: u64,
    pub removed: u64,
    pub quarantined: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.pages += other.pages;
        self.seen += other.seen;
        self.stored += other.stored;
        self.removed += other.removed;
        self.quarantined += other.quarantined;
    }

    pub(crate) fn count(&mut self, ingested: &Ingested, seen: usize) {
        self.pages += 1;
        self.seen += seen as u64;
        self.stored += ingested.created + ingested.edited + ingested.revived;
        self.removed += ingested.removed;
        self.quarantined += ingested.quarantined;
    }
}

/// Does what is due at a lane now. A turn that fails says so in the lane's row.
pub async fn turn(room: &Room<'_>, followed: &Followed) -> Result<Turned, Error> {
    let state = room.store.lane_state(&followed.lane)?;
    let paused = room.fetch.paused_until()?;
    let mut size = state.page_size;
    let done = match plan::next(&state, paused, room.fetch.clock().now_ms()) {
        Plan::Sleep { until_ms, why } => return Ok(Turned::Slept { until_ms, why }),
        Plan::Scan => scan::scan(room, followed, &state, &mut size).await,
        Plan::Sweep => scan_and_sweep(room, followed, &state, &mut size).await,
    };
    match done {
        Ok(tally) => {
            room.finish(&followed.lane, &state)?;
            Ok(Turned::Done(tally))
        }
        Err(stop) => {
            let error = named(stop, &followed.lane);
            if error.is_of_one_lane() {
                room.postpone(&followed.lane, &state, size, &error)?;
            }
            Err(error)
        }
    }
}

async fn scan_and_sweep(
    room: &Room<'_>,
    followed: &Followed,
    state: &LaneState,
    size: &mut u32,
) -> Result<Tally, Stop> {
    let mut tally = scan::scan(room, followed, state, size).await?;
    tally.add(&sweep::sweep(room, followed, size).await?);
    Ok(tally)
}

pub(crate) fn named(stop: Stop, lane: &Lane) -> Error {
    match stop {
        Stop::Trouble(trouble) => Error::Source { lane: lane.to_string(), trouble },
        Stop::Error(error) => error,
    }
}

impl Room<'_> {
    /// How far down a lane is to be held, by the source's own time.
    pub(crate) fn window(&self) -> Floor {
        const DAY_MS: i64 = 86_400_000;
        match (self.window_days, self.fetch.last_date()) {
            (Some(days), Some(date)) => Floor::At(date.minus(i64::from(days) * DAY_MS)),
            _ => Floor::Beginning,
        }
    }

    /// Takes back that a lane failed before.
    fn finish(&self, lane: &Lane, state: &LaneState) -> Result<(), Error> {
        if 0 < state.failures {
            self.store.finish_turn(self.lease, lane)?;
        }
        Ok(())
    }

    /// Writes down that a lane failed, and when to try it again.
    fn postpone(
        &self,
        lane: &Lane,
        state: &LaneState,
        page_size: u32,
        error: &Error,
    ) -> Result<(), Error> {
        let failures = state.failures.saturating_add(1);
        let wait = backoff::after_failed_turn(failures, self.fetch.jitter());
        let due_ms = self.fetch.clock().now_ms() + wait;
        let failure = Failure { due_ms, failures, page_size, message: error.to_string() };
        Ok(self.store.postpone(self.lease, lane, failure)?)
    }

    /// Takes a watermark back that the source itself has not reached yet.
    pub(crate) fn distrust(&self, lane: &Lane, date: Mark) -> Result<(), Error> {
        Ok(self.store.reset_lane(self.lease, lane, date, "it lies beyond the source's own time")?)
    }
}
