//! One poll of everything that is watched at a host, by a process that does nothing else.

use hw_rules::duty::{DutyName, NextDue};
use hw_rules::follow_reason::FollowReason;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::runtime_settings::RuntimeSettings;
use hw_store::{DutyEnd, LeasedStore, StoreWriter, WorkerIdentity};

use crate::api_client::{GithubClient, RequestCost};
use crate::turn::{PullContext, ReadingPurpose, RunState, SweepPolicy, TargetRepository};
use crate::watch_context::{PollOutcome, ShadowDifference, WatchContext};
use crate::watch_resolution::resolve_watches;
use crate::watched_repository::poll_repository;
use crate::worker::Worker;
use crate::{SyncError, crash_points};

/// Describes a poll.
#[derive(Debug, Clone)]
pub struct WatchPollSpec {
    pub host: String,
    pub settings: RuntimeSettings,
    /// The process that polls.
    pub worker: WorkerIdentity,
    /// True if a sweep may remove most comments of a list.
    pub allow_mass_removal: bool,
}

/// The results of a poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchPollSummary {
    /// What could not be read.
    pub failures: Vec<String>,
    /// What a full scan found and the lists did not bring, if both were compared.
    pub differences: Vec<ShadowDifference>,
    pub cost: RequestCost,
}

/// Resolves new watches, and polls every watched repository once. Fails while another process does that.
pub async fn poll_watches(
    store: &StoreWriter,
    client: &GithubClient,
    spec: &WatchPollSpec,
) -> Result<WatchPollSummary, SyncError> {
    let worker = Worker::register(store, client.clock(), &spec.worker)?;
    let clock = store.source_clock(&spec.host, &spec.worker.machine)?;
    client.source_time().resume_clock(clock);
    let poll =
        WatchPoll { worker: &worker, client, spec, run: RunState::new(client.largest_page()) };
    let result = worker.run(|living| client.share_limits(living), poll.run()).await;
    drop(poll);
    worker.finish(result)
}

struct WatchPoll<'a> {
    worker: &'a Worker<'a>,
    client: &'a GithubClient,
    spec: &'a WatchPollSpec,
    run: RunState,
}

impl WatchPoll<'_> {
    async fn run(&self) -> Result<WatchPollSummary, SyncError> {
        let mut summary = WatchPollSummary::default();
        let duty = DutyName::Watches(self.spec.host.as_str().into());
        let store = self.worker.claim_at_once(&duty).await?;
        let result = resolve_watches(&self.context(&store)).await;
        summary.add(self.end_duty(&store, result)?);
        let repositories =
            self.worker.store().followed_repositories(&self.spec.host, FollowReason::Watch)?;
        for repository in &repositories {
            let duty = DutyName::Repository(RepositoryKey::new(&self.spec.host, repository.id));
            let store = self.worker.claim_at_once(&duty).await?;
            self.client.crash_points().pass_point(crash_points::DUTY_CLAIMED)?;
            let target = TargetRepository::for_watches(repository);
            let result = poll_repository(&self.context(&store), &target).await;
            summary.add(self.end_duty(&store, result)?);
        }
        let clock = self.client.source_time().clock().cloned();
        if let Some(clock) = clock {
            let machine = &self.spec.worker.machine;
            let store = self.worker.claim_at_once(&duty).await?;
            store.store_source_clock(&self.spec.host, machine, &clock)?;
            self.end_duty(&store, Ok(PollOutcome::default()))?;
        }
        summary.cost = self.client.cost();
        Ok(summary)
    }

    fn context<'b>(&'b self, store: &'b LeasedStore) -> WatchContext<'b> {
        let pull = PullContext {
            store,
            client: self.client,
            reading: ReadingPurpose::Mirror { window_days: None },
            allow_mass_removal: self.spec.allow_mass_removal,
            sweeps: SweepPolicy::LeftToOthers,
            run: &self.run,
        };
        WatchContext { pull, host: &self.spec.host, settings: &self.spec.settings }
    }

    /// Gives a duty back. Whoever lost it has nothing to give.
    fn end_duty(
        &self,
        store: &LeasedStore,
        result: Result<PollOutcome, SyncError>,
    ) -> Result<PollOutcome, SyncError> {
        let outcome = match result {
            Err(error) if error.has_lost_lease() => return Err(error),
            Err(error) if !error.is_lane_error() => {
                self.store_end(store, Some(error.reason()))?;
                return Err(error);
            }
            Err(error) => {
                PollOutcome { failures: vec![error.to_string()], ..PollOutcome::default() }
            }
            Ok(outcome) => outcome,
        };
        self.store_end(store, outcome.failures.first().cloned())?;
        Ok(outcome)
    }

    fn store_end(&self, store: &LeasedStore, error: Option<String>) -> Result<(), SyncError> {
        let (lease, ended_ms) = (store.lease().clone(), self.client.clock().now_ms());
        let end = DutyEnd { lease, ended_ms, next_due: NextDue::Kept, error };
        Ok(store.end_duties(&[end])?)
    }
}

impl WatchPollSummary {
    fn add(&mut self, outcome: PollOutcome) {
        let PollOutcome { failures, differences } = outcome;
        self.failures.extend(failures);
        self.differences.extend(differences);
    }
}
