//! One process's part in a pull: it performs the pull, or follows the process that does. Either way it reads the
//! comments of repositories that nobody else reads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures_util::future::{FutureExt as _, LocalBoxFuture};
use hw_rules::duty::{DutyName, DutyState};
use hw_rules::lane::PullItem;
use hw_rules::plan::{self, ChangeSign, LanePlan};
use hw_rules::repository_key::RepositoryKey;
use hw_store::{DutyEnd, DutyTask, LeasedStore, StoreError};
use tokio::sync::Notify;

use crate::api_client::GithubClient;
use crate::plan_lanes::PlannedLane;
use crate::progress::ProgressEvent;
use crate::pull::PullSpec;
use crate::pull_duty::perform_pull;
use crate::rate_limiter::lock_unpoisoned;
use crate::repository_duty::{CommentListTask, RepositoryTask, perform_repository};
use crate::schedule::{LaneOutcome, LaneResult};
use crate::scheduler::{ClaimedDuty, DutyPerformer, PerformedDuty};
use crate::summary::PullSummary;
use crate::turn::{PullContext, ReadingPurpose, RunState, SweepPolicy, TargetRepository};
use crate::worker::{DutyBoard, Worker};
use crate::{SyncError, crash_points, sources};

/// The time after which a pull looks whether others have read the comments that it waits for.
const LOOK_INTERVAL_MS: i64 = 500;

pub(crate) struct PullRun<'a> {
    worker: &'a Worker<'a>,
    client: &'a GithubClient,
    pull: &'a PullSpec,
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
        pull: &'a PullSpec,
    ) -> Self {
        Self {
            worker,
            client,
            pull,
            pull_duty: DutyName::pull(&pull.host),
            detail: pull.describe_coverage(),
            state: RunState::new(client.largest_page()),
            progress: Mutex::default(),
            duties_ended: Notify::new(),
        }
    }

    /// Returns the result of the pull, once all duties are done.
    pub(crate) fn take_summary(&self) -> Result<PullSummary, SyncError> {
        let RunProgress { part, outcomes, .. } =
            std::mem::take(&mut *lock_unpoisoned(&self.progress));
        if let PullPart::Performed(summary) = part {
            return Ok(*summary);
        }
        let mut summary = PullSummary::new(self.pull);
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

    async fn perform_pull_duty(
        &self,
        store: LeasedStore,
        dead_owner: Option<String>,
    ) -> Result<PerformedDuty, SyncError> {
        let taken_over = self.start_performing(dead_owner.as_deref());
        let context = self.context(&store);
        let mut result = async {
            self.client.crash_points().pass_point(crash_points::DUTY_CLAIMED)?;
            self.withdraw_old_requests()?;
            perform_pull(self, &context, self.pull, taken_over.as_ref()).await
        }
        .await;
        if !result.as_ref().is_err_and(SyncError::has_lost_lease) {
            result = sources::record_pull_end(&context, self.pull, result);
        }
        let error = match &result {
            Ok(summary) => summary.failures.first().map(|failure| failure.message.clone()),
            Err(error) => Some(error.reason()),
        };
        let end = self.duty_end(&store, error);
        match result {
            Ok(mut summary) => {
                let mut progress = lock_unpoisoned(&self.progress);
                summary.was_helped = progress.was_helped;
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
    fn is_own_task(&self, detail: &str) -> bool {
        RepositoryTask::from_detail(detail)
            .and_then(|task| Some(task.run.strip_prefix(&self.detail)?.to_owned()))
            .is_some_and(|rest| rest.is_empty() || rest == self.own_suffix())
    }

    /// Marks what only this process may perform.
    fn own_suffix(&self) -> String {
        format!("; {}", self.worker.id())
    }

    async fn perform_repository_duty(
        &self,
        store: LeasedStore,
        repository: &RepositoryKey,
        task: RepositoryTask,
    ) -> Result<PerformedDuty, SyncError> {
        let Some(repository) = self.find_repository(repository)? else {
            return Ok(PerformedDuty::Ended(self.duty_end(&store, None)));
        };
        let duty = store.lease().duty.clone();
        let context = self.context(&store);
        match perform_repository(&context, self.pull, &repository, &task.lists).await {
            Ok(outcomes) => Ok(self.finish_repository(&store, outcomes)),
            // its lanes were cleared or reset meanwhile, so it is requested again
            Err(SyncError::Store(StoreError::LeaseLost { name })) if name == duty.to_string() => {
                Ok(PerformedDuty::Kept(duty))
            }
            Err(error) => Err(error),
        }
    }

    fn finish_repository(&self, store: &LeasedStore, outcomes: Vec<LaneOutcome>) -> PerformedDuty {
        let duty = store.lease().duty.clone();
        let failed = outcomes.iter().find_map(|outcome| match &outcome.result {
            LaneResult::Done(_) => None,
            LaneResult::Hidden(error) => Some(error.reason()),
            LaneResult::Failed(failure) => Some(failure.message.clone()),
        });
        let end = self.duty_end(store, failed);
        let mut progress = lock_unpoisoned(&self.progress);
        progress.performed.insert(duty.clone());
        progress.outcomes.extend(outcomes);
        if self.state.removals.has_pending(&duty) {
            progress.kept.push(end);
            self.duties_ended.notify_waiters();
            return PerformedDuty::Kept(duty);
        }
        PerformedDuty::Ended(end)
    }

    fn duty_end(&self, store: &LeasedStore, error: Option<String>) -> DutyEnd {
        let (lease, ended_ms) = (store.lease().clone(), self.client.clock().now_ms());
        DutyEnd { lease, ended_ms, due_ms: None, error }
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

    fn accepts(&self, duty: &DutyState) -> Option<String> {
        if duty.name == self.pull_duty {
            let has_ended = match &lock_unpoisoned(&self.progress).part {
                PullPart::Following(followed) => self.has_ended(duty, followed),
                PullPart::Undecided => false,
                PullPart::Performing | PullPart::Performed(_) => true,
            };
            return (!has_ended).then(|| self.detail.clone());
        }
        let progress = lock_unpoisoned(&self.progress);
        let is_requested = match &progress.part {
            // what a dead pull requested is withdrawn by the one that takes over
            PullPart::Following(followed) => self.worker.is_alive(&followed.owner),
            PullPart::Performing => progress.requested.contains(&duty.name),
            PullPart::Undecided | PullPart::Performed(_) => false,
        };
        (is_requested && self.is_own_task(&duty.detail)).then(|| duty.detail.clone())
    }

    fn perform(
        &self,
        store: LeasedStore,
        claimed: ClaimedDuty,
    ) -> LocalBoxFuture<'_, Result<PerformedDuty, SyncError>> {
        let ClaimedDuty { detail, dead_owner } = claimed;
        match (store.lease().duty.clone(), RepositoryTask::from_detail(&detail)) {
            (DutyName::Pull(_), _) => self.perform_pull_duty(store, dead_owner).boxed_local(),
            (DutyName::Repository(repository), Some(task)) => {
                async move { self.perform_repository_duty(store, &repository, task).await }
                    .boxed_local()
            }
            // a pull accepts no duty of accounts
            (DutyName::Repository(_), None) | (DutyName::Accounts(_), _) => {
                let end = self.duty_end(&store, None);
                std::future::ready(Ok(PerformedDuty::Ended(end))).boxed_local()
            }
        }
    }

    fn duties_ended(&self) {
        self.duties_ended.notify_waiters();
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
    /// more than read changes is like no other.
    fn describe_coverage(&self) -> String {
        let items: Vec<&str> = self.items.iter().map(|item: &PullItem| item.name()).collect();
        let mut sources: Vec<String> =
            self.sources.iter().map(|source| source.source.to_string().to_lowercase()).collect();
        sources.sort();
        let only: Vec<String> = self.only_repositories.iter().map(ToString::to_string).collect();
        let excluded: Vec<String> =
            self.excluded_repositories.iter().map(|excluded| format!("{excluded:?}")).collect();
        let mut parts = vec![items.join(","), sources.join(",")];
        parts.push(self.window_days.map_or_else(String::new, |days| format!("{days} days")));
        parts.push(only.join(","));
        parts.push(excluded.join(","));
        if self.reconcile || self.force || self.repair {
            parts.push(format!("only {}", self.worker.id));
        }
        parts.join("; ")
    }
}
