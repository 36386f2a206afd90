//! One service's part in the duties of a workspace.

mod pulls;
mod repository_polls;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use futures_util::future::{FutureExt as _, LocalBoxFuture};
use hw_rules::backoff::Jitter;
use hw_rules::chunk_size::GAP_MS;
use hw_rules::daily_slot;
use hw_rules::duty::{self, DutyName, DutyState, NextDue};
use hw_rules::follow_reason::LaneUse;
use hw_rules::lane::Scope;
use hw_store::{DutyEnd, LeasedStore};

use super::due_times::{ServiceAgenda, interval_ms};
use super::duty_errors::FailedDuty;
use super::{BlueskyPart, GithubPart, ServiceMode, ServiceSpec};
use crate::bluesky::poll;
use crate::clock::Clock;
use crate::crash_points::CrashPoints;
use crate::rate_limiter::lock_unpoisoned;
use crate::scheduler::{AcceptedDuty, ClaimedDuty, DutyPerformer, PerformedDuty};
use crate::turn::RunState;
use crate::worker::{DutyBoard, Worker};
use crate::{SyncError, chores};
use pulls::ServicePulls;

/// The time after which the service looks what else the workspace follows by now.
const AGENDA_INTERVAL_MS: i64 = 2_000;
/// The events that one transaction of the retention looks at.
const PURGED_ROWS: u32 = 500;

/// What a service has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServiceSummary {
    /// Polls of watched repositories.
    pub repository_polls: u64,
    /// Rounds of polls of all accounts.
    pub account_polls: u64,
    pub pulls: u64,
    /// The duties whose last run failed.
    pub failures: Vec<DutyFailure>,
}

/// A duty that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DutyFailure {
    pub duty: DutyName,
    pub reason: String,
}

pub(super) struct ServiceRun<'a> {
    worker: &'a Worker<'a>,
    clock: &'a dyn Clock,
    spec: &'a ServiceSpec<'a>,
    pulls: Option<ServicePulls<'a>>,
    /// What all polls of watched repositories share.
    poll_state: RunState,
    progress: Mutex<ServiceProgress>,
}

#[derive(Default)]
struct ServiceProgress {
    agenda: ServiceAgenda,
    /// When the agenda was read.
    read_ms: Option<i64>,
    /// True if the duties that are chosen next may lack some that were just scheduled.
    is_behind: bool,
    /// The duties that a service which ends has performed.
    performed: BTreeSet<DutyName>,
    summary: ServiceSummary,
    failures: BTreeMap<DutyName, String>,
    rng: fastrand::Rng,
}

impl<'a> ServiceRun<'a> {
    pub(super) fn new(
        worker: &'a Worker<'a>,
        clock: &'a dyn Clock,
        spec: &'a ServiceSpec<'a>,
    ) -> Self {
        let progress =
            ServiceProgress { rng: fastrand::Rng::with_seed(spec.seed), ..Default::default() };
        Self {
            worker,
            clock,
            spec,
            pulls: spec.github.map(|github| ServicePulls::new(worker, github)),
            poll_state: RunState::new(spec.github.map_or(1, |part| part.client.largest_page())),
            progress: Mutex::new(progress),
        }
    }

    pub(super) fn take_summary(&self) -> ServiceSummary {
        let mut progress = self.progress();
        let failures = std::mem::take(&mut progress.failures).into_iter();
        let failures = failures.map(|(duty, reason)| DutyFailure { duty, reason }).collect();
        ServiceSummary { failures, ..std::mem::take(&mut progress.summary) }
    }

    fn progress(&self) -> MutexGuard<'_, ServiceProgress> {
        lock_unpoisoned(&self.progress)
    }

    fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Returns true if a duty is due, or a service that ends has yet to perform it.
    fn is_due(&self, duty: &DutyState) -> bool {
        duty.due_ms.is_some_and(|due_ms| due_ms <= self.now_ms()) || self.is_left(&duty.name)
    }

    /// Returns true if a service that ends performs this duty at once, and has not yet.
    fn is_left(&self, duty: &DutyName) -> bool {
        let progress = self.progress();
        self.spec.mode == ServiceMode::Once
            && progress.agenda.polled_at_once(self.spec).contains(duty)
            && !progress.performed.contains(duty)
    }

    /// Accepts a duty that needs no requests of a pull, when it is due or requested.
    fn accepts_plain(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        let is_open = self.is_due(duty) || duty.requested_ms.is_some() || duty.owner.is_some();
        is_open.then(|| AcceptedDuty::on_request(duty, String::new()))
    }

    async fn perform_duty(
        &self,
        store: LeasedStore,
        claimed: ClaimedDuty,
    ) -> Result<PerformedDuty, SyncError> {
        let (name, began_ms) = (claimed.before.name.clone(), self.now_ms());
        if let DutyName::Repository(_) = &name {
            return self.perform_repository(store, claimed).await;
        }
        let result = match &name {
            DutyName::Pull(_) => self.perform_pull(&store, &claimed).await,
            DutyName::Accounts(_) => self.poll_accounts(&store).await,
            DutyName::Sweeps(_) => self.request_sweeps(&claimed.before),
            DutyName::Chores => self.run_chores(&store).await,
            DutyName::Watches(_) => self.resolve_watches(&store).await,
            DutyName::Repository(_) | DutyName::Service => Ok(None),
        };
        self.finish(&store, &claimed.before, began_ms, result)
    }

    /// Ends a duty: it is due again an interval after it began, or sooner if it failed.
    fn finish(
        &self,
        store: &LeasedStore,
        before: &DutyState,
        began_ms: i64,
        result: Result<Option<String>, SyncError>,
    ) -> Result<PerformedDuty, SyncError> {
        let error = match result {
            Ok(error) => error,
            Err(error) => match FailedDuty::from_error(error, &before.name) {
                FailedDuty::Failed(error) => Some(error.reason()),
                FailedDuty::Interrupted(error) => return Err(error),
                FailedDuty::Lost => return Ok(PerformedDuty::Kept(before.name.clone())),
            },
        };
        Ok(PerformedDuty::Ended(self.end_duty(store, before, began_ms, error)))
    }

    fn end_duty(
        &self,
        store: &LeasedStore,
        before: &DutyState,
        began_ms: i64,
        error: Option<String>,
    ) -> DutyEnd {
        let (duty, ended_ms) = (before.name.clone(), self.now_ms());
        let failures = if error.is_some() { before.failures.saturating_add(1) } else { 0 };
        let mut progress = self.progress();
        let jitter = Jitter(progress.rng.f64());
        let from_ms = if error.is_some() { ended_ms } else { began_ms };
        let due_ms = duty::next_due_ms(interval_ms(&duty, self.spec), failures, from_ms, jitter);
        let due_ms = due_ms.max(ended_ms);
        progress.performed.insert(duty.clone());
        match &error {
            Some(reason) => {
                let wait_ms = due_ms - ended_ms;
                tracing::warn!(%duty, reason, failures, wait_ms, "a duty failed; it is tried again");
                progress.failures.insert(duty, reason.clone());
            }
            None => {
                tracing::debug!(%duty, took_ms = ended_ms - began_ms, "performed a duty");
                progress.failures.remove(&duty);
            }
        }
        DutyEnd { lease: store.lease().clone(), ended_ms, next_due: NextDue::At(due_ms), error }
    }

    async fn poll_accounts(&self, store: &LeasedStore) -> Result<Option<String>, SyncError> {
        let Some(BlueskyPart { client, poll: spec }) = self.spec.bluesky else { return Ok(None) };
        let summary = poll::perform_round(store, client, spec).await?;
        self.progress().summary.account_polls += 1;
        let hw_store::PollRound { accounts, feeds, posts, removed, .. } = summary.round;
        tracing::info!(accounts, feeds, posts, removed, "polled accounts");
        Ok(summary.failures.first().map(|failure| failure.reason.clone()))
    }

    /// Requests the sweeps of the lists whose slot began since the last time. The next pull performs them.
    fn request_sweeps(&self, before: &DutyState) -> Result<Option<String>, SyncError> {
        let Some(GithubPart { pull, .. }) = self.spec.github else { return Ok(None) };
        let (store, now_ms) = (self.worker.store(), self.now_ms());
        let after_ms = before.ended_ms.unwrap_or(now_ms);
        let interval_ms = self.spec.settings.reconcile_interval_ms();
        let surfaces: BTreeSet<_> = pull.thread_surfaces().chain(pull.comment_surfaces()).collect();
        let mut requested = 0;
        for (lane, _, _) in store.lanes_used_by(LaneUse::Mirror)? {
            let is_swept = lane.host.as_str() == pull.host
                && matches!(lane.scope, Scope::Repository(_))
                && surfaces.contains(&lane.surface);
            let name = lane.to_string();
            if is_swept && daily_slot::has_slot_between(&name, interval_ms, after_ms, now_ms) {
                store.request_sweep(&lane, now_ms)?;
                requested += 1;
            }
        }
        if requested > 0 {
            tracing::info!(requested, "requested sweeps");
        }
        Ok(None)
    }

    /// Finishes what was left to be done, and removes what is past its time.
    async fn run_chores(&self, store: &LeasedStore) -> Result<Option<String>, SyncError> {
        let none = CrashPoints::default();
        let github = self.spec.github.map(|part| part.client.crash_points());
        chores::run_chores(store, self.clock, github.unwrap_or(&none)).await?;
        self.purge_events(store).await?;
        self.worker.remove_dead_workers()?;
        Ok(None)
    }

    /// Removes the events that no consumer has needed for 90 days, in small transactions.
    async fn purge_events(&self, store: &LeasedStore) -> Result<(), SyncError> {
        while store.purge_events(self.clock.now_ms(), PURGED_ROWS)? > 0 {
            self.clock.sleep_until(self.clock.now_ms() + GAP_MS).await;
        }
        Ok(())
    }
}

impl DutyPerformer for ServiceRun<'_> {
    fn wanted(&self) -> Vec<DutyName> {
        let progress = self.progress();
        match self.spec.mode {
            ServiceMode::Forever => Vec::new(),
            ServiceMode::Once => {
                let polled = progress.agenda.polled_at_once(self.spec).into_iter();
                polled.filter(|duty| !progress.performed.contains(duty)).collect()
            }
        }
    }

    fn accepts(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        let github = self.spec.github.map(|part| part.pull.host.as_str());
        let bluesky = self.spec.bluesky.map(|part| part.poll.host.as_str());
        match &duty.name {
            DutyName::Pull(host) if github == Some(host.as_str()) => self.accepts_pull(duty),
            DutyName::Repository(key) if github == Some(key.host.as_str()) => {
                self.accepts_repository(duty, key)
            }
            DutyName::Watches(host) | DutyName::Sweeps(host) if github == Some(host.as_str()) => {
                self.accepts_plain(duty)
            }
            DutyName::Accounts(host) if bluesky == Some(host.as_str()) => self.accepts_plain(duty),
            DutyName::Chores => self.accepts_plain(duty),
            DutyName::Pull(_)
            | DutyName::Repository(_)
            | DutyName::Accounts(_)
            | DutyName::Watches(_)
            | DutyName::Sweeps(_)
            | DutyName::Service => None,
        }
    }

    fn perform(
        &self,
        store: LeasedStore,
        claimed: ClaimedDuty,
    ) -> LocalBoxFuture<'_, Result<PerformedDuty, SyncError>> {
        self.perform_duty(store, claimed).boxed_local()
    }

    /// Schedules what the workspace follows by now.
    fn prepare(&self, board: &DutyBoard) -> Result<(), SyncError> {
        if let Some(pulls) = &self.pulls {
            pulls.observe(board)?;
        }
        let now_ms = self.clock.monotonic_ms();
        let read_ms = self.progress().read_ms;
        if read_ms.is_some_and(|read_ms| now_ms < read_ms + AGENDA_INTERVAL_MS) {
            self.progress().is_behind = false;
            return Ok(());
        }
        let agenda = ServiceAgenda::read(self.worker.store(), self.spec)?;
        let unscheduled = agenda.unscheduled(self.spec, &board.duties, self.now_ms());
        if !unscheduled.is_empty() {
            self.worker.store().schedule_duties(&unscheduled)?;
        }
        let mut progress = self.progress();
        progress.is_behind = !unscheduled.is_empty();
        (progress.agenda, progress.read_ms) = (agenda, Some(now_ms));
        Ok(())
    }

    fn duties_ended(&self) {
        if let Some(pulls) = &self.pulls {
            pulls.duties_ended();
        }
    }

    fn is_done(&self, board: &DutyBoard) -> bool {
        if self.spec.mode == ServiceMode::Forever || self.progress().is_behind {
            return false;
        }
        let mut open = board.duties.iter().filter(|duty| duty.is_free(&board.dead));
        !open.any(|duty| self.accepts(duty).is_some())
    }
}
