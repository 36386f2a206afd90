//! A worker: this process, as the others that share its workspace see it. It beats while it works, claims duties, and
//! gives them back at the end.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Mutex;

use hw_rules::duty::{DutyName, DutyState};
use hw_rules::worker_watch::{BEAT_INTERVAL_MS, WorkerWatch};
use hw_store::{
    ClaimReason, ClaimTask, DeadWorker, DutyClaim, DutyEnd, LeasedStore, SERVICE_ROLE, StoreWriter,
    WorkerHandle, WorkerIdentity,
};

use crate::SyncError;
use crate::clock::Clock;
use crate::rate_limiter::lock_unpoisoned;

/// A registered worker. Dropping it gives its duties back, because work can be stopped wherever it waits.
pub struct Worker<'a> {
    handle: WorkerHandle,
    clock: &'a dyn Clock,
    watch: Mutex<WorkerWatch>,
    /// The other workers that run as a service.
    services: Mutex<BTreeSet<String>>,
}

/// What a worker knows about the services of its workspace, itself aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServiceSign {
    None,
    /// There is one, which may be dead.
    Unknown,
    Alive,
}

/// The duties of a workspace, and the workers among their owners that are dead.
pub(crate) struct DutyBoard {
    pub(crate) duties: Vec<DutyState>,
    pub(crate) dead: BTreeSet<String>,
}

impl<'a> Worker<'a> {
    pub fn register(
        store: &StoreWriter,
        clock: &'a dyn Clock,
        identity: &WorkerIdentity,
    ) -> Result<Self, SyncError> {
        let handle = store.register_worker(identity, clock.now_ms())?;
        let (watch, services) = Default::default();
        let worker = Self { handle, clock, watch, services };
        worker.observe_others()?;
        Ok(worker)
    }

    pub fn store(&self) -> &StoreWriter {
        self.handle.store()
    }

    pub fn id(&self) -> &str {
        &self.handle.identity().id
    }

    /// Returns whether another worker runs as a service.
    pub(crate) fn service_sign(&self) -> ServiceSign {
        let services = lock_unpoisoned(&self.services);
        if services.iter().any(|service| self.is_alive(service)) {
            return ServiceSign::Alive;
        }
        let (watch, now_ms) = (lock_unpoisoned(&self.watch), self.clock.monotonic_ms());
        let dead = watch.dead_among(services.iter().map(String::as_str), now_ms);
        if dead.len() < services.len() { ServiceSign::Unknown } else { ServiceSign::None }
    }

    /// Runs the work while beating each second; stops it when another worker has taken this one for dead. `share` learns
    /// how many workers are alive.
    pub async fn run<T>(
        &self,
        share: impl Fn(usize),
        work: impl Future<Output = Result<T, SyncError>>,
    ) -> Result<T, SyncError> {
        let mut work = pin!(work);
        share(self.count_living());
        loop {
            tokio::select! {
                biased;
                result = &mut work => return result,
                () = self.clock.sleep_until(self.clock.now_ms() + BEAT_INTERVAL_MS) => {
                    self.beat()?;
                    share(self.count_living());
                }
            }
        }
    }

    /// Beats once, and tolerates a busy database: each write checks its epoch, so a duty that was lost meanwhile does no
    /// harm.
    pub fn beat(&self) -> Result<(), SyncError> {
        let beat = self.handle.beat(self.clock.now_ms()).map_err(SyncError::from);
        match beat.and_then(|()| self.observe_others()) {
            Err(SyncError::Store(error)) if error.is_transient() => {
                tracing::warn!(%error, "could not show that this worker is alive; retrying");
                Ok(())
            }
            other => other,
        }
    }

    /// Beats during a long operation of the store.
    pub(crate) fn beat_in_store(&self) -> Result<(), hw_store::StoreError> {
        self.handle.beat(self.clock.now_ms())
    }

    /// Returns the number of workers that seem to be alive, this one included.
    fn count_living(&self) -> usize {
        lock_unpoisoned(&self.watch).count_living(self.clock.monotonic_ms()).max(1)
    }

    fn observe_others(&self) -> Result<(), SyncError> {
        let rows = self.store().workers()?;
        let others = rows.iter().map(|row| &row.identity).filter(|other| other.id != self.id());
        let services = others.filter(|other| other.role == SERVICE_ROLE);
        *lock_unpoisoned(&self.services) = services.map(|service| service.id.clone()).collect();
        let workers: Vec<_> = rows.iter().map(hw_store::WorkerRow::to_beat).collect();
        lock_unpoisoned(&self.watch).observe(&workers, self.clock.monotonic_ms());
        Ok(())
    }

    /// Reads the duties, and which of their owners are dead.
    pub(crate) fn read_board(&self) -> Result<DutyBoard, SyncError> {
        let duties = self.store().duties()?;
        let owners = || duties.iter().filter_map(|duty| duty.owner.as_deref());
        if owners().any(|owner| owner != self.id()) {
            self.observe_others()?;
        }
        let others = owners().filter(|owner| *owner != self.id());
        let dead = lock_unpoisoned(&self.watch).dead_among(others, self.clock.monotonic_ms());
        Ok(DutyBoard { duties, dead })
    }

    /// Claims those of these duties that are free, and ends others in the same transaction.
    pub(crate) fn claim(
        &self,
        tasks: &[ClaimTask],
        dead: &BTreeSet<String>,
        ended: &[DutyEnd],
    ) -> Result<Vec<LeasedStore>, SyncError> {
        let (dead, now_ms) = (self.dead_workers(dead), self.clock.now_ms());
        let claim = DutyClaim { tasks, dead: &dead, ended, now_ms };
        Ok(self.handle.claim_duties(&claim)?)
    }

    /// Adds the last beat that was seen of each dead worker.
    pub(crate) fn dead_workers(&self, dead: &BTreeSet<String>) -> Vec<DeadWorker> {
        let watch = lock_unpoisoned(&self.watch);
        dead.iter().map(|id| DeadWorker { id: id.clone(), beat: watch.last_beat(id) }).collect()
    }

    /// Claims a duty for a command that does not wait for others; the error names a living holder.
    ///
    /// A holder whose state is unknown is watched until it beats or counts as dead.
    pub async fn claim_at_once(&self, name: &DutyName) -> Result<LeasedStore, SyncError> {
        loop {
            let DutyBoard { duties, dead } = self.read_board()?;
            let reason = ClaimReason::Request(String::new());
            let task = ClaimTask { name: name.clone(), reason };
            if let Some(claimed) = self.claim(&[task], &dead, &[])?.into_iter().next() {
                return Ok(claimed);
            }
            let owner = duties.into_iter().find(|duty| duty.name == *name);
            if let Some(owner) = owner.and_then(|duty| duty.owner)
                && self.is_alive(&owner)
            {
                return Err(self.busy_error(name)?);
            }
            self.clock.sleep_until(self.clock.now_ms() + BEAT_INTERVAL_MS / 4).await;
        }
    }

    /// Waits until every other worker is gone or counts as dead, and returns the dead ones. Returns none as soon as one is
    /// known to be alive.
    pub(crate) async fn wait_until_alone(&self) -> Result<Option<Vec<DeadWorker>>, SyncError> {
        loop {
            self.observe_others()?;
            let workers = self.store().workers()?;
            let others: Vec<&str> = workers
                .iter()
                .map(|worker| worker.identity.id.as_str())
                .filter(|id| *id != self.id())
                .collect();
            if others.iter().any(|id| self.is_alive(id)) {
                return Ok(None);
            }
            let now_ms = self.clock.monotonic_ms();
            let dead = lock_unpoisoned(&self.watch).dead_among(others.iter().copied(), now_ms);
            if dead.len() == others.len() {
                return Ok(Some(self.dead_workers(&dead)));
            }
            self.clock.sleep_until(self.clock.now_ms() + BEAT_INTERVAL_MS / 4).await;
        }
    }

    /// Removes the rows of all workers that are dead, and frees their duties.
    pub(crate) fn remove_dead_workers(&self) -> Result<(), SyncError> {
        let workers = self.store().workers()?;
        let others = workers.iter().map(|worker| worker.identity.id.as_str());
        let others = others.filter(|id| *id != self.id());
        let dead = lock_unpoisoned(&self.watch).dead_among(others, self.clock.monotonic_ms());
        if dead.is_empty() { Ok(()) } else { self.claim(&[], &dead, &[]).map(drop) }
    }

    pub(crate) fn is_alive(&self, worker: &str) -> bool {
        lock_unpoisoned(&self.watch).is_alive(worker, self.clock.monotonic_ms())
    }

    fn busy_error(&self, name: &DutyName) -> Result<SyncError, SyncError> {
        let holder = self.store().duty_holder(name)?;
        let (owner, since_ms) = holder.map_or_else(
            || ("another process".to_owned(), self.clock.now_ms()),
            |holder| (holder.worker, holder.since_ms),
        );
        Ok(SyncError::Busy { owner, since_ms })
    }

    pub(crate) fn remove_schema(
        &self,
        condition: hw_store::RemoveCondition,
        dead: &[DeadWorker],
    ) -> Result<hw_store::WorkspaceRemoval, SyncError> {
        Ok(self.handle.remove_schema(condition, dead)?)
    }

    /// Keeps the duties from being given back: another process has them, or this one counts as dead.
    pub fn abandon(&mut self) {
        self.handle.abandon();
    }

    /// Gives the duties back at the end of the work, unless its error shows that they are lost.
    pub(crate) fn finish<T>(mut self, result: Result<T, SyncError>) -> Result<T, SyncError> {
        if result.as_ref().is_err_and(SyncError::has_lost_lease) {
            self.abandon();
        }
        result
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
