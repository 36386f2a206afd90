//! One process's part in a pull: it performs the pull, or follows the process that does. Either way it reads the
//! comments of repositories that nobody else reads.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex};

use futures_util::future::{FutureExt as _, LocalBoxFuture};
use hw_rules::duty::{DutyName, DutyState, NextDue};
use hw_rules::lane::PullItem;
use hw_rules::plan::{self, ChangeSign, LanePlan};
use hw_rules::repository_key::RepositoryKey;
use hw_store::{
    ClaimReason, DutyEnd, DutyTask, LeasedStore, SERVICE_ROLE, StoreError, StoreReader, WorkerRow,
};
use tokio::sync::Notify;

use crate::api_client::GithubClient;
use crate::plan_lanes::PlannedLane;
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::pull_duty::perform_pull;
use crate::rate_limiter::lock_unpoisoned;
use crate::repository_duty::{CommentListTask, RepositoryTask, perform_repository};
use crate::schedule::{LaneOutcome, LaneResult};
use crate::scheduler::{AcceptedDuty, ClaimedDuty, DutyPerformer, PerformedDuty};
use crate::summary::PullSummary;
use crate::turn::{PullContext, ReadingPurpose, RunState, SweepPolicy, TargetRepository};
use crate::worker::{DutyBoard, ServiceSign, Worker};
use crate::yield_signal::YieldSignal;
use crate::{SyncError, crash_points, sources};

/// The time after which a pull looks whether others have read the comments that it waits for.
const LOOK_INTERVAL_MS: i64 = 500;
/// A service takes a requested pull that it covers within half a second. What it has not taken after this time, this
/// process performs itself.
const SERVICE_PATIENCE_MS: i64 = 3_000;
/// Marks a pull that also sweeps all lists.
const RECONCILE_PART: &str = "reconcile";

pub(crate) struct PullRun<'a> {
    worker: &'a Worker<'a>,
    client: &'a GithubClient,
    pull: PullSpec,
    pull_duty: DutyName,
    /// What this pull covers. A pull with the same text is as good as this one.
    detail: String,
    state: RunState,
    progress: Mutex<RunProgress>,
    /// Wakes the pull when duties ended.
    duties_ended: Notify,
}

#[derive(Default)]
struct RunProgress {
    part: PullPart,
    /// The pull of another process that was reported last.
    other: Option<OtherPull>,
    /// The duties that this process waits for.
    requested: BTreeSet<DutyName>,
    /// The repositories whose comments were requested or read.
    repositories: BTreeMap<i64, Arc<TargetRepository>>,
    /// The lanes that this process has read.
    outcomes: Vec<LaneOutcome>,
    /// Duties whose removals wait for those of the whole run.
    kept: Vec<DutyEnd>,
    /// The repositories that this process has read.
    performed: BTreeSet<DutyName>,
    /// True if other processes have read comments for this pull.
    was_helped: bool,
    /// The request of this pull to a service.
    request: Option<PullRequest>,
    /// The error that ends the pull.
    aborted: Option<SyncError>,
}

/// This process's part in the pull.
#[derive(Default)]
enum PullPart {
    /// Not known yet.
    #[default]
    Undecided,
    /// Another process pulls the same.
    Following(OtherPull),
    /// This process pulls.
    Performing,
    /// This process has pulled.
    Performed(Box<PullSummary>),
}

/// A pull that was requested of a service.
#[derive(Debug, Clone, Copy)]
struct PullRequest {
    /// By this process's monotonic clock.
    at_ms: i64,
    /// The last claim of the pull before the request.
    epoch: i64,
}

/// The pull of another process.
#[derive(Debug, Clone)]
pub(crate) struct OtherPull {
    /// The id of its worker.
    owner: String,
    /// The name of its worker, as printed.
    worker: String,
    pub(crate) epoch: i64,
    /// True once its worker was seen alive: this process does not wait for one that had died before.
    was_alive: bool,
}

impl<'a> PullRun<'a> {
    pub(crate) fn new(
        worker: &'a Worker<'a>,
        client: &'a GithubClient,
        pull: PullSpec,
    ) -> Result<Self, SyncError> {
        Ok(Self {
            worker,
            client,
            pull_duty: DutyName::pull(pull.host.as_str()),
            detail: pull.describe_coverage(worker.store())?,
            pull,
            state: RunState::new(client.largest_page()),
            progress: Mutex::default(),
            duties_ended: Notify::new(),
        })
    }

    /// Creates the part of a process that helps the pull of another one.
    pub(crate) fn new_helper(
        worker: &'a Worker<'a>,
        client: &'a GithubClient,
        pull: PullSpec,
        owner: &str,
        epoch: i64,
    ) -> Result<Self, SyncError> {
        let run = Self::new(worker, client, pull)?;
        let owner = owner.to_owned();
        let other = OtherPull { worker: owner.clone(), owner, epoch, was_alive: true };
        lock_unpoisoned(&run.progress).part = PullPart::Following(other);
        Ok(run)
    }

    /// Makes the pull fail, because the comments that it waits for cannot be read.
    pub(crate) fn abort(&self, error: SyncError) {
        lock_unpoisoned(&self.progress).aborted = Some(error);
        self.duties_ended.notify_waiters();
    }

    /// Wakes the pull, because duties were given back.
    pub(crate) fn notify_ended(&self) {
        self.duties_ended.notify_waiters();
    }

    /// Returns true while the pull keeps a duty for its removals.
    pub(crate) fn is_kept(&self, duty: &DutyName) -> bool {
        let progress = lock_unpoisoned(&self.progress);
        progress.kept.iter().any(|kept| kept.lease.duty == *duty)
    }

    /// Returns the result of the pull, once all duties are done.
    pub(crate) fn take_summary(&self) -> Result<PullSummary, SyncError> {
        let RunProgress { part, outcomes, .. } =
            std::mem::take(&mut *lock_unpoisoned(&self.progress));
        if let PullPart::Performed(summary) = part {
            return Ok(*summary);
        }
        let mut summary = PullSummary::new(&self.pull);
        if let PullPart::Following(followed) = part {
            summary.followed = Some(followed.worker);
        }
        // failures are part of the followed pull: it reads once more what failed here
        outcomes.iter().for_each(|outcome| summary.add_read_lane(outcome));
        summary.cost = self.client.cost();
        Ok(summary)
    }

    fn context<'b>(&'b self, store: &'b LeasedStore) -> PullContext<'b> {
        let sweeps = match lock_unpoisoned(&self.progress).part {
            PullPart::Performing => SweepPolicy::Allowed,
            PullPart::Undecided | PullPart::Following(_) | PullPart::Performed(_) => {
                SweepPolicy::LeftToOthers
            }
        };
        PullContext {
            store,
            client: self.client,
            reading: ReadingPurpose::Mirror { window_days: self.pull.window_days },
            allow_mass_removal: self.pull.allow_mass_removal,
            sweeps,
            run: &self.state,
        }
    }

    /// Performs the pull, and records how it ended for the readers of the mirror.
    pub(crate) async fn run_pull_duty(
        &self,
        store: &LeasedStore,
        dead_owner: Option<&str>,
    ) -> Result<PullSummary, SyncError> {
        let taken_over = self.start_performing(dead_owner);
        let context = self.context(store);
        let mut result = async {
            self.client.crash_points().pass_point(crash_points::DUTY_CLAIMED)?;
            self.withdraw_old_requests()?;
            perform_pull(self, &context, &self.pull, taken_over.as_ref()).await
        }
        .await;
        if !result.as_ref().is_err_and(SyncError::has_lost_lease) {
            result = sources::record_pull_end(&context, &self.pull, result);
        }
        if let Ok(summary) = &mut result {
            summary.was_helped = lock_unpoisoned(&self.progress).was_helped;
        }
        result
    }

    async fn perform_pull_duty(
        &self,
        store: LeasedStore,
        dead_owner: Option<&str>,
    ) -> Result<PerformedDuty, SyncError> {
        let result = self.run_pull_duty(&store, dead_owner).await;
        let end = self.duty_end(&store, duty_error(&result));
        match result {
            Ok(summary) => {
                let mut progress = lock_unpoisoned(&self.progress);
                progress.part = PullPart::Performed(Box::new(summary));
                Ok(PerformedDuty::Ended(end))
            }
            Err(error) => {
                if !error.has_lost_lease() {
                    store.end_duties(&[end])?;
                }
                Err(error)
            }
        }
    }

    /// Takes note that this process pulls, and reports whose pull it takes over. Returns that one if this process
    /// followed it while it was alive.
    fn start_performing(&self, dead_owner: Option<&str>) -> Option<OtherPull> {
        let mut progress = lock_unpoisoned(&self.progress);
        let part = std::mem::replace(&mut progress.part, PullPart::Performing);
        let is_dead = |other: &OtherPull| dead_owner == Some(other.owner.as_str());
        if let Some(other) = progress.other.take().filter(is_dead) {
            let worker = other.worker;
            self.client.progress().emit(|| ProgressEvent::TakingOverPull { worker });
        }
        match part {
            PullPart::Following(followed) => {
                Some(followed).filter(|followed| followed.was_alive && is_dead(followed))
            }
            PullPart::Undecided | PullPart::Performing | PullPart::Performed(_) => None,
        }
    }

    /// Withdraws what an earlier pull requested and left: its repositories may be gone.
    fn withdraw_old_requests(&self) -> Result<(), SyncError> {
        let duties = self.worker.store().duties()?;
        let old: Vec<DutyName> = duties
            .into_iter()
            .filter(|duty| duty.requested_ms.is_some() && self.is_own_task(&duty.detail))
            .map(|duty| duty.name)
            .collect();
        if old.is_empty() { Ok(()) } else { Ok(self.worker.store().withdraw_requests(&old)?) }
    }

    /// Returns true if the comments of a repository were requested by a pull like this one.
    pub(crate) fn is_own_task(&self, detail: &str) -> bool {
        RepositoryTask::from_detail(detail)
            .and_then(|task| Some(task.run.strip_prefix(&self.detail)?.to_owned()))
            .is_some_and(|rest| rest.is_empty() || rest == self.own_suffix())
    }

    /// Marks what only this process may perform.
    fn own_suffix(&self) -> String {
        format!("; {}", self.worker.id())
    }

    /// Reads comments of a repository, until this time if there is one: what is left stays requested.
    pub(crate) async fn perform_repository_duty(
        &self,
        store: LeasedStore,
        repository: &RepositoryKey,
        task: RepositoryTask,
        until_ms: Option<i64>,
    ) -> Result<PerformedDuty, SyncError> {
        let Some(repository) = self.find_repository(repository)? else {
            return Ok(PerformedDuty::Ended(self.duty_end(&store, None)));
        };
        let duty = store.lease().duty.clone();
        let context = self.context(&store);
        let read = perform_repository(&context, &self.pull, &repository, &task.lists);
        match self.read_until(until_ms, &repository.yield_signal, read).await {
            Ok(outcomes) => self.finish_repository(&store, task, outcomes),
            // its lanes were cleared or reset meanwhile, so it is requested again
            Err(SyncError::Store(StoreError::LeaseLost { name })) if name == duty.to_string() => {
                Ok(PerformedDuty::Kept(duty))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads to the end, or to the first request after this time.
    async fn read_until<T>(
        &self,
        until_ms: Option<i64>,
        signal: &YieldSignal,
        read: impl Future<Output = T>,
    ) -> T {
        let Some(until_ms) = until_ms else { return read.await };
        let mut read = pin!(read);
        tokio::select! {
            biased;
            result = &mut read => return result,
            () = self.client.clock().sleep_until(until_ms) => {}
        }
        signal.raise();
        let result = read.await;
        signal.lower();
        result
    }

    fn finish_repository(
        &self,
        store: &LeasedStore,
        task: RepositoryTask,
        outcomes: Vec<LaneOutcome>,
    ) -> Result<PerformedDuty, SyncError> {
        let duty = store.lease().duty.clone();
        let failed = outcomes.iter().find_map(|outcome| match &outcome.result {
            LaneResult::Done(_) | LaneResult::Yielded => None,
            LaneResult::Hidden(error) => Some(error.reason()),
            LaneResult::Failed(failure) => Some(failure.message.clone()),
        });
        let end = self.duty_end(store, failed);
        let (rest, read): (Vec<_>, Vec<_>) =
            outcomes.into_iter().partition(|outcome| matches!(outcome.result, LaneResult::Yielded));
        let mut progress = lock_unpoisoned(&self.progress);
        progress.outcomes.extend(read);
        if !rest.is_empty() {
            let mut lists = task.lists;
            lists.retain(|list| rest.iter().any(|left| left.target.surface() == list.surface));
            let detail = RepositoryTask { run: task.run, lists }.to_detail();
            let now_ms = self.client.clock().now_ms();
            // a sweep that is not finished stays due
            self.state.removals.discard(&duty);
            store.request_duties(&[DutyTask { name: duty, detail }], now_ms)?;
            return Ok(PerformedDuty::Ended(end));
        }
        progress.performed.insert(duty.clone());
        if self.state.removals.has_pending(&duty) {
            progress.kept.push(end);
            self.duties_ended.notify_waiters();
            return Ok(PerformedDuty::Kept(duty));
        }
        Ok(PerformedDuty::Ended(end))
    }

    /// Returns the end of a duty that was performed on request.
    fn duty_end(&self, store: &LeasedStore, error: Option<String>) -> DutyEnd {
        let (lease, ended_ms) = (store.lease().clone(), self.client.clock().now_ms());
        DutyEnd { lease, ended_ms, next_due: NextDue::Kept, error }
    }

    /// Returns true if a living service polls this repository now.
    fn is_left_to_service(&self, duty: &DutyState) -> bool {
        duty.due_ms.is_some_and(|due_ms| due_ms <= self.client.clock().now_ms())
            && self.worker.service_sign() == ServiceSign::Alive
    }

    /// Returns when the reading of a repository gives way to a service that polls it.
    fn give_way_ms(&self, duty: &DutyState) -> Option<i64> {
        duty.due_ms.filter(|_| self.worker.service_sign() == ServiceSign::Alive)
    }

    /// Returns true while a service is expected to perform this pull.
    fn is_left_to_request(&self) -> bool {
        match self.worker.service_sign() {
            ServiceSign::None => false,
            ServiceSign::Unknown => true,
            ServiceSign::Alive => {
                let request = lock_unpoisoned(&self.progress).request;
                request.is_none_or(|request| {
                    self.client.clock().monotonic_ms() < request.at_ms + SERVICE_PATIENCE_MS
                })
            }
        }
    }

    /// Requests this pull of a service, once nobody pulls.
    fn request_pull(&self, board: &DutyBoard) -> Result<(), SyncError> {
        let duty = board.duties.iter().find(|duty| duty.name == self.pull_duty);
        let is_free = duty.is_none_or(|duty| duty.is_free(&board.dead));
        {
            let progress = lock_unpoisoned(&self.progress);
            let is_open = matches!(progress.part, PullPart::Undecided);
            if !is_open || !is_free || progress.request.is_some() {
                return Ok(());
            }
        }
        if self.worker.service_sign() == ServiceSign::Alive {
            let (name, detail) = (self.pull_duty.clone(), self.detail.clone());
            let clock = self.client.clock();
            self.worker.store().request_duties(&[DutyTask { name, detail }], clock.now_ms())?;
            let (at_ms, epoch) = (clock.monotonic_ms(), duty.map_or(0, |duty| duty.epoch));
            lock_unpoisoned(&self.progress).request = Some(PullRequest { at_ms, epoch });
        }
        Ok(())
    }

    /// Takes note that a service has performed the requested pull before this process saw it begin.
    fn observe_answer(&self, board: &DutyBoard) -> Result<(), SyncError> {
        let duty = board.duties.iter().find(|duty| duty.name == self.pull_duty);
        let mut progress = lock_unpoisoned(&self.progress);
        let (PullPart::Undecided, Some(request), Some(duty)) =
            (&progress.part, progress.request, duty)
        else {
            return Ok(());
        };
        let is_answered = duty.has_succeeded_since(request.epoch + 1) && duty.owner.is_none();
        if !is_answered || duty.detail != self.detail {
            return Ok(());
        }
        let mut services = self.worker.store().workers()?.into_iter();
        let service = services.find(|worker| {
            worker.identity.role == SERVICE_ROLE && self.worker.is_alive(&worker.identity.id)
        });
        let Some(WorkerRow { identity, .. }) = service else { return Ok(()) };
        let (worker, epoch) = (identity.display_name(), duty.epoch);
        progress.part =
            PullPart::Following(OtherPull { owner: identity.id, worker, epoch, was_alive: true });
        Ok(())
    }

    fn accepts_pull(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        let (is_open, is_undecided) = match &lock_unpoisoned(&self.progress).part {
            PullPart::Following(followed) => (!self.has_ended(duty, followed), false),
            PullPart::Undecided => (true, true),
            PullPart::Performing | PullPart::Performed(_) => (false, false),
        };
        let is_left = is_undecided && self.is_left_to_request();
        (is_open && !is_left).then(|| AcceptedDuty::on_request(duty, self.detail.clone()))
    }

    /// Accepts the comments of a repository, if a pull like this one has requested them.
    pub(crate) fn accepts_repository(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        let progress = lock_unpoisoned(&self.progress);
        let is_requested = match &progress.part {
            // what a dead pull requested is withdrawn by the one that takes over
            PullPart::Following(followed) => self.worker.is_alive(&followed.owner),
            PullPart::Performing => progress.requested.contains(&duty.name),
            PullPart::Undecided | PullPart::Performed(_) => false,
        };
        // one that a dead worker began is still to be read
        let is_open = duty.requested_ms.is_some() || duty.owner.is_some();
        (is_requested && is_open && self.is_own_task(&duty.detail))
            .then(|| AcceptedDuty::on_request(duty, duty.detail.clone()))
    }

    /// Returns a repository; none if it is gone, or if this pull excludes it.
    fn find_repository(
        &self,
        RepositoryKey { host, id }: &RepositoryKey,
    ) -> Result<Option<Arc<TargetRepository>>, SyncError> {
        if let Some(known) = lock_unpoisoned(&self.progress).repositories.get(&id.0) {
            return Ok(Some(Arc::clone(known)));
        }
        let stored = self.worker.store().repositories(host)?;
        let stored = stored.iter().filter(|stored| !self.pull.is_excluded(stored));
        let stored = stored.map(|stored| (stored.id, TargetRepository::from_repository(stored)));
        let mut progress = lock_unpoisoned(&self.progress);
        progress.repositories = stored.collect();
        Ok(progress.repositories.get(&id.0).cloned())
    }

    /// Has these comment lanes read, by this process and by others that follow this pull. Returns the outcomes of those
    /// that this process has read; the others are complete.
    pub(crate) async fn read_comment_lanes(
        &self,
        context: &PullContext<'_>,
        lanes: Vec<PlannedLane>,
    ) -> Result<Vec<LaneOutcome>, SyncError> {
        self.read_repositories(context, &lanes, &self.detail).await?;
        self.note_helpers(&lanes);
        let mut rest = Vec::new();
        for planned in lanes {
            if self.has_rest(context, &planned)? {
                rest.push(planned);
            }
        }
        // others leave sweeps and failures to this process
        let own_detail = format!("{}{}", self.detail, self.own_suffix());
        self.read_repositories(context, &rest, &own_detail).await?;
        Ok(std::mem::take(&mut lock_unpoisoned(&self.progress).outcomes))
    }

    /// Takes note of lanes that other processes have read.
    fn note_helpers(&self, lanes: &[PlannedLane]) {
        let mut progress = lock_unpoisoned(&self.progress);
        let mut duties = lanes.iter().map(|planned| DutyName::for_lane(&planned.target.lane));
        progress.was_helped |= duties.any(|duty| !progress.performed.contains(&duty));
    }

    /// Returns true if another process has read a lane and left something to do.
    fn has_rest(
        &self,
        context: &PullContext<'_>,
        planned: &PlannedLane,
    ) -> Result<bool, SyncError> {
        let duty = DutyName::for_lane(&planned.target.lane);
        if lock_unpoisoned(&self.progress).performed.contains(&duty) {
            return Ok(false);
        }
        let state = context.store.lane_state(&planned.target.lane)?;
        let request = context.lane_request(&planned.target, self.pull.sweep_request());
        let now_ms = self.client.clock().now_ms();
        let rest = plan::plan_lane(&state, ChangeSign::Unchanged, &request, now_ms);
        Ok(rest != LanePlan::Skip || state.has_leftovers())
    }

    /// Requests the duties of these lanes' repositories, and waits until all are performed.
    async fn read_repositories(
        &self,
        context: &PullContext<'_>,
        lanes: &[PlannedLane],
        run: &str,
    ) -> Result<(), SyncError> {
        let mut tasks: BTreeMap<DutyName, RepositoryTask> = BTreeMap::new();
        for planned in lanes {
            let repository = &planned.target.repository;
            let mut progress = lock_unpoisoned(&self.progress);
            progress.repositories.insert(repository.id, Arc::clone(repository));
            let task = tasks.entry(DutyName::for_lane(&planned.target.lane));
            let empty = || RepositoryTask { run: run.to_owned(), lists: Vec::new() };
            task.or_insert_with(empty).lists.push(CommentListTask::from_planned(planned));
        }
        if tasks.is_empty() {
            return Ok(());
        }
        let requested: Vec<DutyTask> = tasks
            .iter()
            .map(|(name, task)| DutyTask { name: name.clone(), detail: task.to_detail() })
            .collect();
        let clock = self.client.clock();
        lock_unpoisoned(&self.progress).requested = tasks.keys().cloned().collect();
        context.store.request_duties(&requested, clock.now_ms())?;
        loop {
            let ended = self.duties_ended.notified();
            if let Some(error) = lock_unpoisoned(&self.progress).aborted.take() {
                return Err(error);
            }
            if self.are_performed(&tasks)? {
                return Ok(());
            }
            tokio::select! {
                () = ended => {}
                () = clock.sleep_until(clock.now_ms() + LOOK_INTERVAL_MS) => {}
            }
        }
    }

    fn are_performed(&self, tasks: &BTreeMap<DutyName, RepositoryTask>) -> Result<bool, SyncError> {
        let duties = self.worker.store().duties()?;
        let progress = lock_unpoisoned(&self.progress);
        let mut open = duties.iter().filter(|duty| {
            let is_kept = progress.kept.iter().any(|kept| kept.lease.duty == duty.name);
            !is_kept && (duty.requested_ms.is_some() || duty.owner.is_some())
        });
        Ok(!open.any(|duty| tasks.contains_key(&duty.name)))
    }

    /// Ends the duties that were kept for their removals.
    pub(crate) fn end_kept_duties(&self, context: &PullContext<'_>) -> Result<(), SyncError> {
        let kept = std::mem::take(&mut lock_unpoisoned(&self.progress).kept);
        if kept.is_empty() { Ok(()) } else { Ok(context.store.end_duties(&kept)?) }
    }

    /// Returns true if the followed pull, or a later one that covers the same, has ended well.
    fn has_ended(&self, pull: &DutyState, followed: &OtherPull) -> bool {
        pull.has_succeeded_since(followed.epoch) && pull.detail == self.detail
    }

    /// Takes note of another process that pulls, and follows it if it pulls the same. Reports each pull once.
    fn observe_pull(&self, pull: &DutyState, dead: &BTreeSet<String>) {
        let mut progress = lock_unpoisoned(&self.progress);
        let Some(owner) = pull.owner.clone().filter(|owner| !dead.contains(owner)) else { return };
        let is_waiting = matches!(progress.part, PullPart::Undecided | PullPart::Following(_));
        let is_reported = progress.other.as_ref().is_some_and(|other| other.epoch == pull.epoch);
        if !is_waiting || is_reported {
            return;
        }
        let holder = self.worker.store().duty_holder(&pull.name).ok().flatten();
        let worker = holder.map_or_else(|| "another process".to_owned(), |holder| holder.worker);
        let other =
            OtherPull { owner, worker: worker.clone(), epoch: pull.epoch, was_alive: false };
        progress.other = Some(other.clone());
        if pull.detail == self.detail {
            self.client.progress().emit(|| ProgressEvent::FollowingPull { worker });
            progress.part = PullPart::Following(other);
        } else {
            self.client.progress().emit(|| ProgressEvent::WaitingForPull { worker });
        }
    }
}

impl DutyPerformer for PullRun<'_> {
    fn wanted(&self) -> Vec<DutyName> {
        match lock_unpoisoned(&self.progress).part {
            PullPart::Undecided | PullPart::Following(_) => vec![self.pull_duty.clone()],
            PullPart::Performing | PullPart::Performed(_) => Vec::new(),
        }
    }

    fn accepts(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        if duty.name == self.pull_duty {
            return self.accepts_pull(duty);
        }
        self.accepts_repository(duty).filter(|_| !self.is_left_to_service(duty))
    }

    fn perform(
        &self,
        store: LeasedStore,
        claimed: ClaimedDuty,
    ) -> LocalBoxFuture<'_, Result<PerformedDuty, SyncError>> {
        let task = match &claimed.reason {
            ClaimReason::Request(detail) => RepositoryTask::from_detail(detail),
            ClaimReason::Schedule => None,
        };
        match (store.lease().duty.clone(), task) {
            (DutyName::Pull(_), _) => {
                async move { self.perform_pull_duty(store, claimed.dead_owner()).await }
                    .boxed_local()
            }
            (DutyName::Repository(repository), Some(task)) => async move {
                let until_ms = self.give_way_ms(&claimed.before);
                self.perform_repository_duty(store, &repository, task, until_ms).await
            }
            .boxed_local(),
            // a pull accepts no other duty
            _ => {
                let end = self.duty_end(&store, None);
                std::future::ready(Ok(PerformedDuty::Ended(end))).boxed_local()
            }
        }
    }

    fn prepare(&self, board: &DutyBoard) -> Result<(), SyncError> {
        self.observe_answer(board)?;
        self.request_pull(board)
    }

    fn duties_ended(&self) {
        self.notify_ended();
    }

    fn is_done(&self, board: &DutyBoard) -> bool {
        let pull = board.duties.iter().find(|duty| duty.name == self.pull_duty);
        if let Some(pull) = pull {
            self.observe_pull(pull, &board.dead);
        }
        match &mut lock_unpoisoned(&self.progress).part {
            PullPart::Undecided | PullPart::Performing => false,
            PullPart::Following(followed) => {
                followed.was_alive |= self.worker.is_alive(&followed.owner);
                pull.is_some_and(|pull| self.has_ended(pull, followed))
            }
            PullPart::Performed(_) => true,
        }
    }
}

impl PullSpec {
    /// Describes what this pull covers: another one with the same description is as good as this one. A pull that does
    /// more than read changes and sweep is like no other.
    pub(crate) fn describe_coverage(&self, store: &StoreReader) -> Result<String, SyncError> {
        let items: Vec<&str> = self.items.iter().map(|item: &PullItem| item.name()).collect();
        // what is followed already is pulled as well, whether it is named or not
        let followed = store.sources()?.into_iter().filter(|source| source.host == self.host);
        let followed = followed.map(|followed| followed.source.to_string());
        let named = self.sources.iter().map(|source| source.source.to_string());
        let sources: BTreeSet<String> =
            followed.chain(named).map(|source| source.to_lowercase()).collect();
        let sources: Vec<String> = sources.into_iter().collect();
        let only: Vec<String> = self.only_repositories.iter().map(ToString::to_string).collect();
        let excluded: Vec<String> =
            self.excluded_repositories.iter().map(|excluded| format!("{excluded:?}")).collect();
        let mut parts = vec![items.join(","), sources.join(",")];
        parts.push(self.window_days.map_or_else(String::new, |days| format!("{days} days")));
        parts.push(only.join(","));
        parts.push(excluded.join(","));
        if self.reconcile {
            parts.push(RECONCILE_PART.to_owned());
        }
        if self.force || self.repair || self.allow_mass_removal {
            parts.push(format!("only {}", self.worker.id));
        }
        Ok(parts.join("; "))
    }
}

/// Returns the error that a pull ended with: its own, or the first one of a list.
pub(crate) fn duty_error(result: &Result<PullSummary, SyncError>) -> Option<String> {
    match result {
        Ok(summary) => summary.failures.first().map(|failure| failure.message.clone()),
        Err(error) => Some(error.reason()),
    }
}
