//! Runs the duties of a workspace: claims what is due and free, and performs it beside what runs already.
//!
//! One process or ten, the same rows: each worker has a scheduler, and of two that want a duty one gets it.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hw_rules::duty::{self, DutyCandidate, DutyName, DutyState, RunningDuty};
use hw_rules::rate_limit::RequestClass;
use hw_store::{ClaimReason, ClaimTask, DutyEnd, LeasedStore};

use crate::SyncError;
use crate::clock::Clock;
use crate::worker::{DutyBoard, Worker};

/// The time after which a worker looks for duties that others requested or gave back.
const LOOK_INTERVAL_MS: i64 = 500;

/// Performs duties.
pub(crate) trait DutyPerformer {
    /// Returns the duties that this worker performs as soon as they are free, even if no row requests them.
    fn wanted(&self) -> Vec<DutyName>;

    /// Returns how this worker performs a duty now; none if it does not.
    fn accepts(&self, duty: &DutyState) -> Option<AcceptedDuty>;

    /// Performs a claimed duty. An error ends the worker; what went wrong with the duty alone is part of its end.
    fn perform(
        &self,
        store: LeasedStore,
        claimed: ClaimedDuty,
    ) -> LocalBoxFuture<'_, Result<PerformedDuty, SyncError>>;

    /// Prepares the next choice of duties: schedules or requests some.
    fn prepare(&self, board: &DutyBoard) -> Result<(), SyncError>;

    /// Learns that duties of this worker were given back.
    fn duties_ended(&self);

    /// Learns the state of all duties. Returns true if nothing is left to do.
    fn is_done(&self, board: &DutyBoard) -> bool;
}

/// A duty that a worker would perform.
pub(crate) struct AcceptedDuty {
    /// The class of the requests that it needs.
    pub(crate) class: RequestClass,
    pub(crate) reason: ClaimReason,
}

impl AcceptedDuty {
    /// Accepts what is requested or wanted of a duty, which this describes.
    pub(crate) fn on_request(duty: &DutyState, detail: String) -> Self {
        Self { class: duty.name.kind().class(), reason: ClaimReason::Request(detail) }
    }
}

/// A duty at the start of its performance.
pub(crate) struct ClaimedDuty {
    pub(crate) reason: ClaimReason,
    /// Its state before it was claimed.
    pub(crate) before: DutyState,
}

impl ClaimedDuty {
    /// Returns the worker that performed it before, and died.
    pub(crate) fn dead_owner(&self) -> Option<&str> {
        self.before.owner.as_deref()
    }
}

/// A duty after its performance.
pub(crate) enum PerformedDuty {
    Ended(DutyEnd),
    /// The performer keeps it, and ends it itself.
    Kept(DutyName),
}

/// Performs duties until nothing is left, which may be never.
pub(crate) async fn run_duties(
    worker: &Worker<'_>,
    clock: &dyn Clock,
    performer: &impl DutyPerformer,
) -> Result<(), SyncError> {
    let mut running = FuturesUnordered::new();
    let mut running_duties: Vec<RunningDuty> = Vec::new();
    let mut ended: Vec<DutyEnd> = Vec::new();
    loop {
        let board = worker.read_board()?;
        performer.prepare(&board)?;
        if running.is_empty() && ended.is_empty() && performer.is_done(&board) {
            return Ok(());
        }
        let DutyBoard { mut duties, dead } = board;
        request_wanted(&mut duties, performer.wanted(), clock.now_ms());
        let chosen = choose_duties(duties, performer, &running_duties, &dead, clock.now_ms());
        if !chosen.is_empty() || !ended.is_empty() {
            let tasks: Vec<ClaimTask> = chosen.iter().map(ChosenDuty::to_task).collect();
            let claimed = worker.claim(&tasks, &dead, &ended)?;
            if !ended.is_empty() {
                ended.clear();
                performer.duties_ended();
            }
            for store in claimed {
                let chosen = chosen.iter().find(|chosen| chosen.before.name == store.lease().duty);
                let Some(ChosenDuty { before, accepted }) = chosen else { continue };
                let AcceptedDuty { class, reason } = accepted;
                running_duties.push(RunningDuty { name: before.name.clone(), class: *class });
                let (before, reason) = (before.clone(), reason.clone());
                running.push(performer.perform(store, ClaimedDuty { reason, before }));
            }
        }
        let look_again = clock.sleep_until(clock.now_ms() + LOOK_INTERVAL_MS);
        let mut look_again = std::pin::pin!(look_again);
        // a duty that ends makes room for one more; but claims share a transaction, so a few of them wait for each other
        loop {
            tokio::select! {
                biased;
                Some(performed) = running.next(), if !running.is_empty() => {
                    let name = match performed? {
                        PerformedDuty::Ended(end) => {
                            let name = end.lease.duty.clone();
                            ended.push(end);
                            name
                        }
                        PerformedDuty::Kept(name) => name,
                    };
                    running_duties.retain(|running| running.name != name);
                    if has_room(&running_duties) {
                        break;
                    }
                }
                () = &mut look_again => break,
            }
        }
    }
}

/// Treats wanted duties as requested.
fn request_wanted(duties: &mut Vec<DutyState>, wanted: Vec<DutyName>, now_ms: i64) {
    for name in wanted {
        match duties.iter_mut().find(|duty| duty.name == name) {
            Some(duty) => duty.requested_ms = Some(now_ms),
            None => {
                duties.push(DutyState { requested_ms: Some(now_ms), ..DutyState::new(name) });
            }
        }
    }
}

/// A duty to claim.
struct ChosenDuty {
    before: DutyState,
    accepted: AcceptedDuty,
}

impl ChosenDuty {
    fn to_task(&self) -> ClaimTask {
        ClaimTask { name: self.before.name.clone(), reason: self.accepted.reason.clone() }
    }
}

/// Returns the duties to claim now.
fn choose_duties(
    duties: Vec<DutyState>,
    performer: &impl DutyPerformer,
    running: &[RunningDuty],
    dead: &BTreeSet<String>,
    now_ms: i64,
) -> Vec<ChosenDuty> {
    let mut accepted: BTreeMap<DutyName, ChosenDuty> = BTreeMap::new();
    for before in duties {
        if let Some(how) = performer.accepts(&before) {
            accepted.insert(before.name.clone(), ChosenDuty { before, accepted: how });
        }
    }
    let candidates: Vec<DutyCandidate<'_>> = accepted
        .values()
        .map(|chosen| DutyCandidate { duty: &chosen.before, class: chosen.accepted.class })
        .collect();
    let names = duty::order_duties(&candidates, running, dead, now_ms);
    names.into_iter().filter_map(|name| accepted.remove(&name)).collect()
}

/// Returns true if at least half of the duties that may run at once do not.
fn has_room(running: &[RunningDuty]) -> bool {
    let mut counts = BTreeMap::new();
    for RunningDuty { name, class } in running {
        *counts.entry((name.kind(), *class)).or_insert(0) += 1;
    }
    counts.iter().all(|((kind, _), count)| 2 * count <= kind.max_concurrent().max(2))
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
