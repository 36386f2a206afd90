//! A service in a simulated world, and what it was seen doing.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hw_rules::duty::{DutyName, DutyState};
use hw_rules::follow_reason::FollowReason;
use hw_rules::lane::Lane;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::runtime_settings::RuntimeSettings;
use hw_sim::WorldSpec;
use hw_sources::transport::{HttpRequest, HttpResponse, ResponseFuture, Transport};
use hw_store::SERVICE_ROLE;
use hw_sync::crash_points::CrashTrigger;
use hw_sync::pull::PullSpec;
use hw_sync::service::{GithubPart, ServiceMode, ServiceSpec, ServiceSummary, run_service};
use hw_sync::{PullSummary, SyncError};

use crate::harness::shortcuts::{FULL_PULL, first_repository_id, issue_ids};
use crate::harness::{HOST, SimFixture, SimTransport, TestPull};

/// The time between two looks at what a service does.
const LOOK_MS: u64 = 1_000;

pub(crate) struct ServiceFixture {
    pub(crate) sim: SimFixture,
    pub(crate) settings: RuntimeSettings,
    /// True while GraphQL refuses the token.
    pub(crate) rejects_graphql: Arc<AtomicBool>,
    rng: RefCell<fastrand::Rng>,
    seen: RefCell<SeenDuties>,
}

/// What was seen of a service's duties.
#[derive(Default)]
struct SeenDuties {
    /// The due times that each duty got when it ended, with the time of the end.
    rescheduled: BTreeMap<DutyName, BTreeMap<i64, i64>>,
    /// The lists whose sweep was requested.
    sweeps: BTreeSet<String>,
}

impl ServiceFixture {
    pub(crate) fn new(spec: &WorldSpec) -> Self {
        Self::with_sim(SimFixture::new(spec, 1))
    }

    pub(crate) fn with_sim(sim: SimFixture) -> Self {
        let rng = RefCell::new(fastrand::Rng::with_seed(sim.seed));
        let (settings, rejects_graphql, seen) = Default::default();
        Self { sim, settings, rejects_graphql, rng, seen }
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.sim.clock.virtual_now_ms()
    }

    /// Runs a service until it ends.
    pub(crate) async fn serve(&self, mode: ServiceMode) -> Result<ServiceSummary, SyncError> {
        self.serve_with(mode, None).await
    }

    async fn serve_with(
        &self,
        mode: ServiceMode,
        crash_hook: Option<CrashTrigger>,
    ) -> Result<ServiceSummary, SyncError> {
        let transport = RejectingTransport {
            transport: SimTransport::new(&self.sim),
            rejects_graphql: Arc::clone(&self.rejects_graphql),
        };
        let (store, client) = self.sim.open_process_via(Arc::new(transport), crash_hook);
        let worker = self.sim.next_worker(SERVICE_ROLE);
        let pull = PullSpec { worker: worker.clone(), ..self.sim.build_pull(&FULL_PULL) };
        let spec = ServiceSpec {
            worker,
            settings: self.settings,
            mode,
            github: Some(GithubPart { client: &client, pull: &pull }),
            bluesky: None,
            seed: self.sim.seed,
        };
        run_service(&store, &*self.sim.clock, &spec).await
    }

    /// Runs a service for this long, and stops it as a signal does.
    pub(crate) async fn run_for(&self, ms: i64) {
        tokio::select! {
            biased;
            ended = self.serve(ServiceMode::Forever) => panic!("the service ended: {ended:?}"),
            () = self.look_for(ms) => {}
        }
    }

    /// Runs a service for this long without looking at what it does.
    pub(crate) async fn run_quietly_for(&self, ms: i64) {
        tokio::select! {
            biased;
            ended = self.serve(ServiceMode::Forever) => panic!("the service ended: {ended:?}"),
            () = self.sim.clock.advance_by(ms.unsigned_abs()) => {}
        }
    }

    /// Runs a service for this long, or until it crashes at a random point.
    pub(crate) async fn run_until_crash(&self, ms: i64) {
        let after = self.rng.borrow_mut().u64(1..2_000);
        let passed = AtomicU64::new(0);
        let crash: CrashTrigger =
            Arc::new(move |_| passed.fetch_add(1, Ordering::SeqCst) + 1 == after);
        tokio::select! {
            biased;
            _ = self.serve_with(ServiceMode::Forever, Some(crash)) => {}
            () = self.look_for(ms) => {}
        }
    }

    /// Starts a service, and pulls beside it after a minute.
    pub(crate) async fn pull_beside(&self, pull: TestPull) -> Result<PullSummary, SyncError> {
        let beside = async {
            self.sim.clock.advance_by(60_000).await;
            self.sim.pull(&TestPull { owner: "by hand", ..pull }).await
        };
        tokio::select! {
            biased;
            ended = self.serve(ServiceMode::Forever) => panic!("the service ended: {ended:?}"),
            pulled = beside => pulled,
            () = async { loop { self.look_for(60_000).await } } => unreachable!("it never ends"),
        }
    }

    /// Looks at the duties for this long.
    async fn look_for(&self, ms: i64) {
        let until_ms = self.now_ms() + ms;
        while self.now_ms() < until_ms {
            self.look();
            let left = u64::try_from(until_ms - self.now_ms()).unwrap();
            self.sim.clock.advance_by(LOOK_MS.min(left)).await;
        }
        self.look();
    }

    fn look(&self) {
        let mut seen = self.seen.borrow_mut();
        for DutyState { name, due_ms, ended_ms, .. } in self.duties() {
            if let (Some(due_ms), Some(ended_ms)) = (due_ms, ended_ms) {
                seen.rescheduled.entry(name).or_default().entry(due_ms).or_insert(ended_ms);
            }
        }
        for (lane, state, _) in self.sim.store.lanes().unwrap() {
            if state.is_sweep_due(self.now_ms()) || state.is_sweeping {
                seen.sweeps.insert(Lane::to_string(&lane));
            }
        }
    }

    /// Returns how often a duty was performed because it was due.
    pub(crate) fn runs_of(&self, duty: &DutyName) -> usize {
        self.look();
        self.seen.borrow().rescheduled.get(duty).map_or(0, BTreeMap::len)
    }

    /// Returns the times between two polls.
    pub(crate) fn gaps_ms(&self, duty: &DutyName) -> Vec<i64> {
        let seen = self.seen.borrow();
        let ends: Vec<i64> =
            seen.rescheduled.get(duty).into_iter().flatten().map(|(_, ended)| *ended).collect();
        ends.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// Returns the lists whose sweep was requested.
    pub(crate) fn requested_sweeps(&self) -> BTreeSet<String> {
        self.seen.borrow().sweeps.clone()
    }

    pub(crate) fn duties(&self) -> Vec<DutyState> {
        self.sim.store.duties().unwrap()
    }

    pub(crate) fn duty(&self, name: &DutyName) -> DutyState {
        self.sim.store.duty(name).unwrap().unwrap()
    }

    /// Has the workspace watch its first repository, and returns the duty of its polls.
    pub(crate) fn watch_first_repository(&self) -> DutyName {
        let repository = RepositoryKey::new(HOST, first_repository_id(&self.sim));
        let claimed = self.sim.claim_pull();
        claimed.follow_repository(&repository, FollowReason::Watch).unwrap();
        claimed.release_duty().unwrap();
        DutyName::Repository(repository)
    }

    /// Edits an issue of the world, chosen at random.
    pub(crate) fn edit_an_issue(&self) {
        let ids = issue_ids(&self.sim);
        let mut rng = self.rng.borrow_mut();
        let (id, text) = (ids[rng.usize(..ids.len())], rng.u64(..).to_string());
        let now_ms = self.sim.world_now_ms();
        self.sim.with_github(|github| {
            github.world_mut().edit_issue(id, None, Some(&text), now_ms);
        });
    }
}

/// A transport whose GraphQL requests can be refused.
struct RejectingTransport {
    transport: SimTransport,
    rejects_graphql: Arc<AtomicBool>,
}

impl Transport for RejectingTransport {
    fn send(&self, request: HttpRequest) -> ResponseFuture<'_> {
        if request.url.ends_with("/graphql") && self.rejects_graphql.load(Ordering::SeqCst) {
            let body = br#"{"message":"Bad credentials"}"#.to_vec();
            let headers = Default::default();
            return Box::pin(async move { Ok(HttpResponse { status: 401, headers, body }) });
        }
        self.transport.send(request)
    }

    fn reset_connections(&self) {
        self.transport.reset_connections();
    }
}
