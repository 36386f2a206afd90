//! One turn of one lane: ask, decide, fetch, keep.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use hw_rules::backoff;
use hw_rules::coverage::Coverage;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, Reading, Surface};
use hw_rules::plan::{self, LaneState, Plan, Why};
use hw_rules::time::Mark;
use hw_rules::walk::Floor;
use hw_store::{Failure, Ingested, Lease, Store};

use crate::Error;
use crate::fetch::{Fetch, Stop};
use crate::news::News;
use crate::patience::{Endurance, Patience};
use crate::run_removals::RunRemovals;
use crate::{retry, scan, since, sweep, talks};

/// A lane that is followed, and the repository it belongs to.
#[derive(Debug, Clone)]
pub(crate) struct Followed {
    pub(crate) lane: Lane,
    pub(crate) home: Arc<Home>,
}

/// A repository whose lanes are followed.
#[derive(Debug)]
pub(crate) struct Home {
    pub(crate) id: i64,
    pub(crate) node_id: String,
    /// Owner and name, for people.
    pub(crate) name: String,
    pub(crate) has_issues: bool,
    pub(crate) endurance: Endurance,
}

impl Home {
    pub(crate) fn of(repository: &Repository) -> Arc<Self> {
        Arc::new(Self {
            id: repository.id,
            node_id: repository.node_id.clone(),
            name: format!("{}/{}", repository.owner, repository.name),
            has_issues: repository.has_issues_enabled,
            endurance: Endurance::default(),
        })
    }
}

impl Followed {
    pub(crate) fn surface(&self) -> Surface {
        self.lane.surface
    }

    /// The lane of the threads whose talk this is.
    pub(crate) fn threads(&self) -> Option<Lane> {
        let kind = self.surface().talks_in()?;
        let surface = Surface::THREADS.into_iter().find(|surface| surface.kind() == kind)?;
        Some(Lane::of_repository(&self.lane.host, self.home.id, surface))
    }

    /// The lane as people know it.
    pub(crate) fn scope(&self) -> String {
        format!("{} {}", self.home.name, self.surface().name())
    }

    /// Whether an absence from its list means anything: while issues are switched off, what was said in them
    /// is out of sight, and nobody can tell it from what is gone.
    pub(crate) fn can_be_swept(&self) -> bool {
        self.surface() != Surface::IssueComments || self.home.has_issues
    }

    /// For something of this repository, the repository's patience counts too.
    pub(crate) fn patience(&self, patience: Patience<'static>) -> Patience<'_> {
        patience.with(&self.home.endurance)
    }
}

/// What a turn works with.
pub(crate) struct Room<'a> {
    pub(crate) store: &'a Store,
    pub(crate) fetch: &'a Fetch,
    pub(crate) lease: &'a Lease,
    /// How many days back items are held; none holds all.
    pub(crate) window_days: Option<u32>,
    pub(crate) allow_mass_removal: bool,
    pub(crate) removals: RunRemovals,
    /// How many rows first pages that share a request may have together; the source has its say.
    pub(crate) share: AtomicU32,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turned {
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
    /// What could not be done.
    pub errors: u64,
}

impl Tally {
    pub fn add(&mut self, other: &Self) {
        self.pages += other.pages;
        self.seen += other.seen;
        self.stored += other.stored;
        self.removed += other.removed;
        self.quarantined += other.quarantined;
        self.errors += other.errors;
    }

    pub(crate) fn count(&mut self, ingested: &Ingested, seen: usize) {
        self.pages += 1;
        self.seen += seen as u64;
        self.stored += ingested.created + ingested.edited + ingested.revived;
        self.removed += ingested.removed;
        self.quarantined += ingested.quarantined;
    }
}

/// Where a turn begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// With whatever the last turn left behind.
    Anew,
    /// In the middle of a walk from the top that this same pull has begun.
    UnderWay(Box<Coverage>),
    /// With its roll: this same pull has seen that nothing moved, or has read what did.
    Roll,
}

/// Does what is due at a lane now. A turn that fails says so in the lane's row.
pub(crate) async fn turn(
    room: &Room<'_>,
    followed: &Followed,
    start: Start,
) -> Result<Turned, Error> {
    let state = room.store.lane_state(&followed.lane)?;
    let paused = room.fetch.paused_until()?;
    let mut size = state.page_size;
    let done = match plan::next(&state, paused, room.fetch.clock().now_ms()) {
        Plan::Sleep { until_ms, why } => return Ok(Turned::Slept { until_ms, why }),
        Plan::Scan => read(room, followed, start, &state, &mut size).await,
        Plan::Sweep if !followed.can_be_swept() => {
            read(room, followed, start, &state, &mut size).await
        }
        Plan::Sweep => scan_and_sweep(room, followed, start, &state, &mut size).await,
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

/// Reads what changed, in the way of the lane's surface.
async fn read(
    room: &Room<'_>,
    followed: &Followed,
    start: Start,
    state: &LaneState,
    size: &mut u32,
) -> Result<Tally, Stop> {
    match followed.surface().reading() {
        Reading::Walk => scan::scan(room, followed, start, state, size).await,
        Reading::Since => since::scan(room, followed, state, size).await,
        Reading::Talks => talks::scan(room, followed, state, *size).await,
    }
}

async fn scan_and_sweep(
    room: &Room<'_>,
    followed: &Followed,
    start: Start,
    state: &LaneState,
    size: &mut u32,
) -> Result<Tally, Stop> {
    let mut tally = Tally::default();
    if start != Start::Roll {
        tally = read(room, followed, start, state, size).await?;
    }
    let mut swept = sweep::sweep(room, followed, size).await?;
    if swept.quarantined > 0 {
        retry::taken_ids(room, followed, &mut swept).await?;
    }
    tally.add(&swept);
    Ok(tally)
}

pub(crate) fn named(stop: Stop, lane: &Lane) -> Error {
    match stop {
        Stop::Trouble(trouble) => Error::Source { lane: lane.to_string(), trouble },
        Stop::Error(error) => error,
    }
}

impl Room<'_> {
    /// How far down a lane of this surface is to be held, by the source's own time, in whole days: the
    /// source's clocks disagree by a second, and a window that moves back by one looks wider.
    pub(crate) fn window(&self, surface: Surface) -> Floor {
        const DAY_MS: i64 = 86_400_000;
        match (self.window_days, self.fetch.last_date()) {
            (Some(days), Some(Mark(date))) if surface.has_window() => {
                let first = date.saturating_sub(i64::from(days) * DAY_MS);
                Floor::At(Mark(first.div_euclid(DAY_MS) * DAY_MS))
            }
            _ => Floor::Beginning,
        }
    }

    /// When the listing of the threads whose talk this lane is was last looked at.
    pub(crate) fn threads_looked_at(&self, followed: &Followed) -> Result<Option<i64>, Error> {
        let Some(lane) = followed.threads() else { return Ok(None) };
        Ok(self.store.lane_state(&lane)?.checked_at_ms)
    }

    /// Tells of a page that is asked for.
    pub(crate) fn tell_asking(&self, followed: &Followed, page: u64) {
        let (surface, scope) = (followed.surface(), &followed.home.name);
        self.fetch.herald().tell(|| News::Asking { surface, scope: scope.clone(), page });
    }

    /// Tells of a page that was kept.
    pub(crate) fn tell_kept(&self, surface: Surface, page: u64, seen: usize, kept: &Ingested) {
        let (seen, stored) = (seen as u64, kept.created + kept.edited + kept.revived);
        self.fetch.herald().tell(|| News::Kept { surface, page, seen, stored });
    }

    /// Takes back that a lane failed before.
    fn finish(&self, lane: &Lane, state: &LaneState) -> Result<(), Error> {
        if 0 < state.failures {
            self.store.finish_turn(self.lease, lane)?;
        }
        Ok(())
    }

    /// Writes down that a lane failed, and when to try it again.
    pub(crate) fn postpone(
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

    /// Takes a watermark back that the source itself, at `date`, has not reached yet.
    pub(crate) fn distrust(&self, lane: &Lane, date: Mark) -> Result<(), Error> {
        Ok(self.store.reset_lane(self.lease, lane, date, "it lies beyond the source's own time")?)
    }
}
