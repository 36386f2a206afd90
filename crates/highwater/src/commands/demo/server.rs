//! Runs the simulated GitHub of the demo on a loopback port of this machine.

use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use hw_rules::pace::{DEFAULT_RESERVE_PERCENT, RequestPace};
use hw_rules::page_size;
use hw_sim::{ActivitySpec, GroundTruth, SimulatedGitHub, WorldSpec};
use hw_sources::github::source::GithubSource;
use hw_sources::http_transport::HttpTransport;
use hw_store::StoreWriter;
use hw_sync::RetryPolicy;
use hw_sync::api_client::{ApiClient, ClientConfig, GithubClient};
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::crash_points::CrashPoints;
use hw_sync::progress::ProgressSink;
use hw_sync::work_threads::WorkThreads;
use tokio::net::TcpListener;

use crate::config;

/// The simulated GitHub accepts any token.
const TOKEN: &str = "simulated";

/// Selects whether the simulated users write while the demo runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SimulatedWriters {
    Active,
    Idle,
}

impl SimulatedWriters {
    fn activity(self) -> ActivitySpec {
        match self {
            Self::Active => ActivitySpec::busy(30, i64::MAX),
            Self::Idle => ActivitySpec::none(),
        }
    }
}

pub(super) struct DemoServer {
    pub(super) organization: String,
    pub(super) host: String,
    url: String,
    github: Arc<Mutex<SimulatedGitHub>>,
    seed: u64,
    writers: SimulatedWriters,
}

impl DemoServer {
    /// Generates the simulated data and serves it.
    pub(super) async fn start(seed: u64, writers: SimulatedWriters) -> anyhow::Result<Self> {
        let start_ms = MachineClock.now_ms();
        let spec = WorldSpec { start_ms, activity: writers.activity(), ..WorldSpec::demo() };
        let github = Arc::new(Mutex::new(SimulatedGitHub::new(&spec, seed)));
        let listener =
            TcpListener::bind("127.0.0.1:0").await.context("cannot open a loopback port")?;
        let host = listener.local_addr()?.to_string();
        tokio::spawn(hw_sim::server::serve(
            Arc::clone(&github),
            || MachineClock.now_ms(),
            |ms| {
                let until = MachineClock.now_ms().saturating_add_unsigned(ms);
                Box::pin(async move { MachineClock.sleep_until(until).await })
            },
            listener,
        ));
        let url = format!("http://{host}");
        Ok(Self {
            organization: spec.organization,
            host: spec.web_url.trim_start_matches("https://").to_owned(),
            url,
            github,
            seed,
            writers,
        })
    }

    /// Returns a client for the server, over real HTTP.
    pub(super) fn api_client(&self, store: &StoreWriter) -> anyhow::Result<GithubClient> {
        let graphql_url = format!("{}/graphql", self.url);
        let config = ClientConfig {
            source: GithubSource::new(&graphql_url, &self.url, &TOKEN.into()),
            retry_policy: RetryPolicy::GITHUB,
            transport: HttpTransport::new().context("cannot set up HTTP")?,
            clock: Arc::new(MachineClock),
            machine: config::machine_name(),
            crash_points: CrashPoints::default(),
            progress: ProgressSink::default(),
            pace: RequestPace::Adaptive,
            reserve_percent: DEFAULT_RESERVE_PERCENT,
            largest_page: page_size::MAX_PAGE_SIZE,
            seed: self.seed,
            work_threads: WorkThreads::Background,
        };
        Ok(ApiClient::new(config, store.clone(), &self.host))
    }

    /// Returns true if the simulated users write during the pull.
    pub(super) fn is_live(&self) -> bool {
        self.writers == SimulatedWriters::Active
    }

    /// Returns everything that the simulated GitHub currently contains.
    pub(super) fn truth(&self) -> GroundTruth {
        let mut github = self.github.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        github.advance_to(MachineClock.now_ms());
        github.world().truth()
    }
}
