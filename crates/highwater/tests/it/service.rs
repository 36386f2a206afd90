//! The service as a process: start, stop, a second one, a pull beside it, `--once`, and kills.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hw_rules::duty::{DutyName, DutyState};
use hw_sim::WorldSpec;
use hw_store::{DatabaseLocation, StoreReader};
use serde_json::Value;

use crate::fixture::{
    GitHubFixture, TOKEN, failure_output, postgres_url, program_command, stderr_text,
    success_stdout, with_default_hangup,
};
use crate::mirror_assertions::assert_threads_match;

/// Two seconds are promised; a busy machine may need more.
const STOP_DEADLINE: Duration = Duration::from_secs(6);
/// A test whose service does nothing fails after this time.
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn service_stops_in_time_and_loses_nothing() {
    let spec = WorldSpec { issues: 300, latency_ms: 20..=60, ..WorldSpec::small() };
    for signal in ["-INT", "-TERM", "-HUP"] {
        let (fixture, home) = (GitHubFixture::start(spec.clone(), 1), tempfile::tempdir().unwrap());
        let service = RunningService::start(&fixture, &["-m", home.path().to_str().unwrap()]);
        wait_until(|| fixture.request_count() >= 4, "it pulls");
        let began = Instant::now();
        let output = service.stop(signal);
        assert!(began.elapsed() < STOP_DEADLINE, "{signal}: {:?}", began.elapsed());
        assert_eq!(output.status.code(), Some(0), "{signal}: {}", stderr_text(&output));
        let store = StoreReader::open(&database_in(home.path())).unwrap();
        assert_eq!(store.busy_workers().unwrap(), [], "{signal}: its duties are free");
        assert!(store.services().unwrap().is_empty(), "{signal}: it left no row");
        drop(store);
        let again = RunningService::start(&fixture, &["-m", home.path().to_str().unwrap()]);
        wait_until(|| has_pulled(home.path()), "the next one finishes the pull");
        again.stop("-TERM");
        assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
    }
}

#[test]
fn service_logs_to_a_file_and_reports_its_start() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let service = RunningService::start(&fixture, &["-m", home.path().to_str().unwrap()]);
    wait_until(|| has_pulled(home.path()), "it pulls");
    let output = service.stop("-TERM");
    let stderr = stderr_text(&output);
    assert!(
        stderr.starts_with("highwater service: ") && stderr.contains("pulls every 15m"),
        "{stderr}"
    );
    assert!(output.stdout.is_empty(), "stdout only carries results");
    let logs = std::fs::read_dir(home.path().join("logs")).unwrap();
    let log: String =
        logs.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    for text in ["service started", "pulled", "service stopped"] {
        assert!(log.contains(text), "{text:?} is missing: {log}");
    }
    assert!(!log.contains(TOKEN));
}

#[test]
fn service_is_refused_beside_another_one_on_a_file() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let service = RunningService::start(&fixture, &["-m", home.path().to_str().unwrap()]);
    wait_until(|| has_pulled(home.path()), "the first one runs");
    for args in [&[] as &[&str], &["--once"]] {
        let mut command = service_command(&fixture, args);
        let (code, stderr) = failure_output(&command.arg("-m").arg(home.path()).output().unwrap());
        assert_eq!(code, Some(1));
        let first = format!("process {} on ", service.0.id());
        assert!(stderr.contains("a service is running in this workspace"), "{stderr}");
        assert!(stderr.contains(&first) && stderr.contains(", since 20"), "{stderr}");
        assert!(stderr.contains("hint: "), "{stderr}");
    }
    service.stop("-TERM");
}

#[test]
fn service_shares_a_workspace_on_postgres() {
    let (fixture, workspace) =
        (GitHubFixture::start_small(), format!("services_{}", std::process::id()));
    let args = ["--database", &postgres_url(), "--workspace", &workspace];
    let location = DatabaseLocation::Postgres { url: postgres_url(), schema: workspace.clone() };
    let services = [(); 2].map(|()| RunningService::start(&fixture, &args));
    let store = wait_for_store(&location);
    wait_until(|| store.services().is_ok_and(|services| services.len() == 2), "both run");
    wait_until(|| pull_of(&store).is_some_and(|pull| pull.ended_ms.is_some()), "one of them pulls");
    for service in services {
        assert_eq!(service.stop("-TERM").status.code(), Some(0));
    }
    assert_threads_match(&fixture, &args);
}

#[test]
fn pull_beside_a_service_is_performed_by_it() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let service = RunningService::start(&fixture, &["-m", home.path().to_str().unwrap()]);
    wait_until(|| has_pulled(home.path()), "its first pull");
    for args in [&[] as &[&str], &["--reconcile"]] {
        let mut pull = fixture.pull_command(&[&["--no-tui"], args].concat());
        let output = pull.arg("-m").arg(home.path()).output().unwrap();
        let stdout = success_stdout(&output);
        let process = format!("process {} on ", service.0.id());
        assert!(stdout.starts_with(&process) && stdout.contains(" pulled acme from "), "{stdout}");
    }
    let own = fixture.pull_json(home.path(), &["--repo", "pump"]);
    assert_eq!(own["followed"], Value::Null, "the service does not pull a single repository");
    service.stop("-TERM");
}

#[test]
fn service_once_ends_and_reports_what_it_did() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let run_once = |args: &[&str]| {
        let mut command = service_command(&fixture, &[&["--once"], args].concat());
        command.arg("-m").arg(home.path()).output().unwrap()
    };
    let first: Value = serde_json::from_str(&success_stdout(&run_once(&["--json"]))).unwrap();
    assert_eq!((&first["pulls"], &first["failures"]), (&1.into(), &Value::Array(Vec::new())));
    let second = success_stdout(&run_once(&[]));
    assert_eq!(second, "0 watched repositories polled, no accounts to poll, no pull was due\n");
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn service_that_is_killed_continues_when_it_is_started_again() {
    let spec = WorldSpec { issues: 200, latency_ms: 20..=60, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let args = ["-m", home.path().to_str().unwrap()];
    for kills in 1..=3 {
        let mut service = RunningService::start(&fixture, &args);
        let sent = fixture.request_count();
        wait_until(|| fixture.request_count() >= sent + 2 || has_pulled(home.path()), "it pulls");
        service.0.kill().unwrap();
        service.0.wait().unwrap();
        println!("{kills} kills: {} requests", fixture.request_count());
    }
    let service = RunningService::start(&fixture, &args);
    wait_until(|| has_pulled(home.path()), "the pull is finished");
    service.stop("-TERM");
    assert_threads_match(&fixture, &args);
}

#[test]
fn service_is_shown_by_doctor() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let idle = service_findings(home.path(), &fixture);
    assert_eq!(idle, [] as [String; 0], "there is no database yet");
    let service = RunningService::start(&fixture, &["-m", home.path().to_str().unwrap()]);
    wait_until(|| has_pulled(home.path()), "it pulls");
    let running = service_findings(home.path(), &fixture);
    assert!(running[0].contains("has been running since"), "{running:?}");
    assert!(running[1].starts_with("next: pull from 127.0.0.1"), "{running:?}");
    service.stop("-TERM");
    assert_eq!(service_findings(home.path(), &fixture), ["no service is running"]);
}

/// Returns what `doctor` reports about the service.
fn service_findings(home: &Path, fixture: &GitHubFixture) -> Vec<String> {
    let output = fixture.doctor_command(&["store", "--json", "-m"]).arg(home).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let findings = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_service = findings.filter(|finding| finding["check"] == "service");
    of_service.map(|finding| finding["detail"].as_str().unwrap().to_owned()).collect()
}

/// A service that ends with the test.
struct RunningService(Child);

impl RunningService {
    fn start(fixture: &GitHubFixture, workspace: &[&str]) -> Self {
        let mut command = with_default_hangup(&service_command(fixture, workspace));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self(child)
    }

    /// Sends a signal, and returns what the service printed.
    fn stop(mut self, signal: &str) -> Output {
        let process = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
        let status = self.0.wait().unwrap();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        std::io::Read::read_to_end(&mut self.0.stdout.take().unwrap(), &mut stdout).unwrap();
        std::io::Read::read_to_end(&mut self.0.stderr.take().unwrap(), &mut stderr).unwrap();
        Output { status, stdout, stderr }
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn service_command(fixture: &GitHubFixture, args: &[&str]) -> Command {
    let mut command = program_command(&["service"]);
    command.env("GITHUB_API_URL", fixture.url()).env("GITHUB_TOKEN", TOKEN);
    command.env("ORGANIZATION", "acme").args(args);
    command
}

fn database_in(home: &Path) -> DatabaseLocation {
    DatabaseLocation::File(home.join("db").join("acme.db"))
}

fn pull_of(store: &StoreReader) -> Option<DutyState> {
    let duties = store.duties().ok()?;
    duties.into_iter().find(|duty| matches!(duty.name, DutyName::Pull(_)))
}

/// Returns true once a pull has ended without an error.
fn has_pulled(home: &Path) -> bool {
    let store = StoreReader::open(&database_in(home));
    let pull = store.ok().and_then(|store| pull_of(&store));
    pull.is_some_and(|pull| pull.ended_ms.is_some() && pull.last_error.is_none())
}

fn wait_for_store(location: &DatabaseLocation) -> StoreReader {
    wait_until(|| StoreReader::open(location).is_ok(), "the database exists");
    StoreReader::open(location).unwrap()
}

fn wait_until(is_done: impl Fn() -> bool, what: &str) {
    let began = Instant::now();
    while !is_done() {
        assert!(began.elapsed() < DEADLINE, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
