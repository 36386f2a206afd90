//! The simulated GitHub of the demo, on a loopback port of this machine.

use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use hw_rules::pace::{Pace, RESERVE_PERCENT};
use hw_rules::page_size;
use hw_sim::{GitHub, Truth, WorldSpec, Writers};
use hw_sources::github::graphql::Endpoint;
use hw_sources::github::rest::Rest;
use hw_sources::http::Http;
use hw_store::Store;
use hw_sync::clock::{Clock as _, MachineClock};
use hw_sync::crash::CrashPoints;
use hw_sync::fetch::{Fetch, Line};
use hw_sync::news::Herald;
use tokio::net::TcpListener;

/// The simulated GitHub takes any.
const TOKEN: &str = "simulated";

pub(super) struct Stage {
    pub(super) organization: String,
    pub(super) host: String,
    url: String,
    github: Arc<Mutex<GitHub>>,
    seed: u64,
    live: bool,
}

impl Stage {
    /// Raises the world and serves it; with writers when somebody stays to watch.
    pub(super) async fn set(seed: u64, live: bool) -> anyhow::Result<Self> {
        let now_ms = MachineClock.now_ms();
        let writers = if live { Writers::busy(30, i64::MAX) } else { Writers::none() };
        let spec = WorldSpec { start_ms: now_ms, writers, ..WorldSpec::demo() };
        let github = Arc::new(Mutex::new(GitHub::new(&spec, seed)));
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
            live,
        })
    }

    /// The line to it: real HTTP, as to the real one.
    pub(super) fn fetch(&self, store: &Store) -> anyhow::Result<Fetch> {
        let line = Line {
            transport: Http::new().context("cannot set up HTTP")?,
            endpoint: Endpoint { url: format!("{}/graphql", self.url), token: TOKEN.into() },
            rest: Rest { url: self.url.clone(), token: TOKEN.into() },
            clock: Arc::new(MachineClock),
            crash: CrashPoints::default(),
            herald: Herald::default(),
            pace: Pace::Adaptive,
            reserve_percent: RESERVE_PERCENT,
            largest_page: page_size::LARGEST,
            seed: self.seed,
        };
        Ok(Fetch::new(line, store.clone(), &self.host))
    }

    /// Whether people write while we read.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// What the simulated GitHub really holds.
    pub(super) fn truth(&self) -> Truth {
        let mut github = self.github.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        github.advance(MachineClock.now_ms());
        github.world().truth()
    }
}
