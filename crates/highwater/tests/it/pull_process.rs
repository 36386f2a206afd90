//! A pull as a process: its lease, signals, files, token and database.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use hw_sim::WorldSpec;

use crate::fixture::{
    GitHubFixture, TOKEN, failure_output, file_mode, postgres_url, program_command, success_stdout,
};
use crate::mirror_assertions::assert_threads_match;

#[test]
fn pull_beside_another_follows_it_and_reports_its_end() {
    let spec = WorldSpec { latency_ms: 700..=700, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let mut first = start_pull(&fixture, home.path(), 1);
    let output = fixture.pull_command(&["--no-tui", "-m"]).arg(home.path()).output().unwrap();
    let process = format!("process {} on ", first.0.id());
    let stdout = success_stdout(&output);
    assert!(stdout.starts_with(&process) && stdout.contains(" pulled acme from "), "{stdout}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains(&process) && stderr.contains(" is already pulling; following it"),
        "{stderr}"
    );
    assert!(first.0.wait().unwrap().success());
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn pull_that_was_stopped_keeps_what_it_read_and_the_next_one_finishes() {
    let spec =
        WorldSpec { repositories: 1, issues: 500, latency_ms: 100..=100, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    assert_eq!(stop_with_signal("-INT", &mut start_pull(&fixture, home.path(), 5)), Some(130));
    let output = program_command(&["list", "issues", "-m"]).arg(home.path()).output().unwrap();
    assert!((100..500).contains(&success_stdout(&output).lines().count()));
    let warned = String::from_utf8(output.stderr).unwrap();
    assert_eq!(warned, "warning: the issues of acme/pump are not complete yet\n");
    fixture.pull_json(home.path(), &[]);
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[cfg(unix)]
#[test]
fn pull_creates_files_for_their_owner_only() {
    let (fixture, folder) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let home = folder.path().join("new");
    fixture.pull_json(&home, &[]);
    assert_eq!((file_mode(&home), file_mode(&home.join("db"))), (0o700, 0o700));
    for entry in std::fs::read_dir(home.join("db")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(file_mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn pull_writes_the_token_to_no_output_and_no_file() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let mut command = fixture.pull_command(&["-t", TOKEN, "-m"]);
    let output = command.arg(home.path()).env("HIGHWATER_LOG", "trace").output().unwrap();
    success_stdout(&output);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("warning: other users on this machine can see a token"), "{stderr}");
    assert!(stderr.contains("TRACE"), "logging was on, so there was something to search");
    assert!(!stderr.contains(TOKEN) && !String::from_utf8(output.stdout).unwrap().contains(TOKEN));
    for entry in std::fs::read_dir(home.path().join("db")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes()));
    }
}

#[test]
fn pull_into_postgres_stores_the_same() {
    let (fixture, url) = (GitHubFixture::start_small(), postgres_url());
    let workspace = format!("cli_{}", std::process::id());
    let args = ["--database", &url, "--workspace", &workspace];
    success_stdout(&fixture.pull_command(&args).output().unwrap());
    assert_threads_match(&fixture, &args);
    let (code, stderr) = failure_output(
        &fixture
            .pull_command(&["--database", "postgres://nobody:s3cret@127.0.0.1:1/x"])
            .output()
            .unwrap(),
    );
    assert_eq!(code, Some(1));
    let expected = "caused by: PostgreSQL is unreachable: Connection refused\nhint: check that the server is running";
    assert!(stderr.contains(expected) && !stderr.contains("s3cret"), "{stderr}");
}

/// A pull that waits for an answer; it ends with the test.
struct RunningPull(Child);

impl Drop for RunningPull {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts a pull, and waits until it has sent this many requests.
fn start_pull(fixture: &GitHubFixture, home: &Path, requests: usize) -> RunningPull {
    let mut command = fixture.pull_command(&["-m"]);
    let child = command.arg(home).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let child = RunningPull(child);
    while fixture.request_count() < requests {
        std::thread::yield_now();
    }
    child
}

/// Sends a signal, and returns the exit code.
fn stop_with_signal(signal: &str, running: &mut RunningPull) -> Option<i32> {
    let process = running.0.id().to_string();
    assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
    running.0.wait().unwrap().code()
}
