//! Measures polls of 342 accounts on Bluesky, at 50 ms a request.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::app_view_process::{AppViewProcess, BenchAccounts, XrpcCounters};
use crate::process_usage::{EndedProcess, ProcessUsage, wait_for_child};
use crate::promise::{BenchPromise, are_kept, format_promises};
use crate::{BenchOptions, BenchTable};

/// Nearly every account has a page that reaches below the look-back of a day.
const WORLD: BenchAccounts = BenchAccounts {
    accounts: 342,
    least_posts: 8,
    most_posts: 48,
    history_hours: 72,
    latency_ms: 50,
};

/// The requests for all profiles, 25 at a time.
const PROFILE_REQUESTS: u64 = 14;
/// The accounts that post before the last poll.
const ACTIVE_ACCOUNTS: usize = 30;
const MAX_FIRST_MS: u64 = 8_000;
const MAX_QUIET_MS: u64 = 1_000;

const HEADS: &[&str] = &[
    "what",
    "requests",
    "profiles",
    "feeds",
    "later pages",
    "posts",
    "time",
    "CPU",
    "peak",
    "promise",
];

pub(crate) fn measure(_options: &BenchOptions) -> Option<BenchTable> {
    let mut app_view = AppViewProcess::start(&WORLD);
    let home = tempfile::tempdir().unwrap();
    follow_all(&mut app_view, home.path());
    let first = measure_poll(&mut app_view, home.path());
    let quiet = measure_poll(&mut app_view, home.path());
    app_view.publish_posts(ACTIVE_ACCOUNTS);
    let active = measure_poll(&mut app_view, home.path());
    assert_eq!(first.count("initial"), WORLD.accounts as u64, "{}", first.summary);
    assert_eq!(quiet.count("posts"), 0, "{}", quiet.summary);
    assert_eq!(active.count("active"), ACTIVE_ACCOUNTS as u64, "{}", active.summary);
    let rows = [
        ("first poll of 342 accounts", &first, first.first_promises()),
        ("quiet poll", &quiet, quiet.quiet_promises()),
        ("poll after 30 accounts posted", &active, active.active_promises()),
    ];
    Some(BenchTable {
        heads: HEADS,
        is_kept: rows.iter().all(|(_, _, promises)| are_kept(promises)),
        rows: rows.iter().map(|(what, poll, promises)| poll.columns(what, promises)).collect(),
    })
}

/// A poll that has ended.
struct MeasuredPoll {
    wall_ms: u64,
    usage: ProcessUsage,
    requests: XrpcCounters,
    /// The program's own account of the poll.
    summary: Value,
}

impl MeasuredPoll {
    fn count(&self, name: &str) -> u64 {
        self.summary[name].as_u64().unwrap()
    }

    /// Returns the feeds that were read for another reason than a new post: it was the time of the day for it.
    fn daily_reads(&self) -> u64 {
        self.count("feeds") - self.count("active")
    }

    fn first_promises(&self) -> Vec<BenchPromise> {
        let most = WORLD.accounts as u64 + PROFILE_REQUESTS + self.requests.later_pages;
        vec![
            BenchPromise::new("≤ 8 s", self.wall_ms <= MAX_FIRST_MS),
            BenchPromise::new("≤ 342 + 14 requests + later pages", self.requests.total <= most),
        ]
    }

    fn quiet_promises(&self) -> Vec<BenchPromise> {
        let most = PROFILE_REQUESTS + self.daily_reads();
        vec![
            BenchPromise::new("≤ 1 s", self.wall_ms <= MAX_QUIET_MS),
            BenchPromise::new("≤ 14 requests + daily reads", self.requests.total <= most),
            self.daily_reads_promise(),
        ]
    }

    fn active_promises(&self) -> Vec<BenchPromise> {
        let most = PROFILE_REQUESTS + ACTIVE_ACCOUNTS as u64 + self.daily_reads();
        vec![
            BenchPromise::new("≤ 14 + 30 requests + daily reads", self.requests.total <= most),
            self.daily_reads_promise(),
        ]
    }

    /// One feed in four minutes becomes due, and all three polls take seconds.
    fn daily_reads_promise(&self) -> BenchPromise {
        BenchPromise::new("≤ 2 daily reads", self.daily_reads() <= 2)
    }

    fn columns(&self, what: &str, promises: &[BenchPromise]) -> Vec<String> {
        let Self { wall_ms, usage, requests, .. } = self;
        vec![
            what.to_owned(),
            requests.total.to_string(),
            requests.profiles.to_string(),
            requests.feeds.to_string(),
            requests.later_pages.to_string(),
            self.count("posts").to_string(),
            format!("{}.{:02} s", wall_ms / 1_000, wall_ms % 1_000 / 10),
            format!("{}.{:02} s", usage.cpu_ms / 1_000, usage.cpu_ms % 1_000 / 10),
            format!("{} MB", usage.peak_kb / 1_024),
            format_promises(promises),
        ]
    }
}

/// Follows every account of the world, by its handle.
fn follow_all(app_view: &mut AppViewProcess, home: &Path) {
    let file = home.join("accounts.txt");
    std::fs::write(&file, app_view.handles().join("\n")).unwrap();
    let mut add = bluesky_command(app_view.url(), home);
    let added = add.args(["add", "--from-file"]).arg(file).stdout(Stdio::null()).status();
    assert!(added.unwrap().success(), "the accounts could not be added");
}

/// Runs a poll to its end.
fn measure_poll(app_view: &mut AppViewProcess, home: &Path) -> MeasuredPoll {
    let before = app_view.counters();
    let began = Instant::now();
    let mut poll = bluesky_command(app_view.url(), home);
    let mut child = poll.args(["poll", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    // one line, which fits into the pipe
    let mut stdout = child.stdout.take().unwrap();
    let EndedProcess { status, usage } = wait_for_child(child);
    let wall_ms = u64::try_from(began.elapsed().as_millis()).unwrap();
    assert!(status.success(), "the poll failed: {status}");
    let mut summary = String::new();
    stdout.read_to_string(&mut summary).unwrap();
    MeasuredPoll {
        wall_ms,
        usage,
        requests: app_view.counters().since(&before),
        summary: serde_json::from_str(&summary).unwrap(),
    }
}

fn bluesky_command(url: &str, home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    command.arg("bluesky").env("HIGHWATER_HOME", home).env("BLUESKY_URL", url);
    for login in ["BLUESKY_HANDLE", "BLUESKY_APP_PASSWORD"] {
        command.env_remove(login);
    }
    command
}
