//! The token: where it comes from, where it is sent, and that it leaks nowhere.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hw_sim::{ApiFault, WorldSpec};

use crate::fixture::{GitHubFixture, failure_output, fake_gh, program_command, success_stdout};

/// A text that occurs nowhere else, and unlike GitHub's own tokens, which are masked by their format.
const SECRET: &str = "n0where-t0-be-f0und/+Qz7";
const PASSWORD: &str = "s0-is-the-passw0rd";

/// The ways to pass a token.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TokenDelivery {
    Flag,
    Environment,
    Dotenv,
    Gh,
}

#[test]
fn token_is_in_no_output_of_any_command() {
    let mut logged = 0;
    for delivery in
        [TokenDelivery::Flag, TokenDelivery::Environment, TokenDelivery::Dotenv, TokenDelivery::Gh]
    {
        for format in ["text", "json"] {
            let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
            if delivery == TokenDelivery::Dotenv {
                std::fs::write(home.path().join(".env"), format!("GITHUB_TOKEN={SECRET}\n"))
                    .unwrap();
            }
            for output in run_every_command(&fixture, home.path(), delivery, format) {
                logged += output.stderr.len();
                assert_clean(&output.stdout, &format!("{delivery:?} stdout"));
                assert_clean(&output.stderr, &format!("{delivery:?} stderr"));
            }
            let files = list_files(home.path());
            assert!(files.iter().any(|file| file.ends_with("db/acme.db")), "{files:?}");
            assert!(
                files.iter().any(|file| file.to_string_lossy().contains("/logs/")),
                "{files:?}"
            );
            for file in files.iter().filter(|file| !file.ends_with(".env")) {
                assert_clean(&std::fs::read(file).unwrap(), &file.display().to_string());
            }
        }
    }
    assert!(logged > 100_000, "logging was on, so there was something to search");
}

#[test]
fn token_of_a_running_pull_is_hidden_from_other_users() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let mut command = command_with_token(
        TokenDelivery::Gh,
        &["pull", "-o", "acme", "--api-url", fixture.url()],
        home.path(),
    );
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fixture.request_count() < 1 {
        std::thread::yield_now();
    }
    let line = std::fs::read(format!("/proc/{}/cmdline", child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let line = line.expect("/proc shows the command line of a process");
    assert!(String::from_utf8_lossy(&line).contains("pull"));
    assert_clean(&line, "cmdline");
}

/// A core dump would contain the token, and so would memory read by another process of the same user.
#[cfg(target_os = "linux")]
#[test]
fn token_is_read_only_after_core_dumps_are_off() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let mut command = command_with_token(
        TokenDelivery::Environment,
        &["pull", "-o", "acme", "--api-url", fixture.url()],
        home.path(),
    );
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fixture.request_count() < 1 {
        std::thread::yield_now();
    }
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id()));
    let environ = std::fs::metadata(format!("/proc/{}/environ", child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let (limits, environ) = (limits.unwrap(), environ.unwrap());
    let line = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{line}");
    // the files in /proc of a process that must not be dumped belong to root
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&environ), 0);
}

#[test]
fn token_comes_from_gh_for_the_host_only_when_none_is_set() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let log = home.path().join("gh.log");
    let host = fixture.url().strip_prefix("http://").unwrap().to_owned();
    for (delivery, is_run) in [(TokenDelivery::Environment, false), (TokenDelivery::Gh, true)] {
        let mut command = command_with_token(
            delivery,
            &["pull", "-o", "acme", "--api-url", fixture.url()],
            home.path(),
        );
        command.env("PATH", fake_gh()).env("FAKE_GH_LOG", &log);
        success_stdout(&command.output().unwrap());
        assert_eq!(log.exists(), is_run, "{delivery:?}");
    }
    let printed = std::fs::read_to_string(log).unwrap();
    assert_eq!(printed, format!("auth token --hostname {host}\n"));
}

#[test]
fn token_from_a_gh_that_fails_or_hangs_is_reported_with_its_reason() {
    for (behavior, reason) in [
        ("fails", "`gh auth token` failed: no oauth token found for github.com"),
        ("hangs", "`gh auth token` did not answer within 5 s"),
        (
            "two words",
            "`gh auth token` printed something that is not a token: expected printable ASCII without spaces",
        ),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut command = program_command(&["pull", "-o", "acme", "-m"]);
        command.arg(home.path()).env("PATH", fake_gh()).env("FAKE_GH", behavior);
        let (code, stderr) = failure_output(&command.output().unwrap());
        assert_eq!(code, Some(1));
        let expected = format!(
            "Error: no token is set, and `gh` provides none\n  caused by: {reason}\nhint: "
        );
        assert!(stderr.starts_with(&expected), "{stderr}");
    }
}

#[test]
fn token_echoed_by_a_server_is_masked() {
    for delivery in
        [TokenDelivery::Flag, TokenDelivery::Environment, TokenDelivery::Dotenv, TokenDelivery::Gh]
    {
        for format in ["text", "json"] {
            let home = tempfile::tempdir().unwrap();
            if delivery == TokenDelivery::Dotenv {
                std::fs::write(home.path().join(".env"), format!("GITHUB_TOKEN={SECRET}\n"))
                    .unwrap();
            }
            let url = start_redirecting("302 Found", &format!("http://127.0.0.1:1/{SECRET}"));
            let args = ["pull", "--log-format", format, "--api-url", &url];
            let mut command = command_with_token(delivery, &args, home.path());
            let output = command.env("HIGHWATER_LOG", "highwater=info").output().unwrap();
            let (_, printed) = failure_output(&output);
            assert!(
                printed.matches("redirects to http://127.0.0.1:1/[masked]").count() > 1,
                "{printed}"
            );
            assert_clean(&output.stderr, "stderr");
            let files = list_files(&home.path().join("logs"));
            let log = std::fs::read_to_string(&files[0]).unwrap();
            assert!(log.contains("/[masked]"), "{log}");
            assert_clean(log.as_bytes(), "the log");
        }
    }
}

#[test]
fn token_is_not_sent_to_a_redirect() {
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let to = format!("http://{}/graphql", elsewhere.local_addr().unwrap());
        let url = start_redirecting(status, &to);
        let home = tempfile::tempdir().unwrap();
        let mut command = command_with_token(
            TokenDelivery::Environment,
            &["pull", "-o", "acme", "--api-url", &url],
            home.path(),
        );
        let (code, stderr) = failure_output(&command.output().unwrap());
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains(&format!("redirects to {to}")), "{stderr}");
        let accepted = elsewhere.accept();
        assert!(
            accepted.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock),
            "{status}"
        );
    }
}

/// Runs every command, with all logs on.
fn run_every_command(
    fixture: &GitHubFixture,
    home: &Path,
    delivery: TokenDelivery,
    format: &str,
) -> Vec<Output> {
    let run = |args: &[&str]| {
        let mut command = command_with_token(delivery, args, home);
        command.env("HIGHWATER_LOG", "trace").args(["--log-format", format]).output().unwrap()
    };
    let pull = |more: &[&str]| run(&[&["pull", "--api-url", fixture.url()], more].concat());
    let database = format!("postgres://nobody:{PASSWORD}@127.0.0.1:1/x");
    let demo = home.join("demo");

    let mut all = vec![pull(&["-i", "comments"]), pull(&["--json"]), pull(&["--reconcile"])];
    all.push(pull(&["-o", "nobody", "--workspace", "other"]));
    let ends: Vec<_> = all.iter().map(|output| output.status.code()).collect();
    assert_eq!(ends, [Some(0), Some(0), Some(0), Some(1)], "{all:?}");
    fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 100));
    let mut failing = vec![pull(&[]), pull(&["--json"]), pull(&["--bogus"])];
    failing.push(pull(&["--database", &database]));
    failing.push(pull(&["--graphql-url", "http://example.com/graphql"]));
    failing.push(pull(&[&database]));
    failing.push(run(&["nonsense"]));
    if delivery == TokenDelivery::Environment {
        failing.push(run(&["pull", SECRET]));
    }
    assert!(failing.iter().all(|output| !output.status.success()), "{failing:?}");
    all.append(&mut failing);
    for args in [
        &["list", "issues"][..],
        &["list", "comments"],
        &["list", "repos", "--json"],
        &["doctor", "--api-url", fixture.url()],
        &["doctor", "--json", "--api-url", fixture.url(), "--database", &database],
        &["completions", "bash"],
        &["man"],
        &["config", "show"],
        &["config", "show", "--json", "--database", &database],
        &["init"],
        &["init"],
        &["init", "--force"],
        &["--help"],
    ] {
        all.push(run(args));
    }
    all.push(run(&["demo", "--once", "-m", demo.to_str().unwrap()]));
    all
}

/// Builds a command that passes the token in this delivery.
pub(crate) fn command_with_token(delivery: TokenDelivery, args: &[&str], home: &Path) -> Command {
    let mut command = program_command(args);
    let has_home = !matches!(args[0], "completions" | "man");
    if has_home && !args.contains(&"-m") {
        command.arg("-m").arg(home);
    }
    command.env("ORGANIZATION", "acme");
    match delivery {
        TokenDelivery::Flag if args[0] == "pull" => command.args(["-t", SECRET]),
        TokenDelivery::Flag | TokenDelivery::Environment => command.env("GITHUB_TOKEN", SECRET),
        TokenDelivery::Dotenv => &mut command,
        TokenDelivery::Gh => command.env("PATH", fake_gh()).env("FAKE_GH", SECRET),
    };
    command
}

/// Checks that neither the token nor the password is in these bytes, not even in base64 at any offset.
pub(crate) fn assert_clean(bytes: &[u8], location: &str) {
    for secret in [SECRET, PASSWORD] {
        let shifted = ["", "a", "aa"].map(|before| {
            let encoded = STANDARD.encode(format!("{before}{secret}"));
            // the first and the last characters depend on their neighbors
            encoded.trim_end_matches('=')[4..encoded.len() - 4].to_owned()
        });
        for form in shifted.iter().map(String::as_str).chain([secret]) {
            let is_found = bytes.windows(form.len()).any(|part| part == form.as_bytes());
            assert!(!is_found, "{location} contains {form}: {}", String::from_utf8_lossy(bytes));
        }
    }
}

/// Returns every file below a folder.
pub(crate) fn list_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { list_files(&path) } else { vec![path] }).collect()
}

/// Starts a server that redirects every request, and returns its URL.
fn start_redirecting(status: &str, to: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    std::thread::spawn(move || redirect_all(&listener, &answer));
    url
}

fn redirect_all(listener: &TcpListener, answer: &str) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let mut request = [0; 65_536];
        assert!(stream.read(&mut request).unwrap() > 0, "a request arrives");
        stream.write_all(answer.as_bytes()).ok();
    }
}
