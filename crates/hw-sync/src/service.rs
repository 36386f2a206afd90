//! The service: everything that the workspace follows, again and again, until it is stopped.
//!
//! What is due is a row, so a service remembers nothing: one that is killed and started again, or several beside one
//! server, do what the rows say.

mod due_times;
mod duty_errors;
mod service_run;

use hw_rules::backoff;
use hw_rules::class_shares::ClassShares;
use hw_rules::duty::DutyName;
use hw_rules::runtime_settings::RuntimeSettings;
use hw_store::{LeasedStore, StoreWriter, WorkerIdentity};

use crate::SyncError;
use crate::api_client::GithubClient;
use crate::bluesky::PollSpec;
use crate::bluesky::client::BlueskyClient;
use crate::clock::Clock;
use crate::database_outage::outlive_outages;
use crate::progress::ProgressSink;
use crate::pull::PullSpec;
use crate::scheduler::run_duties;
use crate::worker::Worker;
use duty_errors::is_worth_a_retry;
use service_run::ServiceRun;

pub use service_run::{DutyFailure, ServiceSummary};

/// Describes a service.
pub struct ServiceSpec<'a> {
    /// The process. Its role is [`SERVICE_ROLE`](hw_store::SERVICE_ROLE).
    pub worker: WorkerIdentity,
    pub settings: RuntimeSettings,
    pub mode: ServiceMode,
    /// What it reads from GitHub, if it has a token.
    pub github: Option<GithubPart<'a>>,
    /// What it reads from Bluesky.
    pub bluesky: Option<BlueskyPart<'a>>,
    /// Seed of the random numbers that spread retries.
    pub seed: u64,
}

/// When a service ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceMode {
    /// When it is stopped.
    Forever,
    /// Once it has polled every watched repository and account, and nothing else is due.
    Once,
}

/// How a service reads from GitHub.
#[derive(Clone, Copy)]
pub struct GithubPart<'a> {
    pub client: &'a GithubClient,
    /// What its pulls cover. It does not reconcile: sweeps have a schedule of their own.
    pub pull: &'a PullSpec,
}

/// How a service reads from Bluesky.
#[derive(Clone, Copy)]
pub struct BlueskyPart<'a> {
    pub client: &'a BlueskyClient,
    pub poll: &'a PollSpec,
}

/// Runs a service. It outlives every failure but one that a retry cannot mend.
pub async fn run_service(
    store: &StoreWriter,
    clock: &dyn Clock,
    spec: &ServiceSpec<'_>,
) -> Result<ServiceSummary, SyncError> {
    let serve = async || serve(store, clock, spec).await;
    if spec.mode == ServiceMode::Once {
        return outlive_outages(clock, &ProgressSink::default(), serve).await;
    }
    let mut attempts = 0;
    loop {
        let began_ms = clock.monotonic_ms();
        let error = match serve().await {
            Err(error) if is_worth_a_retry(&error) => error,
            other => return other,
        };
        // a service that worked for a while begins to count again
        let is_new = clock.monotonic_ms() - began_ms > RECOVERY_MS;
        attempts = if is_new { 1 } else { attempts + 1 };
        let wait_ms = backoff::restart_delay_ms(attempts);
        tracing::warn!(%error, wait_ms, "the service was interrupted; starting over");
        clock.sleep_until(clock.now_ms() + wait_ms).await;
    }
}

/// A service that ran at least this long was not interrupted by the same failure as before.
const RECOVERY_MS: i64 = 60_000;

async fn serve(
    store: &StoreWriter,
    clock: &dyn Clock,
    spec: &ServiceSpec<'_>,
) -> Result<ServiceSummary, SyncError> {
    let worker = Worker::register(store, clock, &spec.worker)?;
    if let Some(GithubPart { client, pull }) = &spec.github {
        // pauses of other machines end by the source's clock
        let known = store.source_clock(&pull.host, &spec.worker.machine)?;
        client.source_time().resume_clock(known);
    }
    if let Some(BlueskyPart { client, poll }) = &spec.bluesky {
        let known = store.source_clock(&poll.host, &spec.worker.machine)?;
        client.api().source_time().resume_clock(known);
    }
    let work = async {
        let _only_service = claim_workspace(&worker).await?;
        let run = ServiceRun::new(&worker, clock, spec);
        run_duties(&worker, clock, &run).await?;
        Ok(run.take_summary())
    };
    let result = worker.run(|living| share_limits(store, spec, living), work).await;
    worker.finish(result)
}

/// Claims the workspace for this service, if it allows only one: a database that is a file has one writer at a time, so
/// a second service would only wait for the first.
async fn claim_workspace(worker: &Worker<'_>) -> Result<Option<LeasedStore>, SyncError> {
    if worker.store().has_server() {
        return Ok(None);
    }
    match worker.claim_at_once(&DutyName::Service).await {
        Ok(claimed) => Ok(Some(claimed)),
        Err(SyncError::Busy { owner, since_ms }) => {
            Err(SyncError::ServiceRunning { owner, since_ms })
        }
        Err(error) => Err(error),
    }
}

/// Divides the rate limits among the workers that are alive, and the hourly one among the classes of requests.
fn share_limits(store: &StoreWriter, spec: &ServiceSpec<'_>, living: usize) {
    if let Some(GithubPart { client, pull }) = &spec.github {
        client.share_limits(living);
        match store.is_followed_beyond_mirror(&pull.host) {
            Ok(true) => client.set_class_shares(ClassShares::Divided),
            Ok(false) => client.set_class_shares(ClassShares::Undivided),
            Err(error) => tracing::debug!(%error, "cannot tell who shares the rate limit"),
        }
    }
    if let Some(BlueskyPart { client, .. }) = &spec.bluesky {
        client.api().share_limits(living);
    }
}
