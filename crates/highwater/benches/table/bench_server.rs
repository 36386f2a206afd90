//! A simulated GitHub on a loopback port, and measured pulls from it.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use hw_sim::server::{WaitFuture, serve};
use hw_sim::{RateLimitSpec, SimulatedGitHub, WorldSpec};
use hw_store::DatabaseLocation;
use hw_sync::clock::{Clock as _, MachineClock};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::{BenchPromise, BenchRow};

const DAY_MS: i64 = 86_400_000;
/// The interval at which the program's memory is sampled.
const SAMPLE_INTERVAL_MS: i64 = 20;

pub(crate) struct BenchServer {
    pub(crate) github: Arc<Mutex<SimulatedGitHub>>,
    url: String,
    home: tempfile::TempDir,
    runtime: Runtime,
    /// The items to pull; `None` means the default ones.
    items: Option<&'static str>,
}

/// Returns plain repositories with bodies of a kilobyte and a tenth of the pull requests open, no activity, and a rate
/// limit that is never reached.
pub(crate) fn plain_world(
    repositories: usize,
    (issues, pull_requests, discussions): (usize, usize, usize),
) -> WorldSpec {
    let limits = RateLimitSpec { graphql_points_per_hour: 100_000_000, ..RateLimitSpec::default() };
    WorldSpec {
        repositories,
        issues,
        pull_requests,
        discussions,
        open_pull_request_percent: Some(10),
        comments_per_thread: 0,
        body_bytes: Some(1_024),
        no_archives_or_forks: true,
        latency_ms: 0..=0,
        limits,
        ..WorldSpec::small()
    }
}

impl BenchServer {
    /// Serves a world whose history ended yesterday.
    pub(crate) fn start(spec: WorldSpec) -> Self {
        let spec = WorldSpec { start_ms: MachineClock.now_ms() - DAY_MS, ..spec };
        let github = Arc::new(Mutex::new(SimulatedGitHub::new(&spec, 1)));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let wait = |ms| -> WaitFuture {
            let until = MachineClock.now_ms().saturating_add_unsigned(ms);
            Box::pin(async move { MachineClock.sleep_until(until).await })
        };
        runtime.spawn(serve(Arc::clone(&github), || MachineClock.now_ms(), wait, listener));
        let home = tempfile::tempdir().unwrap();
        Self { github, url, home, runtime, items: None }
    }

    /// Also pulls comments.
    pub(crate) fn with_comments(self) -> Self {
        Self { items: Some("discussions,issues,pull-requests,comments"), ..self }
    }

    /// Runs the program's pull and measures it.
    pub(crate) fn measure_pull(&self, what: &str) -> BenchRow {
        let (requests, points) = self.request_counts();
        let start_ms = MachineClock.now_ms();
        let mut child = self.start_pull();
        let peak_kb = self.runtime.block_on(watch_memory(&mut child));
        let ms = MachineClock.now_ms() - start_ms;
        let status = child.wait().unwrap();
        assert!(status.success(), "{what}: {status}");
        let (now, spent) = self.request_counts();
        BenchRow {
            name: what.to_owned(),
            requests: Some(now - requests),
            points: Some(spent - points),
            items: 0,
            ms,
            peak_kb,
            promise: None,
        }
    }

    /// Returns the number of stored texts.
    pub(crate) fn count_stored(&self) -> u64 {
        let location = DatabaseLocation::File(self.home.path().join("db/acme.db"));
        let store = hw_store::StoreReader::open(&location).unwrap();
        let counts = store.object_counts().unwrap();
        counts.issues + counts.pull_requests + counts.discussions + counts.comments
    }

    fn request_counts(&self) -> (u64, u64) {
        let github = self.github.lock().unwrap();
        (github.request_log().total, github.request_log().points)
    }

    fn start_pull(&self) -> Child {
        let home: &Path = self.home.path();
        Command::new(env!("CARGO_BIN_EXE_highwater"))
            .args(["pull", "-o", "acme", "--json", "--api-url", &self.url, "-m"])
            .arg(home)
            .args(self.items.iter().flat_map(|items| ["-i", items]))
            .env("GITHUB_TOKEN", "simulated")
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }
}

/// Returns the peak memory of a process until it ends, if the system reports it.
async fn watch_memory(child: &mut Child) -> Option<u64> {
    let mut peak = None;
    while child.try_wait().unwrap().is_none() {
        peak = peak_kb(child.id()).max(peak);
        MachineClock.sleep_until(MachineClock.now_ms() + SAMPLE_INTERVAL_MS).await;
    }
    peak
}

fn peak_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

impl BenchRow {
    pub(crate) fn with_items(self, items: u64) -> Self {
        Self { items, ..self }
    }

    pub(crate) fn with_promise(self, text: impl Into<String>, is_kept: bool) -> Self {
        Self { promise: Some(BenchPromise { text: text.into(), is_kept }), ..self }
    }

    pub(crate) fn expect_requests(self, requests: u64) -> Self {
        let is_kept = self.requests.is_some_and(|sent| sent <= requests);
        self.with_promise(format!("≤ {requests} requests"), is_kept)
    }

    pub(crate) fn expect_memory(self, mb: u64) -> Self {
        // without a reading of the system, nothing is claimed
        let Some(kb) = self.peak_kb else { return self };
        self.with_promise(format!("< {mb} MB"), kb < mb * 1_024)
    }
}
