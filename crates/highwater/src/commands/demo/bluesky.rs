//! Runs the simulated Bluesky of the demo on a loopback port of this machine, and polls it.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use hw_rules::bluesky::polling_settings::PollingSettings;
use hw_rules::pace::{DEFAULT_RESERVE_PERCENT, RequestPace};
use hw_sim::bluesky::{BlueskyActivity, BlueskySpec, SimulatedAppView};
use hw_sources::bluesky::feed::MAX_FEED_ROWS;
use hw_sources::bluesky::source::BlueskySource;
use hw_sources::http_transport::HttpTransport;
use hw_store::{CheckedAccount, StoreWriter};
use hw_sync::RetryPolicy;
use hw_sync::api_client::{ApiClient, ClientConfig};
use hw_sync::bluesky::client::BlueskyClient;
use hw_sync::bluesky::{PollSpec, PollSummary, poll_accounts};
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::crash_points::CrashPoints;
use hw_sync::progress::ProgressSink;
use hw_sync::work_threads::WorkThreads;
use tokio::net::TcpListener;

use super::server::SimulatedWriters;
use crate::config;

/// The name under which the posts are stored.
const HOST: &str = "bsky.app";

pub(super) struct DemoAccounts {
    app_view: Arc<Mutex<SimulatedAppView>>,
    store: StoreWriter,
    client: BlueskyClient,
    spec: PollSpec,
}

impl DemoAccounts {
    /// Serves simulated accounts, and follows all of them.
    pub(super) async fn start(
        seed: u64,
        writers: SimulatedWriters,
        store: &StoreWriter,
    ) -> anyhow::Result<Self> {
        let activity = match writers {
            SimulatedWriters::Active => BlueskyActivity::busy(6, i64::MAX),
            SimulatedWriters::Idle => BlueskyActivity::none(),
        };
        let spec = BlueskySpec { start_ms: MachineClock.now_ms(), activity, ..BlueskySpec::demo() };
        let app_view = Arc::new(Mutex::new(SimulatedAppView::new(&spec, seed)));
        let listener =
            TcpListener::bind("127.0.0.1:0").await.context("cannot open a loopback port")?;
        let host = listener.local_addr()?.to_string();
        tokio::spawn(hw_sim::server::serve(
            Arc::clone(&app_view),
            || MachineClock.now_ms(),
            |ms| {
                let until = MachineClock.now_ms().saturating_add_unsigned(ms);
                Box::pin(async move { MachineClock.sleep_until(until).await })
            },
            listener,
        ));
        let client = open_client(&host, store, seed)?;
        let spec = PollSpec {
            host: HOST.to_owned(),
            settings: PollingSettings::default(),
            worker: config::worker_identity("demo"),
            allow_mass_removal: false,
            print_line: Arc::new(|_| {}),
        };
        let accounts = Self { app_view, store: store.clone(), client, spec };
        accounts.follow_all()?;
        Ok(accounts)
    }

    fn follow_all(&self) -> anyhow::Result<()> {
        let app_view = self.app_view.lock().unwrap_or_else(PoisonError::into_inner);
        let world = app_view.world();
        let accounts: Vec<CheckedAccount> = world
            .dids()
            .iter()
            .map(|did| {
                let handle = world.handle_of(did).and_then(|handle| handle.parse().ok());
                Ok(CheckedAccount { did: did.parse()?, handle })
            })
            .collect::<anyhow::Result<_>>()?;
        self.store.follow_accounts(HOST, &accounts, MachineClock.now_ms())?;
        Ok(())
    }

    /// Polls all accounts once.
    pub(super) async fn poll(&self) -> anyhow::Result<PollSummary> {
        let polled = poll_accounts(&self.store, &self.client, &self.spec).await;
        polled.context("the poll of the simulated Bluesky failed")
    }
}

fn open_client(host: &str, store: &StoreWriter, seed: u64) -> anyhow::Result<BlueskyClient> {
    let source = BlueskySource::new(&format!("http://{host}"));
    let config = ClientConfig {
        source: source.clone(),
        retry_policy: RetryPolicy::bluesky(&PollingSettings::default()),
        transport: HttpTransport::new().context("cannot set up HTTP")?,
        clock: Arc::new(MachineClock),
        machine: config::machine_name(),
        crash_points: CrashPoints::default(),
        progress: ProgressSink::default(),
        pace: RequestPace::Adaptive,
        reserve_percent: DEFAULT_RESERVE_PERCENT,
        largest_page: MAX_FEED_ROWS,
        seed,
        work_threads: WorkThreads::Background,
    };
    Ok(BlueskyClient::new(ApiClient::new(config, store.clone(), host), source, None))
}
