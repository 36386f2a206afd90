//! Runs the duties of a workspace: claims what is due and free, and performs it beside what runs already.
//!
//! One process or ten, the same rows: each worker has a scheduler, and of two that want a duty one gets it.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use hw_rules::duty::{self, DutyName, DutyState};
use hw_store::{DutyEnd, DutyTask, LeasedStore};

use crate::SyncError;
use crate::clock::Clock;
use crate::worker::{DutyBoard, Worker};

/// The time after which a worker looks for duties that others requested or gave back.
const LOOK_INTERVAL_MS: i64 = 500;

/// Performs duties.
pub(crate) trait DutyPerformer {
    /// Returns the duties that this worker performs as soon as they are free, even if no row requests them.
    fn wanted(&self) -> Vec<DutyName>;

    /// Returns what the performance of a duty would cover; none if this worker does not perform it.
    fn accepts(&self, duty: &DutyState) -> Option<String>;

    /// Performs a claimed duty. An error ends the worker; what went wrong with the duty alone is part of its end.
    fn perform(
        &self,
        store: LeasedStore,
        claimed: ClaimedDuty,
    ) -> LocalBoxFuture<'_, Result<PerformedDuty, SyncError>>;

    /// Learns that duties of this worker were given back.
    fn duties_ended(&self);

    /// Learns the state of all duties. Returns true if nothing is left to do.
    fn is_done(&self, board: &DutyBoard) -> bool;
}

/// A duty at the start of its performance.
pub(crate) struct ClaimedDuty {
    /// Describes what its performance covers.
    pub(crate) detail: String,
    /// The worker that performed it before, and died.
    pub(crate) dead_owner: Option<String>,
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
    let mut running_names: Vec<DutyName> = Vec::new();
    let mut ended: Vec<DutyEnd> = Vec::new();
    loop {
        let board = worker.read_board()?;
        if running.is_empty() && ended.is_empty() && performer.is_done(&board) {
            return Ok(());
        }
        let DutyBoard { mut duties, dead } = board;
        request_wanted(&mut duties, performer.wanted(), clock.now_ms());
        let tasks = choose_tasks(&duties, performer, &running_names, &dead, clock.now_ms());
        if !tasks.is_empty() || !ended.is_empty() {
            let claimed = worker.claim(&tasks, &dead, &ended)?;
            if !ended.is_empty() {
                ended.clear();
                performer.duties_ended();
            }
            for store in claimed {
                let duty = store.lease().duty.clone();
                let task = tasks.iter().find(|task| task.name == duty);
                let detail = task.map_or_else(String::new, |task| task.detail.clone());
                let before = duties.iter().find(|before| before.name == duty);
                let dead_owner = before.and_then(|before| before.owner.clone());
                running_names.push(duty);
                running.push(performer.perform(store, ClaimedDuty { detail, dead_owner }));
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
                    running_names.retain(|running| *running != name);
                    if has_room(&running_names) {
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

/// Returns the duties to claim now.
fn choose_tasks(
    duties: &[DutyState],
    performer: &impl DutyPerformer,
    running: &[DutyName],
    dead: &BTreeSet<String>,
    now_ms: i64,
) -> Vec<DutyTask> {
    let mut details = BTreeMap::new();
    let accepted: Vec<DutyState> = duties
        .iter()
        .filter(|duty| match performer.accepts(duty) {
            Some(detail) => details.insert(duty.name.clone(), detail).is_none(),
            None => false,
        })
        .cloned()
        .collect();
    let names = duty::order_duties(&accepted, running, dead, now_ms).into_iter();
    names.filter_map(|name| Some(DutyTask { detail: details.remove(&name)?, name })).collect()
}

/// Returns true if at least half of the duties that may run at once do not.
fn has_room(running: &[DutyName]) -> bool {
    let mut counts = BTreeMap::new();
    for name in running {
        *counts.entry(name.kind()).or_insert(0) += 1;
    }
    counts.iter().all(|(kind, count)| 2 * count <= kind.max_concurrent().max(2))
}

#[cfg(test)]
#[path = "scheduler_tests.rs"]
mod tests;
