//! Several processes that pull into one workspace at once, and one of which is killed again and again.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use hw_sim::{RateLimitSpec, WorldSpec};
use hw_store::{DatabaseLocation, StoreReader};
use hw_sync::clock::{Clock as _, MachineClock};

use crate::fixture::{GitHubFixture, postgres_url, success_stdout};
use crate::mirror_assertions::{assert_comments_match, assert_threads_match};

const ALL_ITEMS: [&str; 2] = ["-i", "repositories,discussions,issues,pull-requests,comments"];
const PROCESSES: usize = 3;
const KILLS: usize = 3;
const LATEST_ANSWER_MS: i64 = 200;
/// Longer than an answer waits to be stored; a busy machine may need more.
const STORING_MS: i64 = 2_000;
/// Six seconds are promised; a busy machine may need more.
const TAKEOVER_DEADLINE: Duration = Duration::from_secs(15);

#[test]
fn shared_pull_into_postgres_survives_the_death_of_its_owner() {
    let schema = format!("shared_{}", std::process::id());
    let location = DatabaseLocation::Postgres { url: postgres_url(), schema: schema.clone() };
    survive_deaths(&location, &["--database", &postgres_url(), "--workspace", &schema]);
}

#[test]
fn shared_pull_into_a_file_survives_the_death_of_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shared.db");
    let location = DatabaseLocation::File(path.clone());
    survive_deaths(&location, &["--database", path.to_str().unwrap()]);
}

/// Kills the process that owns the pull whenever it has sent a few requests, and lets the last ones finish.
fn survive_deaths(location: &DatabaseLocation, workspace: &[&str]) {
    let alone = GitHubFixture::start(busy_world(), 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("alone.db");
    success_stdout(&start(&alone, &["--database", path.to_str().unwrap()]).wait());
    let fixture = GitHubFixture::start(busy_world(), 1);
    let mut running: BTreeMap<u32, RunningPull> = BTreeMap::new();
    let (mut killed, mut in_flight) = (0, 0);
    let mut next_kill = 6;
    while killed < KILLS {
        while running.len() < PROCESSES {
            let pull = start(&fixture, workspace);
            running.insert(pull.0.id(), pull);
        }
        wait_for_requests(&fixture, next_kill);
        let Some(owner) = pull_owner(location) else { break };
        let mut owner = running.remove(&owner).expect("the owner is one of ours");
        owner.0.kill().unwrap();
        owner.0.wait().unwrap();
        killed += 1;
        in_flight += requests_in_flight(&fixture);
        next_kill = fixture.request_count() + 6;
    }
    assert!(killed > 0, "no process was killed, so nothing was proven");
    for (_, pull) in running {
        success_stdout(&pull.wait());
    }
    assert_threads_match(&fixture, workspace);
    assert_comments_match(&fixture, workspace);
    let (requests, needed) = (fixture.request_count(), alone.request_count());
    println!("{killed} kills: {requests} requests, {needed} alone, {in_flight} in flight");
    assert!(requests <= needed + in_flight, "{requests}, {needed} alone, {in_flight} in flight");
}

/// Returns the number of requests without a stored answer: those of the last moments.
fn requests_in_flight(fixture: &GitHubFixture) -> usize {
    let since_ms = MachineClock.now_ms() - LATEST_ANSWER_MS - STORING_MS;
    fixture.with_github(|github| {
        let entries = &github.request_log().entries;
        entries.iter().rev().take_while(|entry| entry.at_ms >= since_ms).count()
    })
}

fn busy_world() -> WorldSpec {
    let limits = RateLimitSpec {
        graphql_points_per_hour: 10_000_000,
        graphql_per_minute: 1_000_000,
        ..RateLimitSpec::default()
    };
    WorldSpec {
        repositories: 12,
        issues: 240,
        pull_requests: 120,
        discussions: 20,
        no_archives_or_forks: true,
        comments_per_thread: 1,
        latency_ms: 100..=LATEST_ANSWER_MS.unsigned_abs(),
        limits,
        ..WorldSpec::small()
    }
}

struct RunningPull(Child);

impl RunningPull {
    /// Waits for its end; nothing it prints fills a pipe.
    fn wait(mut self) -> Output {
        let status = self.0.wait().unwrap();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        self.0.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
        self.0.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
        Output { status, stdout, stderr }
    }
}

impl Drop for RunningPull {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn start(fixture: &GitHubFixture, workspace: &[&str]) -> RunningPull {
    let mut command = fixture.pull_command(workspace);
    command.args(ALL_ITEMS).arg("--json").stdout(Stdio::piped()).stderr(Stdio::piped());
    RunningPull(command.spawn().unwrap())
}

/// Waits until the world has received this many requests. A new owner sends its first one in time.
fn wait_for_requests(fixture: &GitHubFixture, requests: usize) {
    let mut moved = (Instant::now(), fixture.request_count());
    while fixture.request_count() < requests {
        if fixture.request_count() != moved.1 {
            moved = (Instant::now(), fixture.request_count());
        }
        assert!(moved.0.elapsed() < TAKEOVER_DEADLINE, "nobody took over: {} requests", moved.1);
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the process that pulls; none if the pull has ended.
fn pull_owner(location: &DatabaseLocation) -> Option<u32> {
    let busy = StoreReader::open(location).unwrap().busy_workers().unwrap();
    let is_pull =
        |name: &hw_rules::duty::DutyName| matches!(name, hw_rules::duty::DutyName::Pull(_));
    let owner = busy.into_iter().find(|worker| worker.duties.iter().any(is_pull))?;
    owner.worker.split(' ').nth(1)?.parse().ok()
}
