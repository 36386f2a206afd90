//! A poll of all followed accounts, from beginning to end.

use std::sync::{Arc, Mutex};

use futures_util::future::{FutureExt as _, LocalBoxFuture};
use hw_rules::bluesky::polling_settings::PollingSettings;
use hw_rules::duty::{DutyName, DutyState, NextDue};
use hw_store::{DutyEnd, LeasedStore, PollRound, StoreWriter, WorkerIdentity};

use super::client::BlueskyClient;
use super::round::Round;
use crate::api_client::RequestCost;
use crate::database_outage::outlive_outages;
use crate::progress::ProgressEvent;
use crate::rate_limiter::lock_unpoisoned;
use crate::scheduler::{AcceptedDuty, ClaimedDuty, DutyPerformer, PerformedDuty, run_duties};
use crate::worker::{DutyBoard, Worker};
use crate::{SyncError, crash_points};

/// Describes a poll.
#[derive(Clone)]
pub struct PollSpec {
    /// The host under which the accounts are stored.
    pub host: String,
    pub settings: PollingSettings,
    /// The process that polls.
    pub worker: WorkerIdentity,
    /// True if a poll may remove most posts of an account.
    pub allow_mass_removal: bool,
    /// Receives the lines to print, in the order in which feeds were read.
    pub print_line: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The results of a poll.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PollSummary {
    pub round: PollRound,
    /// Feeds that were not read to the end. The next poll goes on there.
    pub unfinished: u64,
    pub edited: u64,
    pub quarantined: u64,
    /// Accounts whose profile could not be read, although their feeds may have been.
    pub unread_profiles: u64,
    /// Accounts that could not be read, with the reason.
    pub failures: Vec<PollFailure>,
    pub cost: RequestCost,
}

/// An account that could not be read, for a reason that may be over at the next poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollFailure {
    pub account: String,
    pub reason: String,
    /// True if a brake stopped the removal of posts, which the user can allow.
    pub is_brake: bool,
}

/// Polls all followed accounts once. While another process polls them, it waits.
pub async fn poll_accounts(
    store: &StoreWriter,
    client: &BlueskyClient,
    spec: &PollSpec,
) -> Result<PollSummary, SyncError> {
    let api = client.api();
    let poll_once = async || poll_once(store, client, spec).await;
    outlive_outages(api.clock(), api.progress(), poll_once).await
}

async fn poll_once(
    store: &StoreWriter,
    client: &BlueskyClient,
    spec: &PollSpec,
) -> Result<PollSummary, SyncError> {
    let api = client.api();
    let worker = Worker::register(store, api.clock(), &spec.worker)?;
    // pauses of other machines end by the source's clock
    api.source_time().resume_clock(store.source_clock(&spec.host, &spec.worker.machine)?);
    let run = PollRun::new(&worker, client, spec);
    let work = async {
        run_duties(&worker, api.clock(), &run).await?;
        Ok(run.take_summary())
    };
    let result = worker.run(|living| api.share_limits(living), work).await;
    drop(run);
    worker.finish(result)
}

/// Performs one round of polls.
pub(crate) async fn perform_round(
    store: &LeasedStore,
    client: &BlueskyClient,
    spec: &PollSpec,
) -> Result<PollSummary, SyncError> {
    client.api().crash_points().pass_point(crash_points::DUTY_CLAIMED)?;
    Round::new(store, client, spec).run().await
}

/// One process's part in polls: it performs one.
struct PollRun<'a> {
    worker: &'a Worker<'a>,
    client: &'a BlueskyClient,
    spec: &'a PollSpec,
    duty: DutyName,
    progress: Mutex<PollProgress>,
}

#[derive(Default)]
struct PollProgress {
    has_begun: bool,
    summary: Option<PollSummary>,
    /// The claim of another process that was reported last.
    reported_epoch: Option<i64>,
}

impl<'a> PollRun<'a> {
    fn new(worker: &'a Worker<'a>, client: &'a BlueskyClient, spec: &'a PollSpec) -> Self {
        let duty = DutyName::accounts(&spec.host);
        Self { worker, client, spec, duty, progress: Mutex::default() }
    }

    fn take_summary(&self) -> PollSummary {
        lock_unpoisoned(&self.progress).summary.take().unwrap_or_default()
    }

    async fn perform_round(&self, store: LeasedStore) -> Result<PerformedDuty, SyncError> {
        let api = self.client.api();
        lock_unpoisoned(&self.progress).has_begun = true;
        let result = perform_round(&store, self.client, self.spec).await;
        let error = match &result {
            Ok(summary) => summary.failures.first().map(|failure| failure.reason.clone()),
            Err(error) => Some(error.reason()),
        };
        let (lease, ended_ms) = (store.lease().clone(), api.clock().now_ms());
        let end = DutyEnd { lease, ended_ms, next_due: NextDue::Kept, error };
        match result {
            Ok(summary) => {
                lock_unpoisoned(&self.progress).summary = Some(summary);
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

    /// Reports another process that polls, once.
    fn report_holder(&self, duty: &DutyState, board: &DutyBoard) {
        let Some(owner) = &duty.owner else { return };
        let mut progress = lock_unpoisoned(&self.progress);
        let is_reported = progress.reported_epoch == Some(duty.epoch);
        if is_reported || owner == self.worker.id() || board.dead.contains(owner) {
            return;
        }
        progress.reported_epoch = Some(duty.epoch);
        let holder = self.worker.store().duty_holder(&duty.name).ok().flatten();
        let worker = holder.map_or_else(|| "another process".to_owned(), |holder| holder.worker);
        self.client.api().progress().emit(|| ProgressEvent::WaitingForPoll { worker });
    }
}

impl DutyPerformer for PollRun<'_> {
    fn wanted(&self) -> Vec<DutyName> {
        match lock_unpoisoned(&self.progress).has_begun {
            true => Vec::new(),
            false => vec![self.duty.clone()],
        }
    }

    fn accepts(&self, duty: &DutyState) -> Option<AcceptedDuty> {
        let is_open = !lock_unpoisoned(&self.progress).has_begun;
        (is_open && duty.name == self.duty).then(|| AcceptedDuty::on_request(duty, String::new()))
    }

    fn perform(
        &self,
        store: LeasedStore,
        _claimed: ClaimedDuty,
    ) -> LocalBoxFuture<'_, Result<PerformedDuty, SyncError>> {
        self.perform_round(store).boxed_local()
    }

    fn prepare(&self, _board: &DutyBoard) -> Result<(), SyncError> {
        Ok(())
    }

    fn duties_ended(&self) {}

    fn is_done(&self, board: &DutyBoard) -> bool {
        if let Some(duty) = board.duties.iter().find(|duty| duty.name == self.duty) {
            self.report_holder(duty, board);
        }
        lock_unpoisoned(&self.progress).summary.is_some()
    }
}
