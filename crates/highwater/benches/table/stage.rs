//! A simulated GitHub on a loopback port, and the program that pulls from it, watched.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use hw_sim::server::{Wait, serve};
use hw_sim::{GitHub, Limits, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::Row;

const DAY_MS: i64 = 86_400_000;
/// How often the program's memory is looked at.
const LOOK_MS: i64 = 20;

pub(crate) struct Stage {
    pub(crate) github: Arc<Mutex<GitHub>>,
    url: String,
    home: tempfile::TempDir,
    runtime: Runtime,
    /// What is pulled; the usual without a word.
    items: Option<&'static str>,
}

/// Plain repositories with bodies of a kilobyte, nobody writing, and hours that are never used up.
pub(crate) fn world(
    repositories: usize,
    (issues, pull_requests, discussions): (usize, usize, usize),
) -> WorldSpec {
    let limits = Limits { graphql_points_per_hour: 100_000_000, ..Limits::default() };
    WorldSpec {
        repositories,
        issues,
        pull_requests,
        discussions,
        comments_per_thread: 0,
        body_bytes: Some(1_024),
        plain: true,
        latency_ms: 0..=0,
        limits,
        ..WorldSpec::small()
    }
}

impl Stage {
    /// Serves a world whose history ended yesterday.
    pub(crate) fn set(spec: WorldSpec) -> Self {
        let spec = WorldSpec { start_ms: MachineClock.now_ms() - DAY_MS, ..spec };
        let github = Arc::new(Mutex::new(GitHub::new(&spec, 1)));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let wait = |ms| -> Wait {
            let until = MachineClock.now_ms().saturating_add_unsigned(ms);
            Box::pin(async move { MachineClock.sleep_until(until).await })
        };
        runtime.spawn(serve(Arc::clone(&github), || MachineClock.now_ms(), wait, listener));
        Self { github, url, home: tempfile::tempdir().unwrap(), runtime, items: None }
    }

    /// The same, with what is said in the threads.
    pub(crate) fn with_comments(self) -> Self {
        Self { items: Some("discussions,issues,pull-requests,comments"), ..self }
    }

    /// A pull by the program, measured.
    pub(crate) fn pull(&self, what: &str) -> Row {
        let (requests, points) = self.asked();
        let start_ms = MachineClock.now_ms();
        let mut child = self.start();
        let peak_kb = self.runtime.block_on(watch(&mut child));
        let ms = MachineClock.now_ms() - start_ms;
        let status = child.wait().unwrap();
        assert!(status.success(), "{what}: {status}");
        let (now, spent) = self.asked();
        Row {
            what: what.to_owned(),
            requests: Some(now - requests),
            points: Some(spent - points),
            items: 0,
            ms,
            peak_kb,
            promise: None,
        }
    }

    /// How many texts are held.
    pub(crate) fn held(&self) -> u64 {
        let path = self.home.path().join("db/acme.db");
        let store = hw_store::Store::open_reader(&hw_store::Place::File(path)).unwrap();
        let counts = store.counts().unwrap();
        counts.issues + counts.pull_requests + counts.discussions + counts.comments
    }

    fn asked(&self) -> (u64, u64) {
        let github = self.github.lock().unwrap();
        (github.requests().total, github.requests().points)
    }

    fn start(&self) -> Child {
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

/// The most memory a process held until it ended, as far as the system tells.
async fn watch(child: &mut Child) -> Option<u64> {
    let mut peak = None;
    while child.try_wait().unwrap().is_none() {
        peak = peak_kb(child.id()).max(peak);
        MachineClock.sleep_until(MachineClock.now_ms() + LOOK_MS).await;
    }
    peak
}

fn peak_kb(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

impl Row {
    pub(crate) fn of(self, items: u64) -> Self {
        Self { items, ..self }
    }

    pub(crate) fn promises(self, told: impl Into<String>, kept: bool) -> Self {
        Self { promise: Some((told.into(), kept)), ..self }
    }

    pub(crate) fn at_most(self, requests: u64) -> Self {
        let kept = self.requests.is_some_and(|asked| asked <= requests);
        self.promises(format!("≤ {requests} requests"), kept)
    }

    pub(crate) fn within_mb(self, mb: u64) -> Self {
        // where the system does not tell, nothing is claimed
        let Some(kb) = self.peak_kb else { return self };
        self.promises(format!("< {mb} MB"), kb < mb * 1_024)
    }
}
