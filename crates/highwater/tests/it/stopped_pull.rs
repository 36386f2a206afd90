//! A pull that the user stops at any point: it ends soon, reports it once, releases its lease, and the next pull
//! finishes the work.
//!
//! `HIGHWATER_STOPS` is the number of stops for each database; the seed of each is its number.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use hw_sim::{ApiFault, WorldSpec};
use hw_store::{DatabaseLocation, StoreReader};
use hw_sync::clock::{Clock as _, MachineClock};
use rusqlite::Connection;

use crate::fixture::{
    GitHubFixture, postgres_url, pull_small_world, run_seeded, success_stdout, with_default_hangup,
    with_env_option,
};
use crate::mirror_assertions::assert_threads_match;

/// The number of pulls that are stopped in parallel.
const PARALLEL_STOPS: usize = 5;
/// Two seconds are promised; a busy machine may need more.
const DEADLINE_MS: i64 = 6_000;

#[test]
fn stopped_pull_into_a_file_is_finished_by_the_next_one() {
    survive_stops(|seed, folder| {
        DatabaseLocation::File(format!("{folder}/stopped-{seed}.db").into())
    });
}

#[test]
fn stopped_pull_into_postgres_is_finished_by_the_next_one() {
    let url = postgres_url();
    survive_stops(|seed, _| {
        let schema = format!("stopped_{}_{seed}", std::process::id());
        DatabaseLocation::Postgres { url: url.clone(), schema }
    });
}

/// Stops first pulls at seeded points, several in parallel.
fn survive_stops(location: impl Fn(u64, &str) -> DatabaseLocation + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let fixtures: Vec<GitHubFixture> =
        (0..PARALLEL_STOPS).map(|_| GitHubFixture::start(large_world(), 1)).collect();
    let whole = finish_pull(&fixtures[0], &location(0, folder));
    let stopped = run_seeded("stops", &fixtures, stop_count(), |fixture, seed| {
        survive_a_stop(fixture, &location(seed, folder), whole, seed)
    });
    assert!(stopped > 0, "every pull had ended before it was stopped, so nothing was proven");
}

/// Stops a pull, checks how it ended, and lets another one finish it; returns whether the stop came before the end.
fn survive_a_stop(
    fixture: &GitHubFixture,
    location: &DatabaseLocation,
    whole: usize,
    seed: u64,
) -> bool {
    let mut rng = fastrand::Rng::with_seed(seed);
    let after = rng.usize(1..=whole);
    let signal = if rng.bool() { "-INT" } else { "-TERM" };
    let mut pull = start_pull(fixture, &location_arguments(location));
    wait_for_requests(fixture, &mut pull, fixture.request_count() + after);
    // at a random time between this request and the next
    std::thread::sleep(Duration::from_micros(rng.u64(0..8_000)));
    println!("seed {seed}: {signal} after {after} of {whole} requests");
    let (output, took_ms) = end_with_signal(pull, signal);
    let was_stopped = output.status.code() != Some(0);
    if was_stopped {
        assert_interrupted(&output, took_ms);
        match StoreReader::open(location) {
            // a pull that is stopped before it stores anything leaves no database
            Err(hw_store::StoreError::NoDatabase(_)) => {}
            store => {
                let busy = store.unwrap().busy_workers().unwrap();
                assert_eq!(busy, [], "seed {seed}: the duties were not given back");
            }
        }
    }
    finish_pull(fixture, location);
    assert_threads_match(fixture, &as_strs(&location_arguments(location)));
    was_stopped
}

#[test]
fn stopped_pull_ends_while_it_waits_for_a_limit() {
    for fault in [ApiFault::SecondaryWithRetryAfter, ApiFault::PrimaryExhausted] {
        let (fixture, home) = pull_small_world();
        fixture.with_github(|github| github.arm_fault(fault, 1));
        let mut command = fixture.pull_command(&["-f", "-m", home.path().to_str().unwrap()]);
        let mut pull = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(pull.stderr.take().unwrap()).lines();
        let limited = lines.find(|line| line.as_ref().unwrap().contains("rate limit: "));
        assert!(limited.is_some(), "{fault:?}: the pull waits");
        let (output, took_ms) = end_with_signal(pull, "-INT");
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(rest, ["Stopped. Everything done so far is saved."]);
        assert_eq!(output.status.code(), Some(130));
        assert!(took_ms < DEADLINE_MS, "{took_ms}");
    }
}

#[test]
fn stopped_pull_ends_while_no_answer_comes() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
        fixture.with_github(|github| github.arm_fault(ApiFault::Stall, 100));
        let mut pull = start_pull(&fixture, &["-m".to_owned(), home.path().display().to_string()]);
        wait_for_requests(&fixture, &mut pull, 1);
        let (output, took_ms) = end_with_signal(pull, signal);
        assert_interrupted(&output, took_ms);
    }
}

/// `nohup` makes a process ignore hangups, so that it continues when its terminal is closed.
#[cfg(target_os = "linux")]
#[test]
fn stopped_pull_ignores_a_hangup_that_was_ignored_from_the_start() {
    for (option, is_ignored) in [("--ignore-signal=HUP", true), ("--default-signal=HUP", false)] {
        let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
        fixture.with_github(|github| github.arm_fault(ApiFault::Stall, 100));
        let pull = fixture.pull_command(&["-m", home.path().to_str().unwrap()]);
        let mut command = with_env_option(&pull, option);
        let mut pull = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_requests(&fixture, &mut pull, 1);
        let sets = ["SigIgn", "SigCgt"].map(|name| has_hangup(&pull, name));
        pull.kill().unwrap();
        pull.wait().unwrap();
        assert_eq!(sets, [is_ignored, !is_ignored], "{option}");
    }
}

/// Decides whether SIGHUP is in one of a process's signal sets.
#[cfg(target_os = "linux")]
fn has_hangup(process: &Child, set: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(set)).unwrap();
    let mask = u64::from_str_radix(line.trim_start_matches([':', '\t']), 16).unwrap();
    mask & 1 == 1
}

#[test]
fn stopped_pull_ends_while_it_waits_for_the_database() {
    let (fixture, folder) = (GitHubFixture::start(large_world(), 1), tempfile::tempdir().unwrap());
    let file = folder.path().join("locked.db");
    let (pull, lock) = start_locked_out(&fixture, &file);
    let (output, took_ms) = end_with_signal(pull, "-INT");
    assert_interrupted(&output, took_ms);
    drop(lock);
    let location = DatabaseLocation::File(file);
    finish_pull(&fixture, &location);
    assert_threads_match(&fixture, &as_strs(&location_arguments(&location)));
}

/// The first Ctrl-C waits for the work in progress, which never ends here; the second one does not wait. A busy
/// machine may be late once or twice.
#[test]
fn stopped_pull_ends_at_once_on_a_second_ctrl_c() {
    let times: Vec<i64> = (0..3).map(|_| time_to_end_by_two()).collect();
    assert!(times.iter().any(|ms| *ms < 1_000), "{times:?}: no sooner than after one Ctrl-C");
}

/// Returns how long a blocked pull takes to end after the second Ctrl-C.
fn time_to_end_by_two() -> i64 {
    let (fixture, folder) = (GitHubFixture::start(large_world(), 1), tempfile::tempdir().unwrap());
    let (mut pull, _lock) = start_locked_out(&fixture, &folder.path().join("locked.db"));
    send_signal("-INT", &pull);
    std::thread::sleep(Duration::from_millis(100));
    assert!(pull.try_wait().unwrap().is_none(), "the first Ctrl-C does not end it at once");
    let (output, took_ms) = end_with_signal(pull, "-INT");
    assert_interrupted(&output, took_ms);
    took_ms
}

fn assert_interrupted(output: &Output, took_ms: i64) {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert_eq!(stderr.matches("Stopped. ").count(), 1, "{stderr}");
    assert!(stderr.ends_with("Stopped. Everything done so far is saved.\n"), "{stderr}");
    assert!(took_ms < DEADLINE_MS, "it took {took_ms} ms: {stderr}");
}

/// Starts a pull and locks its database meanwhile; returns both.
fn start_locked_out(fixture: &GitHubFixture, file: &std::path::Path) -> (Child, Connection) {
    let mut pull =
        start_pull(fixture, &location_arguments(&DatabaseLocation::File(file.to_owned())));
    wait_for_requests(fixture, &mut pull, fixture.request_count() + 3);
    let lock = Connection::open(file).unwrap();
    lock.busy_timeout(Duration::from_secs(10)).unwrap();
    lock.execute_batch("begin immediate").unwrap();
    let mut requests = 0;
    while requests < fixture.request_count() {
        requests = fixture.request_count();
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(pull.try_wait().unwrap().is_none(), "the pull waits for the database");
    (pull, lock)
}

fn large_world() -> WorldSpec {
    WorldSpec {
        repositories: 6,
        issues: 230,
        pull_requests: 120,
        discussions: 20,
        no_archives_or_forks: true,
        comments_per_thread: 0,
        latency_ms: 1..=5,
        ..WorldSpec::small()
    }
}

fn stop_count() -> u64 {
    let text = std::env::var("HIGHWATER_STOPS").unwrap_or_else(|_| "10".to_owned());
    text.parse().expect("HIGHWATER_STOPS is not a number")
}

/// Runs a pull to its end, and returns its number of requests.
fn finish_pull(fixture: &GitHubFixture, location: &DatabaseLocation) -> usize {
    let began = fixture.request_count();
    success_stdout(
        &fixture
            .pull_command(&as_strs(&location_arguments(location)))
            .arg("--json")
            .output()
            .unwrap(),
    );
    fixture.request_count() - began
}

fn start_pull(fixture: &GitHubFixture, args: &[String]) -> Child {
    let mut command = with_default_hangup(&fixture.pull_command(&as_strs(args)));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the world has received this many requests, or the pull has ended.
fn wait_for_requests(fixture: &GitHubFixture, pull: &mut Child, requests: usize) {
    while fixture.request_count() < requests && pull.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}

/// Sends a signal, and returns the output and the time until the end.
fn end_with_signal(pull: Child, signal: &str) -> (Output, i64) {
    let start_ms = MachineClock.now_ms();
    send_signal(signal, &pull);
    let output = pull.wait_with_output().unwrap();
    (output, MachineClock.now_ms() - start_ms)
}

/// Sends a signal; a pull that has already ended ignores it.
fn send_signal(signal: &str, pull: &Child) {
    Command::new("kill").args([signal, &pull.id().to_string()]).output().unwrap();
}

fn location_arguments(location: &DatabaseLocation) -> Vec<String> {
    let words: Vec<&str> = match location {
        DatabaseLocation::Memory => vec![],
        DatabaseLocation::File(path) => vec!["--database", path.to_str().unwrap()],
        DatabaseLocation::Postgres { url, schema } => {
            vec!["--database", url, "--workspace", schema]
        }
    };
    words.into_iter().map(str::to_owned).collect()
}

fn as_strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
