//! A pull from beginning to end: what it covers, and how it is run.

use std::collections::BTreeSet;

use hw_rules::class_shares::ClassShares;
use hw_rules::followed_source::{FollowedSource, RepositoryName, RepositorySelector};
use hw_rules::lane::{PullItem, Surface};
use hw_rules::plan::SweepRequest;
use hw_store::{StoreWriter, WorkerIdentity};

use crate::SyncError;
use crate::api_client::GithubClient;
use crate::database_outage::outlive_outages;
use crate::pull_run::PullRun;
use crate::scheduler::run_duties;
use crate::summary::PullSummary;
use crate::worker::Worker;

/// Describes what to pull, and how.
#[derive(Debug, Clone)]
pub struct PullSpec {
    pub host: String,
    /// What to follow, in addition to what the workspace follows already.
    pub sources: Vec<PullSource>,
    /// The process that pulls. Its machine's clock measures the time between two pulls.
    pub worker: WorkerIdentity,
    /// Items to pull; repositories are listed in any case.
    pub items: BTreeSet<PullItem>,
    /// The only repositories to pull; all when empty.
    pub only_repositories: Vec<RepositoryName>,
    /// Repositories that are listed, but whose items are not followed.
    pub excluded_repositories: Vec<RepositorySelector>,
    /// Delete the chosen items first.
    pub force: bool,
    pub window_days: Option<u32>,
    /// Also read whole inventories, and remove what is gone.
    pub reconcile: bool,
    pub allow_mass_removal: bool,
    /// Verify all stored data first, and read damaged items again.
    pub repair: bool,
}

/// Something to pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullSource {
    pub source: FollowedSource,
    /// The repository that was found under the name of a single repository.
    pub repository_id: Option<i64>,
    /// True if the workspace does not follow it yet.
    pub is_new: bool,
}

impl From<FollowedSource> for PullSource {
    fn from(source: FollowedSource) -> Self {
        Self { source, repository_id: None, is_new: true }
    }
}

/// Pulls everything that is followed, once. While another process pulls the same, it helps with the comments, and reports
/// that pull's end as its own.
pub async fn run_pull(
    store: &StoreWriter,
    client: &GithubClient,
    pull: &PullSpec,
) -> Result<PullSummary, SyncError> {
    let pull_once = async || pull_once(store, client, pull).await;
    outlive_outages(client.clock(), client.progress(), pull_once).await
}

async fn pull_once(
    store: &StoreWriter,
    client: &GithubClient,
    pull: &PullSpec,
) -> Result<PullSummary, SyncError> {
    let worker = Worker::register(store, client.clock(), &pull.worker)?;
    // pauses of other machines end by the source's clock
    let clock = store.source_clock(&pull.host, &pull.worker.machine)?;
    client.source_time().resume_clock(clock);
    let run = PullRun::new(&worker, client, pull.clone())?;
    let work = async {
        run_duties(&worker, client.clock(), &run).await?;
        run.take_summary()
    };
    let share_limits = |living| {
        client.share_limits(living);
        divide_budget(store, client, &pull.host);
    };
    let result = worker.run(share_limits, work).await;
    drop(run);
    worker.finish(result)
}

/// Leaves a part of the hourly rate limit to what is more important than a pull, if there is anything.
///
/// This is called with each beat, because a watch can be added while a long pull runs.
fn divide_budget(store: &StoreWriter, client: &GithubClient, host: &str) {
    match store.is_followed_beyond_mirror(host) {
        Ok(true) => client.set_class_shares(ClassShares::Divided),
        Ok(false) => client.set_class_shares(ClassShares::Undivided),
        Err(error) => tracing::debug!(%error, "cannot tell who shares the rate limit"),
    }
}

impl PullSpec {
    /// Returns when lanes are swept: a pull that reconciles sweeps all of them.
    pub(crate) fn sweep_request(&self) -> SweepRequest {
        if self.reconcile { SweepRequest::Now } else { SweepRequest::WhenDue }
    }

    /// Returns the chosen thread surfaces.
    pub(crate) fn thread_surfaces(&self) -> impl Iterator<Item = Surface> {
        Surface::THREADS.into_iter().filter(|surface| self.items.contains(&surface.pull_item()))
    }

    /// Returns the comment surfaces of the chosen threads, if comments are chosen.
    pub(crate) fn comment_surfaces(&self) -> impl Iterator<Item = Surface> {
        let has_comments = self.items.contains(&PullItem::Comments);
        Surface::COMMENTS.into_iter().filter(move |surface| {
            has_comments
                && surface
                    .commented_threads()
                    .iter()
                    .any(|threads| self.items.contains(&Surface::Threads(*threads).pull_item()))
        })
    }
}
