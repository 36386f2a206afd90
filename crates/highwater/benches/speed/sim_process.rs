//! The simulated GitHub in a process of its own, so that its processor time and its memory are not the program's.
//!
//! The bench starts itself once more as that process. It prints its URL, answers each line of stdin with a line of JSON, and
//! exits at the end of stdin.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};

use hw_sim::server::{SimulatedService, WaitFuture, serve};
use hw_sim::{RateLimitSpec, SimulatedGitHub, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::process_usage::{ProcessUsage, read_usage};

/// The first argument of the bench when it runs as the simulator.
pub(crate) const SERVE_FLAG: &str = "--serve-world";

const DAY_MS: i64 = 86_400_000;

/// A world of plain repositories.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BenchWorld {
    pub(crate) repositories: usize,
    pub(crate) issues: usize,
    pub(crate) pull_requests: usize,
    pub(crate) discussions: usize,
    pub(crate) comments_per_thread: usize,
    pub(crate) body_bytes: usize,
    /// The time that every response takes.
    pub(crate) latency_ms: u64,
}

/// The share of the pull requests that are open.
pub(crate) const OPEN_PULL_REQUEST_PERCENT: u8 = 10;

/// The simulator's counters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimCounters {
    pub(crate) requests: u64,
    pub(crate) points: u64,
    pub(crate) usage: ProcessUsage,
}

/// A running simulator, which ends when it is dropped.
pub(crate) struct SimProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
}

impl SimProcess {
    pub(crate) fn start(world: &BenchWorld) -> Self {
        Self::spawn(SERVE_FLAG, &world.to_numbers())
    }

    /// Starts the bench with this flag, as the simulator of a world that these numbers describe.
    pub(crate) fn spawn(flag: &str, numbers: &[usize]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(flag)
            .args(numbers.iter().map(usize::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut process = Self { child, stdin, stdout, url: String::new() };
        process.url = process.read_line()["url"].as_str().unwrap().to_owned();
        process
    }

    /// Runs a command in the simulator's world, and returns its counters after that.
    pub(crate) fn send_command(&mut self, command: &str) -> SimCounters {
        let counters = self.send_line(command);
        SimCounters {
            requests: counters["requests"].as_u64().unwrap(),
            points: counters["points"].as_u64().unwrap(),
            usage: read_usage(self.child.id()).unwrap(),
        }
    }

    /// Runs a command, and returns the simulator's answer.
    pub(crate) fn send_line(&mut self, command: &str) -> Value {
        let stdin = self.stdin.as_mut().expect("stdin stays open until the simulator is dropped");
        writeln!(stdin, "{command}").unwrap();
        self.read_line()
    }

    pub(crate) fn counters(&mut self) -> SimCounters {
        self.send_command("count")
    }

    fn read_line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for SimProcess {
    fn drop(&mut self) {
        self.stdin = None;
        self.child.wait().unwrap();
    }
}

impl BenchWorld {
    fn to_numbers(self) -> [usize; 7] {
        let latency = usize::try_from(self.latency_ms).unwrap();
        [
            self.repositories,
            self.issues,
            self.pull_requests,
            self.discussions,
            self.comments_per_thread,
            self.body_bytes,
            latency,
        ]
    }

    fn from_numbers(numbers: [usize; 7]) -> Self {
        let [repositories, issues, pull_requests, discussions, comments, body_bytes, latency] =
            numbers;
        Self {
            repositories,
            issues,
            pull_requests,
            discussions,
            comments_per_thread: comments,
            body_bytes,
            latency_ms: latency as u64,
        }
    }

    fn to_spec(self) -> WorldSpec {
        let limits = RateLimitSpec {
            graphql_points_per_hour: 100_000_000,
            core_per_hour: 100_000_000,
            ..RateLimitSpec::default()
        };
        WorldSpec {
            start_ms: MachineClock.now_ms() - DAY_MS,
            repositories: self.repositories,
            issues: self.issues,
            pull_requests: self.pull_requests,
            discussions: self.discussions,
            open_pull_request_percent: Some(OPEN_PULL_REQUEST_PERCENT),
            comments_per_thread: self.comments_per_thread,
            body_bytes: Some(self.body_bytes),
            no_archives_or_forks: true,
            latency_ms: self.latency_ms..=self.latency_ms,
            limits,
            ..WorldSpec::small()
        }
    }
}

/// Runs as the simulator, if the arguments say so; returns false otherwise.
pub(crate) fn serve_if_requested() -> bool {
    let Some(numbers) = requested_numbers(SERVE_FLAG) else { return false };
    let spec = BenchWorld::from_numbers(numbers.try_into().unwrap()).to_spec();
    serve_service(SimulatedGitHub::new(&spec, 1), run_command);
    true
}

/// Returns the numbers after this flag, if it is the first argument.
pub(crate) fn requested_numbers(flag: &str) -> Option<Vec<usize>> {
    let mut args = std::env::args().skip(1);
    let is_requested = args.next().is_some_and(|first| first == flag);
    is_requested.then(|| args.map_while(|number| number.parse().ok()).collect())
}

/// Serves a service on a loopback port, and runs the commands that it reads, until the end of stdin.
pub(crate) fn serve_service<S: SimulatedService + 'static>(
    service: S,
    run_command: impl Fn(&mut S, &str) -> Value,
) {
    let service = Arc::new(Mutex::new(service));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    print_line(&json!({ "url": format!("http://{}", listener.local_addr().unwrap()) }));
    runtime.spawn(serve(Arc::clone(&service), || MachineClock.now_ms(), wait_for, listener));
    for command in std::io::stdin().lock().lines() {
        let answer = run_command(&mut service.lock().unwrap(), &command.unwrap());
        print_line(&answer);
    }
    runtime.shutdown_background();
}

fn wait_for(ms: u64) -> WaitFuture {
    let until = MachineClock.now_ms().saturating_add_unsigned(ms);
    Box::pin(async move { MachineClock.sleep_until(until).await })
}

fn run_command(github: &mut SimulatedGitHub, command: &str) -> Value {
    let now_ms = MachineClock.now_ms();
    let repository = github.world().truth().repositories.keys().next().copied();
    let world = github.world_mut();
    match (command, repository) {
        ("add repository", _) => {
            world.create_repository("small", now_ms - DAY_MS);
        }
        ("rename", Some(id)) => world.rename_repository(id, "renamed", now_ms),
        ("delete", Some(id)) => world.delete_repository(id, now_ms),
        _ => {}
    }
    let log = github.request_log();
    json!({ "requests": log.total, "points": log.points })
}

fn print_line(value: &Value) {
    println!("{value}");
}
