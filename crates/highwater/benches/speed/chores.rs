//! Measures chores: a repository with 150,000 texts is renamed, removed and cleared, and the index is rebuilt, while another
//! process writes small transactions ten times a second and a reader searches.

use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hw_rules::principal::Principal;
use hw_rules::rate_limit::ApiKind;
use hw_store::{
    DatabaseLocation, SearchEngine, SearchRequest, StoreReader, StoreWriter, Workspace,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::process_usage::wait_for_child;
use crate::program::BenchProgram;
use crate::promise::{BenchPromise, are_kept, format_promises};
use crate::sim_process::{BenchWorld, SimProcess};
use crate::{BenchOptions, BenchTable};

/// One repository with 150,000 texts.
const WORLD: BenchWorld = BenchWorld {
    repositories: 1,
    issues: 75_000,
    pull_requests: 70_000,
    discussions: 5_000,
    comments_per_thread: 0,
    body_bytes: 1_024,
    latency_ms: 0,
};

const WRITE_INTERVAL: Duration = Duration::from_millis(100);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The chores that are done before the first run is stopped, as time.
const BEFORE_STOP: Duration = Duration::from_secs(3);
const MAX_WAIT_MS: f64 = 250.0;
const MAX_STOP_MS: f64 = 2_000.0;

const HEADS: &[&str] = &[
    "chore",
    "time",
    "writes",
    "wait p50",
    "p99",
    "max",
    "search p50",
    "p99",
    "Ctrl-C",
    "promise",
];

/// A decision that makes work on all texts of the repository.
struct ChoreScenario {
    name: &'static str,
    /// The command that changes the simulator's world.
    command: &'static str,
    arguments: &'static [&'static str],
}

const SCENARIOS: [ChoreScenario; 4] = [
    ChoreScenario { name: "new index", command: "outdate", arguments: &[] },
    ChoreScenario { name: "rename", command: "rename", arguments: &[] },
    ChoreScenario { name: "clear (-f)", command: "count", arguments: &["-f"] },
    ChoreScenario { name: "remove", command: "delete", arguments: &["--allow-mass-removal"] },
];

pub(crate) fn measure(_options: &BenchOptions) -> Option<BenchTable> {
    let mut simulator = SimProcess::start(&WORLD);
    // removing the only repository would look like a fault
    simulator.send_command("add repository");
    let program = BenchProgram::new(&simulator.url);
    program.measure_pull(&[]);
    eprintln!("pulled {} texts", program.count_stored());
    let filled = program.home().join("filled.db");
    std::fs::copy(program.database_file(), &filled).unwrap();
    let (mut rows, mut is_kept) = (Vec::new(), true);
    for scenario in &SCENARIOS {
        program.replace_database(&filled);
        let measured = measure_scenario(&program, &mut simulator, scenario);
        is_kept &= are_kept(&measured.promises());
        rows.push(measured.columns(scenario.name));
        eprintln!("measured {}: {}", scenario.name, rows[rows.len() - 1].join("; "));
    }
    Some(BenchTable { heads: HEADS, rows, is_kept })
}

/// The measurement of one scenario.
struct ChoreTimes {
    elapsed: Duration,
    waits_ms: Vec<f64>,
    searches_ms: Vec<f64>,
    stop_ms: f64,
    /// The chores that the stopped run left are less than those that it began with.
    has_continued: bool,
}

impl ChoreTimes {
    fn promises(&self) -> [BenchPromise; 3] {
        [
            BenchPromise::new("p99 ≤ 250 ms", quantile(&self.waits_ms, 0.99) <= MAX_WAIT_MS),
            BenchPromise::new("Ctrl-C ≤ 2 s", self.stop_ms <= MAX_STOP_MS),
            BenchPromise::new("goes on where it was", self.has_continued),
        ]
    }

    fn columns(&self, name: &str) -> Vec<String> {
        vec![
            name.to_owned(),
            format!("{:.1} s", self.elapsed.as_secs_f64()),
            self.waits_ms.len().to_string(),
            format!("{:.0} ms", quantile(&self.waits_ms, 0.5)),
            format!("{:.0} ms", quantile(&self.waits_ms, 0.99)),
            format!("{:.0} ms", quantile(&self.waits_ms, 1.0)),
            format!("{:.0} ms", quantile(&self.searches_ms, 0.5)),
            format!("{:.0} ms", quantile(&self.searches_ms, 0.99)),
            format!("{:.0} ms", self.stop_ms),
            format_promises(&self.promises()),
        ]
    }
}

fn measure_scenario(
    program: &BenchProgram,
    simulator: &mut SimProcess,
    scenario: &ChoreScenario,
) -> ChoreTimes {
    if scenario.command == "outdate" {
        outdate_index(&program.database_file());
    } else {
        simulator.send_command(scenario.command);
    }
    let location = program.location();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_while(&location, &is_over));
        let reader = scope.spawn(|| search_while(&location, &is_over));
        let began = Instant::now();
        let first = program.start_pull(scenario.arguments);
        wait_for_chores(&location, |left| left > 0);
        thread::sleep(BEFORE_STOP);
        let stop_ms = interrupt(first);
        let left = read_progress(&program.database_file());
        // `-f` would decide to clear everything once more
        let second = program.start_pull(&[]);
        wait_for_chores(&location, |left| left == 0);
        let elapsed = began.elapsed();
        interrupt(second);
        is_over.store(true, Ordering::Relaxed);
        ChoreTimes {
            elapsed,
            waits_ms: writer.join().unwrap(),
            searches_ms: reader.join().unwrap(),
            stop_ms,
            has_continued: left.is_some(),
        }
    })
}

/// Makes the next pull rebuild the index, as a new version of the program would.
fn outdate_index(path: &Path) {
    let database = rusqlite::Connection::open(path).unwrap();
    database.execute("update schema_version set search_index = search_index - 1", []).unwrap();
}

/// Returns the position of the oldest chore; none if no chore is left, or none of its texts is done.
fn read_progress(path: &Path) -> Option<i64> {
    let database = rusqlite::Connection::open(path).unwrap();
    let position = database.query_row(
        "select after_id from chores where after_id > -9223372036854775808 or stage > 0 limit 1",
        [],
        |row| row.get(0),
    );
    position.ok()
}

/// Sends Ctrl-C, and returns the time until the process has ended.
fn interrupt(child: Child) -> f64 {
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let began = Instant::now();
    kill_process(pid, Signal::INT).unwrap();
    wait_for_child(child);
    began.elapsed().as_secs_f64() * 1_000.0
}

fn wait_for_chores(location: &DatabaseLocation, is_met: impl Fn(u64) -> bool) {
    let reader = StoreReader::open(location).unwrap();
    while !is_met(reader.count_chores().unwrap()) {
        thread::sleep(POLL_INTERVAL);
    }
}

/// Writes a small transaction ten times a second, and returns how long each of them took.
fn write_while(location: &DatabaseLocation, is_over: &AtomicBool) -> Vec<f64> {
    let store = StoreWriter::open(location).unwrap();
    let principal = Principal::from_user("bench", 0);
    let mut waits = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        store.reserve_requests(&principal, ApiKind::Rest, 1, 0, i64::MAX / 2).unwrap();
        waits.push(began.elapsed().as_secs_f64() * 1_000.0);
        thread::sleep(WRITE_INTERVAL.saturating_sub(began.elapsed()));
    }
    waits
}

/// Searches without a pause, and returns how long each search took.
fn search_while(location: &DatabaseLocation, is_over: &AtomicBool) -> Vec<f64> {
    let reader = StoreReader::open(location).unwrap();
    let engine = SearchEngine::new(Workspace::from_store(reader));
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let began = Instant::now();
        engine.search(&SearchRequest::new("pump leaks")).unwrap();
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
        thread::sleep(POLL_INTERVAL);
    }
    times
}

/// Returns the value below which this share of the values lies.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a rank is small and not negative"
)]
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or_default()
}
