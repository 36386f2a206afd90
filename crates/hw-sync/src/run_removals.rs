//! Removals of a whole run: what its sweeps confirmed gone is removed once all lanes had their turn.
//!
//! A brake for each lane alone lets many small lanes lose everything. So nothing is removed before it is known
//! how much it is over all lanes: then all of it goes, or nothing does, until a person allows it. What was
//! removed by a run that was killed meanwhile still counts, because the store keeps the tally.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hw_rules::item::Kind;
use hw_rules::item_names::ItemNames;
use hw_rules::lane::{Lane, Surface};
use hw_rules::reconcile::{self, BRAKE_ITEMS, RunShare};
use hw_rules::time::Mark;
use hw_rules::version::Seen;
use hw_store::{ItemTally, KEPT_MS};

use crate::Error;
use crate::news::News;
use crate::run::Pull;
use crate::summary::Summary;
use crate::turn::{Followed, Room, Tally};

/// What the lanes of a run have confirmed gone, and which of them the brake stopped.
#[derive(Default)]
pub(crate) struct RunRemovals {
    confirmed: Mutex<Vec<ConfirmedRemoval>>,
    stopped: Mutex<BTreeSet<Lane>>,
}

/// What the sweep of one lane confirmed gone.
struct ConfirmedRemoval {
    followed: Followed,
    gone: Vec<(i64, Seen)>,
}

/// The same, with what would really be removed.
struct PlannedRemoval {
    followed: Followed,
    gone: Vec<(i64, Seen)>,
    ids: Vec<i64>,
}

impl RunRemovals {
    pub(crate) fn add(&self, followed: &Followed, gone: Vec<(i64, Seen)>) {
        lock(&self.confirmed).push(ConfirmedRemoval { followed: followed.clone(), gone });
    }

    /// Returns whether the brake stopped a lane in this run.
    pub(crate) fn has_stopped(&self, lane: &Lane) -> bool {
        lock(&self.stopped).contains(lane)
    }

    fn take_confirmed(&self) -> Vec<ConfirmedRemoval> {
        std::mem::take(&mut *lock(&self.confirmed))
    }
}

/// Whoever held the lock and panicked has left a list that is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what the sweeps have confirmed gone so far, unless it is too much of a lane or of the run.
pub(crate) fn apply(room: &Room<'_>, pull: &Pull, summary: &mut Summary) -> Result<(), Error> {
    let planned = plan(room, summary)?;
    if let Some(braked) = check_run(room, pull, &planned)? {
        let Some(first) = planned.first() else { return Ok(()) };
        let (surface, scope) = (first.followed.surface(), pull.organization.clone());
        for PlannedRemoval { followed, .. } in &planned {
            stop_lane(room, followed, &braked)?;
        }
        summary.fail_by(room, surface, scope, &braked);
        return Ok(());
    }
    for PlannedRemoval { followed, gone, .. } in planned {
        let allow = room.allow_mass_removal;
        let removed = room.store.finish_sweep(room.lease, &followed.lane, &gone, allow)?.removed;
        count_removed(room, &followed, removed, summary);
    }
    Ok(())
}

/// Asks each lane's own brake; one that holds is a failure of that lane alone.
fn plan(room: &Room<'_>, summary: &mut Summary) -> Result<Vec<PlannedRemoval>, Error> {
    let mut planned = Vec::new();
    for ConfirmedRemoval { followed, gone } in room.removals.take_confirmed() {
        match room.store.check_removal(&followed.lane, &gone, room.allow_mass_removal) {
            Ok(ids) => planned.push(PlannedRemoval { followed, gone, ids }),
            Err(error @ hw_store::Error::Brake { .. }) => {
                let error = Error::from(error);
                stop_lane(room, &followed, &error)?;
                summary.fail_by(room, followed.surface(), followed.scope(), &error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(planned)
}

/// Returns the brake of the run, if it holds.
fn check_run(
    room: &Room<'_>,
    pull: &Pull,
    planned: &[PlannedRemoval],
) -> Result<Option<Error>, Error> {
    let mut removals = room.store.removal_tally(&pull.host)?;
    let removed = removals;
    for PlannedRemoval { followed, ids, .. } in planned {
        removals.add(followed.surface().kind(), ids.len() as u64);
    }
    // most runs remove next to nothing, and need not count what there is
    let is_little = removals.threads + removals.comments <= BRAKE_ITEMS as u64;
    if removals == removed || is_little || room.allow_mass_removal {
        return Ok(None);
    }
    let held = held_by_lanes(room, pull)?;
    let threads = share(removals.threads, held.threads + removed.threads);
    let comments = share(removals.comments, held.comments + removed.comments);
    match reconcile::brake_run(threads, comments, false) {
        Ok(()) => Ok(None),
        Err(brake) => Ok(Some(Error::RunBrake { brake, items: names(room, planned)? })),
    }
}

fn share(removals: u64, held: u64) -> RunShare {
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    RunShare { removals: number(removals), held: number(held) }
}

/// Counts the items in the lanes of this run: what it does not follow or choose cannot vouch for it.
fn held_by_lanes(room: &Room<'_>, pull: &Pull) -> Result<ItemTally, Error> {
    let repositories = room.store.repositories(&pull.host)?;
    let is_chosen = |name: &str| pull.only.is_empty() || pull.is_named(name);
    let followed = repositories.iter().filter(|it| pull.follows(it) && is_chosen(&it.name));
    let ids: Vec<i64> = followed.map(|repository| repository.id).collect();
    let surfaces = pull.surfaces().chain(pull.comment_surfaces());
    let kinds: Vec<Kind> = surfaces.map(Surface::kind).collect();
    Ok(room.store.count_items(&pull.host, &ids, &kinds)?)
}

fn names(room: &Room<'_>, planned: &[PlannedRemoval]) -> Result<ItemNames, Error> {
    let mut names = ItemNames::default();
    for PlannedRemoval { followed, ids, .. } in planned {
        let Lane { host, surface, .. } = &followed.lane;
        names.extend(room.store.item_names(host, surface.kind(), ids)?);
    }
    Ok(names)
}

/// Writes down why a lane's sweep is not finished; it stays due.
fn stop_lane(room: &Room<'_>, followed: &Followed, error: &Error) -> Result<(), Error> {
    lock(&room.removals.stopped).insert(followed.lane.clone());
    let state = room.store.lane_state(&followed.lane)?;
    room.postpone(&followed.lane, &state, state.page_size, error)
}

fn count_removed(room: &Room<'_>, followed: &Followed, count: u64, summary: &mut Summary) {
    if count == 0 {
        return;
    }
    let (surface, scope) = (followed.surface(), followed.scope());
    summary.count(surface, &Tally { removed: count, ..Tally::default() });
    room.fetch.herald().tell(|| News::Removed { surface, scope, count });
}

/// Ends the removals of a run that was read to its end: the next one counts from zero, unless the brake holds,
/// and what has been kept long enough is purged.
pub(crate) fn end(room: &Room<'_>, pull: &Pull, summary: &Summary) -> Result<(), Error> {
    if !summary.failures.iter().any(|failure| failure.is_brake) {
        room.store.end_removals(room.lease, &pull.host)?;
    }
    // both clocks must agree that the time is over: a wrong one purges nothing
    let Some(date) = room.fetch.last_date() else { return Ok(()) };
    let now = date.min(Mark(room.fetch.clock().now_ms()));
    room.store.purge_removed(room.lease, now.minus(KEPT_MS))?;
    Ok(())
}
