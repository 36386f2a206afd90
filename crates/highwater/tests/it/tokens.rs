//! The token: where it comes from, where it goes, and that it is nowhere else.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hw_sim::{Fault, WorldSpec};

use crate::house::{House, failed, fake_gh, program, succeeded};

/// Like no other text, and unlike GitHub's own, which are masked by their looks.
const SECRET: &str = "n0where-t0-be-f0und/+Qz7";
const PASSWORD: &str = "s0-is-the-passw0rd";

/// How a token can be given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Way {
    Flag,
    Environment,
    Dotenv,
    Gh,
}

#[test]
fn the_token_is_nowhere() {
    let mut logged = 0;
    for way in [Way::Flag, Way::Environment, Way::Dotenv, Way::Gh] {
        for format in ["text", "json"] {
            let (house, home) = (House::small(), tempfile::tempdir().unwrap());
            if way == Way::Dotenv {
                std::fs::write(home.path().join(".env"), format!("GITHUB_TOKEN={SECRET}\n"))
                    .unwrap();
            }
            for output in every_command(&house, home.path(), way, format) {
                logged += output.stderr.len();
                is_clean(&output.stdout, &format!("{way:?} stdout"));
                is_clean(&output.stderr, &format!("{way:?} stderr"));
            }
            let files = files(home.path());
            assert!(files.iter().any(|file| file.ends_with("db/acme.db")), "{files:?}");
            assert!(
                files.iter().any(|file| file.to_string_lossy().contains("/logs/")),
                "{files:?}"
            );
            for file in files.iter().filter(|file| !file.ends_with(".env")) {
                is_clean(&std::fs::read(file).unwrap(), &file.display().to_string());
            }
        }
    }
    assert!(100_000 < logged, "the logs were on, so there was something to look through");
}

#[test]
fn others_cannot_see_the_token_of_a_running_pull() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    let mut command =
        given(Way::Gh, &["pull", "-o", "acme", "--api-url", house.url()], home.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while house.requests() < 1 {
        std::thread::yield_now();
    }
    let line = std::fs::read(format!("/proc/{}/cmdline", child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let line = line.expect("this system tells how a process was started");
    assert!(String::from_utf8_lossy(&line).contains("pull"));
    is_clean(&line, "cmdline");
}

/// A core dump would hold the token, and so would the memory that another process of the same user reads.
#[cfg(target_os = "linux")]
#[test]
fn core_dumps_are_off_before_a_pull_reads_its_token() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    let mut command =
        given(Way::Environment, &["pull", "-o", "acme", "--api-url", house.url()], home.path());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while house.requests() < 1 {
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
    // the system gives what belongs to a process that must not be dumped to root
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&environ), 0);
}

#[test]
fn gh_is_asked_for_the_host_and_only_when_no_token_is_set() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let log = home.path().join("gh.log");
    let host = house.url().strip_prefix("http://").unwrap().to_owned();
    for (way, asked) in [(Way::Environment, false), (Way::Gh, true)] {
        let mut command =
            given(way, &["pull", "-o", "acme", "--api-url", house.url()], home.path());
        command.env("PATH", fake_gh()).env("FAKE_GH_LOG", &log);
        succeeded(&command.output().unwrap());
        assert_eq!(log.exists(), asked, "{way:?}");
    }
    let told = std::fs::read_to_string(log).unwrap();
    assert_eq!(told, format!("auth token --hostname {host}\n"));
}

#[test]
fn a_gh_that_fails_hangs_or_talks_nonsense_is_no_token_with_its_reason() {
    for (does, reason) in [
        ("fails", "`gh auth token` has none: no oauth token found for github.com"),
        ("hangs", "`gh auth token` did not answer within 5 s"),
        ("two words", "`gh auth token`: it is empty, or holds characters that no token has"),
    ] {
        let home = tempfile::tempdir().unwrap();
        let mut command = program(&["pull", "-o", "acme", "-m"]);
        command.arg(home.path()).env("PATH", fake_gh()).env("FAKE_GH", does);
        let (code, told) = failed(&command.output().unwrap());
        assert_eq!(code, Some(1));
        let expected = format!("Error: no token is set\n  because {reason}\nhint: ");
        assert!(told.starts_with(&expected), "{told}");
    }
}

#[test]
fn a_server_that_says_the_token_back_does_not_get_it_shown() {
    for way in [Way::Flag, Way::Environment, Way::Dotenv, Way::Gh] {
        for format in ["text", "json"] {
            let home = tempfile::tempdir().unwrap();
            if way == Way::Dotenv {
                std::fs::write(home.path().join(".env"), format!("GITHUB_TOKEN={SECRET}\n"))
                    .unwrap();
            }
            let url = redirecting("302 Found", &format!("http://127.0.0.1:1/{SECRET}"));
            let args = ["pull", "--log-format", format, "--api-url", &url];
            let mut command = given(way, &args, home.path());
            let output = command.env("HIGHWATER_LOG", "highwater=info").output().unwrap();
            let (_, told) = failed(&output);
            assert!(
                1 < told.matches("redirected to http://127.0.0.1:1/[masked]").count(),
                "{told}"
            );
            is_clean(&output.stderr, "stderr");
            let files = files(&home.path().join("logs"));
            let log = std::fs::read_to_string(&files[0]).unwrap();
            assert!(log.contains("/[masked]"), "{log}");
            is_clean(log.as_bytes(), "the log");
        }
    }
}

#[test]
fn a_redirect_leads_the_token_nowhere() {
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"] {
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        elsewhere.set_nonblocking(true).unwrap();
        let to = format!("http://{}/graphql", elsewhere.local_addr().unwrap());
        let url = redirecting(status, &to);
        let home = tempfile::tempdir().unwrap();
        let mut command =
            given(Way::Environment, &["pull", "-o", "acme", "--api-url", &url], home.path());
        let (code, told) = failed(&command.output().unwrap());
        assert_eq!(code, Some(1), "{told}");
        assert!(told.contains(&format!("redirected to {to}")), "{told}");
        let came = elsewhere.accept();
        assert!(came.is_err_and(|it| it.kind() == std::io::ErrorKind::WouldBlock), "{status}");
    }
}

/// Whatever can be said to the program, with all logs on.
fn every_command(house: &House, home: &Path, way: Way, format: &str) -> Vec<Output> {
    let run = |args: &[&str]| {
        let mut command = given(way, args, home);
        command.env("HIGHWATER_LOG", "trace").args(["--log-format", format]).output().unwrap()
    };
    let pull = |more: &[&str]| run(&[&["pull", "--api-url", house.url()], more].concat());
    let database = format!("postgres://nobody:{PASSWORD}@127.0.0.1:1/x");
    let demo = home.join("demo");

    let mut all = vec![pull(&["-i", "comments"]), pull(&["--json"]), pull(&["--reconcile"])];
    all.push(pull(&["-o", "nobody", "--workspace", "other"]));
    let ends: Vec<_> = all.iter().map(|output| output.status.code()).collect();
    assert_eq!(ends, [Some(0), Some(0), Some(0), Some(1)], "{all:?}");
    house.look(|github| github.arm(Fault::Unauthorized, 100));
    let mut failing = vec![pull(&[]), pull(&["--json"]), pull(&["--bogus"])];
    failing.push(pull(&["--database", &database]));
    failing.push(pull(&["--graphql-url", "http://example.com/graphql"]));
    failing.push(pull(&[&database]));
    failing.push(run(&["nonsense"]));
    if way == Way::Environment {
        failing.push(run(&["pull", SECRET]));
    }
    assert!(failing.iter().all(|output| !output.status.success()), "{failing:?}");
    all.append(&mut failing);
    for args in [
        &["list", "issues"][..],
        &["list", "comments"],
        &["list", "repos", "--json"],
        &["doctor", "--api-url", house.url()],
        &["doctor", "--json", "--api-url", house.url(), "--database", &database],
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

/// The program, with the token given in this way.
pub(crate) fn given(way: Way, args: &[&str], home: &Path) -> Command {
    let mut command = program(args);
    let has_home = !matches!(args[0], "completions" | "man");
    if has_home && !args.contains(&"-m") {
        command.arg("-m").arg(home);
    }
    command.env("ORGANIZATION", "acme");
    match way {
        Way::Flag if args[0] == "pull" => command.args(["-t", SECRET]),
        Way::Flag | Way::Environment => command.env("GITHUB_TOKEN", SECRET),
        Way::Dotenv => &mut command,
        Way::Gh => command.env("PATH", fake_gh()).env("FAKE_GH", SECRET),
    };
    command
}

/// Neither the token nor the password is in it, not even in base64 at any offset.
pub(crate) fn is_clean(bytes: &[u8], place: &str) {
    for secret in [SECRET, PASSWORD] {
        let shifted = ["", "a", "aa"].map(|before| {
            let encoded = STANDARD.encode(format!("{before}{secret}"));
            // the first and the last characters depend on what stands beside them
            encoded.trim_end_matches('=')[4..encoded.len() - 4].to_owned()
        });
        for form in shifted.iter().map(String::as_str).chain([secret]) {
            let is_there = bytes.windows(form.len()).any(|part| part == form.as_bytes());
            assert!(!is_there, "{place} shows {form}: {}", String::from_utf8_lossy(bytes));
        }
    }
}

/// Every file below.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The address of somebody who sends everybody there, until the test ends.
fn redirecting(status: &str, to: &str) -> String {
    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", door.local_addr().unwrap());
    let answer = format!(
        "HTTP/1.1 {status}\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    std::thread::spawn(move || redirect_all(&door, &answer));
    url
}

fn redirect_all(door: &TcpListener, answer: &str) {
    for stream in door.incoming() {
        let mut stream = stream.unwrap();
        let mut request = [0; 65_536];
        assert!(0 < stream.read(&mut request).unwrap(), "somebody asks");
        stream.write_all(answer.as_bytes()).ok();
    }
}
