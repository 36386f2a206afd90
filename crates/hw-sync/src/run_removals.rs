//! Removes what the sweeps of a run confirmed gone, once all lanes had their turn.
//!
//! A brake for each lane alone lets many small lanes lose everything. So nothing is removed before the total over
//! all lanes is known: then all of it is removed, or nothing, until the user allows it. Removals of a run that was
//! killed still count, because the store keeps the tally.

use std::collections::BTreeSet;
use std::sync::Mutex;

use hw_rules::duty::DutyName;
use hw_rules::item::ObjectKind;
use hw_rules::item_names::ItemNames;
use hw_rules::lane::{Lane, Surface};
use hw_rules::removal_brake::{self, BRAKE_ITEMS, RemovalShare};
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;
use hw_store::{ItemTally, LeasedStore, RETENTION_MS};

use crate::SyncError;
use crate::lane_turn::LaneTurn;
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::rate_limiter::lock_unpoisoned;
use crate::summary::{PullFailure, PullSummary};
use crate::turn::{LaneTarget, PullContext, PullTally};

/// Confirmed removals of a run, and the lanes that the brake stopped.
#[derive(Default)]
pub(crate) struct RunRemovals {
    confirmed: Mutex<Vec<ConfirmedRemoval>>,
    stopped_lanes: Mutex<BTreeSet<Lane>>,
}

/// Items that the sweep of one lane confirmed gone.
struct ConfirmedRemoval {
    /// Writes under the lease of the lane's duty.
    store: LeasedStore,
    target: LaneTarget,
    gone: Vec<(i64, ObservedAt)>,
}

/// A confirmed removal, with the ids that are stored and would be removed.
struct PlannedRemoval {
    removal: ConfirmedRemoval,
    ids: Vec<i64>,
}

impl RunRemovals {
    pub(crate) fn add_confirmed(
        &self,
        store: &LeasedStore,
        target: &LaneTarget,
        gone: Vec<(i64, ObservedAt)>,
    ) {
        let (store, target) = (store.clone(), target.clone());
        lock_unpoisoned(&self.confirmed).push(ConfirmedRemoval { store, target, gone });
    }

    /// Returns true if removals of a duty wait for those of the other lanes.
    pub(crate) fn has_pending(&self, duty: &DutyName) -> bool {
        let confirmed = lock_unpoisoned(&self.confirmed);
        confirmed.iter().any(|removal| removal.store.lease().duty == *duty)
    }

    /// Forgets the removals of a duty that is given back. Its sweeps stay due.
    pub(crate) fn discard(&self, duty: &DutyName) {
        let mut confirmed = lock_unpoisoned(&self.confirmed);
        confirmed.retain(|removal| removal.store.lease().duty != *duty);
    }

    /// Returns true if the brake stopped this lane in this run.
    pub(crate) fn is_stopped(&self, lane: &Lane) -> bool {
        lock_unpoisoned(&self.stopped_lanes).contains(lane)
    }

    fn take_confirmed(&self) -> Vec<ConfirmedRemoval> {
        std::mem::take(&mut *lock_unpoisoned(&self.confirmed))
    }
}

/// Removes what the sweeps have confirmed gone so far, unless it is too much of a lane or of the run.
pub(crate) fn apply_removals(
    context: &PullContext<'_>,
    pull: &PullSpec,
    summary: &mut PullSummary,
) -> Result<(), SyncError> {
    let planned = plan_removals(context, summary)?;
    if let Some(braked) = check_run_brake(context, pull, &planned)? {
        let Some(first) = planned.first() else { return Ok(()) };
        let (surface, scope) = (first.removal.target.surface(), pull.source_names());
        for PlannedRemoval { removal, .. } in &planned {
            stop_lane(context, removal, &braked)?;
        }
        summary.add_error(context, surface, scope, &braked);
        return Ok(());
    }
    for PlannedRemoval { removal: ConfirmedRemoval { store, target, gone }, .. } in planned {
        let allow = context.allow_mass_removal;
        let removed = store.finish_sweep(&target.lane, &gone, allow)?.removed;
        count_removed(context, &target, removed, summary);
    }
    Ok(())
}

/// Checks each lane's own brake; a brake that trips is a failure of that lane alone.
fn plan_removals(
    context: &PullContext<'_>,
    summary: &mut PullSummary,
) -> Result<Vec<PlannedRemoval>, SyncError> {
    let mut planned = Vec::new();
    for removal in context.run.removals.take_confirmed() {
        let ConfirmedRemoval { target, gone, .. } = &removal;
        match context.store.check_removal(&target.lane, gone, context.allow_mass_removal) {
            Ok(ids) => planned.push(PlannedRemoval { removal, ids }),
            Err(error @ hw_store::StoreError::Brake { .. }) => {
                let error = SyncError::from(error);
                stop_lane(context, &removal, &error)?;
                summary.add_error(context, target.surface(), target.display_name(), &error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(planned)
}

/// Returns the brake of the run, if it trips.
fn check_run_brake(
    context: &PullContext<'_>,
    pull: &PullSpec,
    planned: &[PlannedRemoval],
) -> Result<Option<SyncError>, SyncError> {
    let mut removals = context.store.removal_tally(&pull.host)?;
    let removed = removals;
    for PlannedRemoval { removal, ids } in planned {
        removals.add(removal.target.surface().kind(), ids.len() as u64);
    }
    // most runs remove next to nothing and need not count the stored items
    let is_little = removals.threads + removals.comments <= BRAKE_ITEMS as u64;
    if removals == removed || is_little || context.allow_mass_removal {
        return Ok(None);
    }
    let stored = count_stored_items(context, pull)?;
    let threads = removal_share(removals.threads, stored.threads + removed.threads);
    let comments = removal_share(removals.comments, stored.comments + removed.comments);
    match removal_brake::check_run_removals(threads, comments, false) {
        Ok(()) => Ok(None),
        Err(brake) => {
            Ok(Some(SyncError::RunBrake { brake, items: planned_item_names(context, planned)? }))
        }
    }
}

fn removal_share(removals: u64, stored: u64) -> RemovalShare {
    RemovalShare {
        removals: usize::try_from(removals).unwrap_or(usize::MAX),
        stored: usize::try_from(stored).unwrap_or(usize::MAX),
    }
}

/// Counts the items in the lanes of this run: lanes that it does not cover say nothing about its removals.
fn count_stored_items(context: &PullContext<'_>, pull: &PullSpec) -> Result<ItemTally, SyncError> {
    let repositories = context.store.repositories(&pull.host)?;
    let ids: Vec<i64> = repositories
        .iter()
        .filter(|repository| pull.is_followed(repository) && pull.is_chosen(repository))
        .map(|repository| repository.id)
        .collect();
    let surfaces = pull.thread_surfaces().chain(pull.comment_surfaces());
    let kinds: Vec<ObjectKind> = surfaces.map(Surface::kind).collect();
    Ok(context.store.count_items(&pull.host, &ids, &kinds)?)
}

fn planned_item_names(
    context: &PullContext<'_>,
    planned: &[PlannedRemoval],
) -> Result<ItemNames, SyncError> {
    let mut names = ItemNames::default();
    for PlannedRemoval { removal, ids } in planned {
        let Lane { host, surface, .. } = &removal.target.lane;
        names.extend(context.store.item_names(host, surface.kind(), ids)?);
    }
    Ok(names)
}

/// Records why a lane's sweep is not finished; it stays due.
fn stop_lane(
    context: &PullContext<'_>,
    ConfirmedRemoval { store, target, .. }: &ConfirmedRemoval,
    error: &SyncError,
) -> Result<(), SyncError> {
    lock_unpoisoned(&context.run.removals.stopped_lanes).insert(target.lane.clone());
    let state = store.lane_state(&target.lane)?;
    LaneTurn::new(&context.with_store(store), target, state).postpone(error)
}

fn count_removed(
    context: &PullContext<'_>,
    target: &LaneTarget,
    count: u64,
    summary: &mut PullSummary,
) {
    if count == 0 {
        return;
    }
    let (surface, scope) = (target.surface(), target.display_name());
    summary.add_tally(surface, &PullTally { removed: count, ..PullTally::default() });
    context.client.progress().emit(|| ProgressEvent::ItemsRemoved { surface, scope, count });
}

/// Finishes the removals of a completed run: resets the tally, unless the brake tripped, and purges removed items
/// whose retention is over.
pub(crate) fn finish_removals(
    context: &PullContext<'_>,
    pull: &PullSpec,
    summary: &PullSummary,
) -> Result<(), SyncError> {
    if !summary.failures.iter().any(PullFailure::is_brake) {
        context.store.reset_removal_tally(&pull.host)?;
    }
    // the earlier of both clocks counts, so that one wrong clock purges nothing too early
    let Some(date) = context.client.last_source_date() else { return Ok(()) };
    let now = date.min(SourceInstant(context.client.clock().now_ms()));
    context.store.purge_removed(now.minus_ms(RETENTION_MS))?;
    Ok(())
}
