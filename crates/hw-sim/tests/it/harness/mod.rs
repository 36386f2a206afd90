//! Test harness: a virtual clock, a transport to the simulated services, and the checks against the world.

mod app_view_fixture;
mod comment_check;
mod completeness_check;
mod mirror_check;
pub(crate) mod shortcuts;
mod sim_transport;
mod virtual_clock;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::duty::DutyName;
use hw_rules::followed_source::{FollowedSource, RepositoryName, RepositorySelector};
use hw_rules::lane::PullItem;
use hw_rules::pace::{DEFAULT_RESERVE_PERCENT, RequestPace};
use hw_sim::{GroundTruth, SimulatedGitHub, TrueRepository, WorldSpec};
use hw_sources::github::source::GithubSource;
use hw_sources::transport::Transport;
use hw_store::{
    ClaimReason, ClaimTask, DatabaseLocation, DeadWorker, DutyClaim, LeasedStore, StoreWriter,
    WorkerIdentity,
};
use hw_sync::PullSummary;
use hw_sync::RetryPolicy;
use hw_sync::api_client::{ApiClient, ClientConfig, GithubClient};
use hw_sync::crash_points::{CrashPoints, CrashTrigger};
use hw_sync::progress::ProgressSink;
use hw_sync::pull::{PullSource, PullSpec, run_pull};
use hw_sync::work_threads::WorkThreads;

pub(crate) use app_view_fixture::{APP_VIEW_URL, AppViewFixture};
pub(crate) use comment_check::{check_comments, missing_comments};
pub(crate) use completeness_check::check_complete_pull;
pub(crate) use mirror_check::{CheckLevel, RegressionWatch, check_mirror, stored_rows};
pub(crate) use sim_transport::SimTransport;
pub(crate) use virtual_clock::VirtualClock;

pub(crate) const HOST: &str = "github.com";
/// A text that occurs nowhere else.
pub(crate) const TOKEN: &str = "t0ken-l1ke-n0-0ther-text";

/// A simulated GitHub, a store, and the clock they share.
pub(crate) struct SimFixture {
    pub(crate) github: Arc<Mutex<SimulatedGitHub>>,
    pub(crate) store: StoreWriter,
    pub(crate) clock: Arc<VirtualClock>,
    /// The machine, whose clock `clock` is.
    pub(crate) machine: String,
    pub(crate) organization: String,
    pub(crate) sources: Vec<FollowedSource>,
    /// The ids of the single repositories among the sources.
    pub(crate) single_ids: BTreeSet<i64>,
    pub(crate) largest_page: u32,
    pub(crate) pace: RequestPace,
    pub(crate) reserve_percent: i64,
    pub(crate) seed: u64,
    /// The world's time minus the machine's: rules must never compare the two.
    pub(crate) skew_ms: i64,
    /// Receives the progress events of pulls.
    pub(crate) progress: ProgressSink,
    /// The number of connection resets.
    pub(crate) reconnects: Arc<AtomicU64>,
    /// Answers sent to a process that crashed before they arrived.
    pub(crate) undelivered: Arc<AtomicU64>,
    /// The number of processes so far.
    pub(crate) processes: Arc<AtomicU32>,
}

/// The options of one pull.
pub(crate) struct TestPull {
    pub(crate) owner: &'static str,
    pub(crate) reconcile: bool,
    pub(crate) crash_hook: Option<CrashTrigger>,
    pub(crate) window_days: Option<u32>,
    pub(crate) items: &'static [PullItem],
    pub(crate) only: &'static [&'static str],
    pub(crate) excluded: &'static [&'static str],
    pub(crate) force: bool,
    pub(crate) allow_mass_removal: bool,
    pub(crate) repair: bool,
}

impl TestPull {
    /// A pull of the default items.
    pub(crate) const PLAIN: Self = Self {
        owner: "test",
        reconcile: false,
        crash_hook: None,
        window_days: None,
        items: &PullItem::DEFAULT,
        only: &[],
        excluded: &[],
        force: false,
        allow_mass_removal: false,
        repair: false,
    };
}

impl Default for TestPull {
    fn default() -> Self {
        Self::PLAIN
    }
}

impl SimFixture {
    /// Creates a world from a seed, and an empty store in memory.
    pub(crate) fn new(spec: &WorldSpec, seed: u64) -> Self {
        Self::with_store(spec, seed, StoreWriter::open(&DatabaseLocation::Memory).unwrap())
    }

    pub(crate) fn with_store(spec: &WorldSpec, seed: u64, store: StoreWriter) -> Self {
        Self {
            github: Arc::new(Mutex::new(SimulatedGitHub::new(spec, seed))),
            store,
            clock: Arc::new(VirtualClock::starting_at(spec.start_ms)),
            machine: "here".to_owned(),
            organization: spec.organization.clone(),
            sources: vec![FollowedSource::from_stored(&spec.organization)],
            single_ids: BTreeSet::new(),
            largest_page: 100,
            pace: RequestPace::Adaptive,
            reserve_percent: DEFAULT_RESERVE_PERCENT,
            seed,
            skew_ms: 0,
            progress: ProgressSink::default(),
            reconnects: Arc::default(),
            undelivered: Arc::default(),
            processes: Arc::default(),
        }
    }

    /// Follows these sources as well. A single repository is followed whatever its name becomes.
    pub(crate) fn with_sources(mut self, names: &[&str]) -> Self {
        for name in names {
            let source = FollowedSource::from_stored(name);
            if let FollowedSource::Repository(name) = &source {
                // before anything happens in the world
                let repositories = self.github.lock().unwrap().world().truth().repositories;
                let mut named = repositories.values();
                let found = named.find(|found| name.is_name_of(&found.owner, &found.name));
                self.single_ids.insert(found.unwrap().id);
            }
            self.sources.push(source);
        }
        self
    }

    /// Decides whether the sources include a repository of the world.
    pub(crate) fn is_followed(&self, repository: &TrueRepository) -> bool {
        let is_listed = !repository.is_archived && !repository.is_fork;
        let owner = FollowedSource::from_stored(&repository.owner);
        is_listed && self.sources.contains(&owner) || self.single_ids.contains(&repository.id)
    }

    /// Returns the true content of the followed repositories.
    pub(crate) fn followed_truth(&self) -> GroundTruth {
        let mut truth = self.with_github(|github| {
            github.world().truth_where(|repository| self.is_followed(repository))
        });
        truth.repositories.retain(|_, repository| self.is_followed(repository));
        truth
    }

    /// Sets the machine's clock this far behind the world's.
    pub(crate) fn with_clock_skew(self, skew_ms: i64) -> Self {
        let start_ms = self.world_now_ms();
        let clock = Arc::new(VirtualClock::starting_at(start_ms - skew_ms));
        Self { clock, skew_ms, ..self }
    }

    /// Starts a new process: only the store and the world are shared with earlier ones.
    pub(crate) fn open_process(
        &self,
        crash_hook: Option<CrashTrigger>,
    ) -> (StoreWriter, GithubClient) {
        self.open_process_via(Arc::new(SimTransport::new(self)), crash_hook)
    }

    /// Pulls over another transport.
    pub(crate) async fn pull_via(
        &self,
        transport: Arc<dyn Transport>,
        pull: &TestPull,
    ) -> Result<PullSummary, hw_sync::SyncError> {
        let (store, client) = self.open_process_via(transport, pull.crash_hook.clone());
        run_pull(&store, &client, &self.build_pull(pull)).await
    }

    pub(crate) fn open_process_via(
        &self,
        transport: Arc<dyn Transport>,
        crash_hook: Option<CrashTrigger>,
    ) -> (StoreWriter, GithubClient) {
        let store = match &crash_hook {
            Some(crash_hook) => self.store.clone().with_crash_hook(Arc::clone(crash_hook)),
            None => self.store.clone(),
        };
        let config = ClientConfig {
            source: GithubSource::new(
                "https://api.github.com/graphql",
                "https://api.github.com",
                &TOKEN.into(),
            ),
            retry_policy: RetryPolicy::GITHUB,
            transport,
            clock: self.clock.clone(),
            machine: self.machine.clone(),
            crash_points: crash_hook.map(CrashPoints::new).unwrap_or_default(),
            progress: self.progress.clone(),
            pace: self.pace,
            reserve_percent: self.reserve_percent,
            largest_page: self.largest_page,
            seed: self.seed,
            work_threads: WorkThreads::Inline,
        };
        (store.clone(), ApiClient::new(config, store, HOST))
    }

    pub(crate) async fn pull(&self, pull: &TestPull) -> Result<PullSummary, hw_sync::SyncError> {
        let (store, client) = self.open_process(pull.crash_hook.clone());
        run_pull(&store, &client, &self.build_pull(pull)).await
    }

    pub(crate) fn build_pull(&self, pull: &TestPull) -> PullSpec {
        PullSpec {
            host: HOST.into(),
            sources: self.sources.iter().cloned().map(PullSource::from).collect(),
            worker: self.next_worker(pull.owner),
            items: pull.items.iter().copied().collect(),
            only_repositories: pull
                .only
                .iter()
                .map(|name| RepositoryName::from_known(&self.organization, name))
                .collect(),
            excluded_repositories: pull
                .excluded
                .iter()
                .map(|name| RepositorySelector { owner: None, name: (*name).to_owned() })
                .collect(),
            force: pull.force,
            window_days: pull.window_days,
            reconcile: pull.reconcile,
            allow_mass_removal: pull.allow_mass_removal,
            repair: pull.repair,
        }
    }

    /// Returns a process on another machine, whose clock is this far ahead. It shares world and store.
    pub(crate) fn with_clock_ahead(&self, ahead_ms: i64) -> Self {
        let clock = VirtualClock::starting_at(self.clock.virtual_now_ms() + ahead_ms);
        clock.virtual_now_ms();
        let machine = "there".to_owned();
        Self { clock: Arc::new(clock), machine, skew_ms: self.skew_ms - ahead_ms, ..self.share() }
    }

    /// Returns a process that shares world, store and clock.
    pub(crate) fn share(&self) -> Self {
        Self {
            github: self.github.clone(),
            store: self.store.clone(),
            clock: self.clock.clone(),
            machine: self.machine.clone(),
            organization: self.organization.clone(),
            sources: self.sources.clone(),
            single_ids: self.single_ids.clone(),
            largest_page: self.largest_page,
            pace: self.pace,
            reserve_percent: self.reserve_percent,
            seed: self.seed,
            skew_ms: self.skew_ms,
            progress: self.progress.clone(),
            reconnects: self.reconnects.clone(),
            undelivered: self.undelivered.clone(),
            processes: self.processes.clone(),
        }
    }

    /// Returns the identity of a new process. Its display name is `process 1 on here`, and so on.
    pub(crate) fn next_worker(&self, role: &str) -> WorkerIdentity {
        let process = self.processes.fetch_add(1, Ordering::SeqCst) + 1;
        WorkerIdentity {
            id: format!("{role}-{process}"),
            machine: self.machine.clone(),
            process,
            version: "1".to_owned(),
            role: role.to_owned(),
        }
    }

    /// Claims the duty of a pull, as a process that does nothing else.
    pub(crate) fn claim_pull(&self) -> LeasedStore {
        let duty = DutyName::pull(HOST);
        let mut stale = self.store.duty(&duty).unwrap().and_then(|duty| duty.owner).into_iter();
        let worker = self.store.register_worker(&self.next_worker("test"), 0).unwrap();
        let beat_of = |id: &str| {
            let workers = self.store.workers().unwrap().into_iter();
            workers.filter(|worker| worker.identity.id == id).map(|worker| worker.beat).next()
        };
        let dead: Vec<_> = stale.by_ref().map(|id| DeadWorker { beat: beat_of(&id), id }).collect();
        let tasks = [ClaimTask { name: duty, reason: ClaimReason::Request(String::new()) }];
        let claim = DutyClaim { tasks: &tasks, dead: &dead, ended: &[], now_ms: 0 };
        let claimed = worker.claim_duties(&claim).unwrap().pop().unwrap();
        // it stays registered, and holds the duty until it is released
        std::mem::forget(worker);
        claimed
    }

    /// Returns the world's own time.
    pub(crate) fn world_now_ms(&self) -> i64 {
        self.clock.virtual_now_ms() + self.skew_ms
    }

    /// Polls a pull until the world has received this many requests; returns true if the pull ended before.
    pub(crate) async fn poll_until_requests<T>(
        &self,
        pull: &mut Pin<&mut impl Future<Output = T>>,
        requests: u64,
    ) -> bool {
        while self.with_github(|github| github.request_log().total) < requests {
            tokio::select! {
                biased;
                _ = pull.as_mut() => return true,
                () = self.clock.advance_by(5) => {}
            }
        }
        false
    }

    /// Reads or changes the world at the current time.
    pub(crate) fn with_github<T>(&self, action: impl FnOnce(&mut SimulatedGitHub) -> T) -> T {
        let mut github = self.github.lock().unwrap();
        github.advance_to(self.world_now_ms());
        action(&mut github)
    }
}

/// Runs a future on virtual time: waiting makes the time jump.
pub(crate) fn on_virtual_time<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

/// Returns the seeds to try: 1 to `HIGHWATER_SEEDS` (20 by default). `HIGHWATER_SEED` selects one seed, or a
/// range (`1001..2000`).
pub(crate) fn test_seeds() -> std::ops::RangeInclusive<u64> {
    if let Some(text) = env_variable("HIGHWATER_SEED") {
        let (first, last) = text.split_once("..").unwrap_or((&text, &text));
        return first.parse().unwrap()..=last.parse().unwrap();
    }
    1..=env_number("HIGHWATER_SEEDS").unwrap_or(20)
}

/// Returns the seeds to try on PostgreSQL: fewer, because each takes longer.
pub(crate) fn postgres_seeds() -> std::ops::RangeInclusive<u64> {
    1..=env_number("HIGHWATER_SEEDS_POSTGRES").unwrap_or(2)
}

/// Returns a schema of its own in the private PostgreSQL that `./check` starts.
pub(crate) fn postgres_location(schema: &str) -> DatabaseLocation {
    let url = env_variable("HIGHWATER_TEST_POSTGRES").expect(
        "HIGHWATER_TEST_POSTGRES is not set: `./check` starts a private PostgreSQL and sets it",
    );
    DatabaseLocation::Postgres { url, schema: schema.to_owned() }
}

pub(crate) fn env_number(name: &str) -> Option<u64> {
    env_variable(name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

#[expect(clippy::disallowed_methods, reason = "a test's environment is its argument")]
pub(crate) fn env_variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
