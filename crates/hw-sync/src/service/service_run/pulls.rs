//! The pulls of a service, and its help for those of others.

use std::sync::{Arc, Mutex, MutexGuard};

use hw_rules::duty::{DutyName, DutyState};
use hw_store::ClaimReason;

use super::{AcceptedDuty, ClaimedDuty, GithubPart, LeasedStore, ServiceRun};
use crate::SyncError;
use crate::api_client::GithubClient;
use crate::pull::PullSpec;
use crate::pull_run::{PullRun, duty_error};
use crate::rate_limiter::lock_unpoisoned;
use crate::turn::PullTally;
use crate::worker::{DutyBoard, Worker};

/// The pulls of a service.
pub(super) struct ServicePulls<'a> {
    worker: &'a Worker<'a>,
    github: GithubPart<'a>,
    /// The same pull, with the sweep of every list.
    reconciling: PullSpec,
    current: Mutex<Option<CurrentPull<'a>>>,
}

/// The pull that this service performs or helps.
struct CurrentPull<'a> {
    run: Arc<PullRun<'a>>,
    /// The claim of another worker that is helped.
    helped_epoch: Option<i64>,
}

/// What the pulls of a service cover.
pub(super) struct PullDetails {
    plain: String,
    reconciling: String,
}

impl<'a> ServicePulls<'a> {
    pub(super) fn new(worker: &'a Worker<'a>, github: GithubPart<'a>) -> Self {
        let reconciling = PullSpec { reconcile: true, ..github.pull.clone() };
        Self { worker, github, reconciling, current: Mutex::default() }
    }

    fn current(&self) -> MutexGuard<'_, Option<CurrentPull<'a>>> {
        lock_unpoisoned(&self.current)
    }

    fn read_details(&self) -> Result<PullDetails, SyncError> {
        let store = self.worker.store();
        let plain = self.github.pull.describe_coverage(store)?;
        Ok(PullDetails { plain, reconciling: self.reconciling.describe_coverage(store)? })
    }

    /// Returns the run to which the comments of a repository belong, if a pull of this or another worker reads them.
    pub(super) fn run_for(&self, duty: &DutyState) -> Option<(Arc<PullRun<'a>>, AcceptedDuty)> {
        let current = self.current();
        let run = &current.as_ref()?.run;
        let accepted = run.accepts_repository(duty)?;
        Some((Arc::clone(run), accepted))
    }

    /// Returns the run that requested what this describes.
    pub(super) fn run_of(&self, detail: &str) -> Option<Arc<PullRun<'a>>> {
        let run = Arc::clone(&self.current().as_ref()?.run);
        run.is_own_task(detail).then_some(run)
    }

    pub(super) fn client(&self) -> &'a GithubClient {
        self.github.client
    }

    pub(super) fn spec(&self) -> &'a PullSpec {
        self.github.pull
    }

    /// Takes note of the pull of another worker, in order to help it.
    pub(super) fn observe(&self, board: &DutyBoard) -> Result<(), SyncError> {
        let name = DutyName::pull(self.github.pull.host.as_str());
        let pull = board.duties.iter().find(|duty| duty.name == name);
        let owner = pull.and_then(|pull| pull.owner.as_deref());
        let other = owner.filter(|owner| *owner != self.worker.id() && self.worker.is_alive(owner));
        let (Some(pull), Some(owner)) = (pull, other) else {
            self.current().take_if(|current| current.helped_epoch.is_some());
            return Ok(());
        };
        if self.current().as_ref().is_some_and(|current| current.helped_epoch == Some(pull.epoch)) {
            return Ok(());
        }
        let details = self.read_details()?;
        let Some(spec) = self.spec_of(&details, &pull.detail) else { return Ok(()) };
        let (worker, client) = (self.worker, self.github.client);
        let run = PullRun::new_helper(worker, client, spec.clone(), owner, pull.epoch)?;
        let helped_epoch = Some(pull.epoch);
        *self.current() = Some(CurrentPull { run: Arc::new(run), helped_epoch });
        Ok(())
    }

    fn spec_of(&self, details: &PullDetails, detail: &str) -> Option<&PullSpec> {
        if detail == details.plain {
            Some(self.github.pull)
        } else {
            (detail == details.reconciling).then_some(&self.reconciling)
        }
    }

    pub(super) fn duties_ended(&self) {
        if let Some(current) = &*self.current() {
            current.run.notify_ended();
        }
    }
}

impl ServiceRun<'_> {
    /// Accepts a pull that is due, or that somebody requests with the options of this service. Others are left to the
    /// process that requests them.
    pub(super) fn accepts_pull(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        let is_requested = duty.requested_ms.is_some() || duty.owner.is_some();
        let is_due = self.is_due(duty);
        if !is_requested && !is_due {
            return None;
        }
        let details = self.pulls.as_ref()?.read_details();
        let details = details.inspect_err(|error| tracing::warn!(%error, "cannot plan a pull"));
        let PullDetails { plain, reconciling } = details.ok()?;
        let is_plain = duty.detail == plain || duty.detail.is_empty();
        let detail = match () {
            () if is_requested && duty.detail == reconciling => reconciling,
            () if is_due || is_requested && is_plain => plain,
            () => return None,
        };
        Some(AcceptedDuty::on_request(duty, detail))
    }

    pub(super) async fn perform_pull(
        &self,
        store: &LeasedStore,
        claimed: &ClaimedDuty,
    ) -> Result<Option<String>, SyncError> {
        let (Some(pulls), ClaimReason::Request(detail)) = (&self.pulls, &claimed.reason) else {
            return Ok(None);
        };
        let details = pulls.read_details()?;
        let spec = pulls.spec_of(&details, detail).unwrap_or(pulls.github.pull);
        let run = Arc::new(PullRun::new(self.worker, pulls.github.client, spec.clone())?);
        *pulls.current() = Some(CurrentPull { run: Arc::clone(&run), helped_epoch: None });
        let result = run.run_pull_duty(store, claimed.dead_owner()).await;
        *pulls.current() = None;
        let error = duty_error(&result);
        let summary = result?;
        let (tally, failures) = (summary.total_tally(), summary.failures.len());
        let PullTally { seen, stored, removed, .. } = tally;
        tracing::info!(seen, stored, removed, failures, "pulled");
        self.progress().summary.pulls += 1;
        Ok(error)
    }
}
