//! A pull as a process among others: its lease, its signals, its files, its token, its database.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use hw_sim::WorldSpec;

use crate::house::{House, TOKEN, failed, postgres, program, succeeded};
use crate::judge::equals_the_world;

#[test]
fn a_second_pull_says_who_is_at_work_and_since_when() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    let first = under_way(&house, home.path(), 1);
    let (code, told) = house.refused(home.path(), &[]);
    assert_eq!(code, Some(1));
    let expected = format!(
        "Error: cannot pull acme\n  because another pull is running: process {}",
        first.0.id()
    );
    assert!(told.contains(&expected), "{told}");
    assert!(told.contains(", since 20") && told.contains("\nhint: "), "{told}");
}

#[test]
fn a_pull_that_was_stopped_keeps_what_it_read_and_the_next_one_finishes_it() {
    let spec =
        WorldSpec { repositories: 1, issues: 500, latency_ms: 100..=100, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    assert_eq!(stopped("-INT", &mut under_way(&house, home.path(), 5)), Some(130));
    let output = program(&["list", "issues", "-m"]).arg(home.path()).output().unwrap();
    assert!((100..500).contains(&succeeded(&output).lines().count()));
    let warned = String::from_utf8(output.stderr).unwrap();
    assert_eq!(warned, "warning: the issues of acme/pump are not complete yet\n");
    house.pulled(home.path(), &[]);
    equals_the_world(&house, &["-m", home.path().to_str().unwrap()]);
}

#[cfg(unix)]
#[test]
fn what_it_makes_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (house, folder) = (House::small(), tempfile::tempdir().unwrap());
    let home = folder.path().join("new");
    house.pulled(&home, &[]);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&home), mode(&home.join("db"))), (0o700, 0o700));
    for entry in std::fs::read_dir(home.join("db")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn the_token_is_in_no_output_and_in_no_file() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let mut command = house.pull(&["-t", TOKEN, "-m"]);
    let output = command.arg(home.path()).env("HIGHWATER_LOG", "trace").output().unwrap();
    succeeded(&output);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("warning: others on this machine can see a token"), "{told}");
    assert!(told.contains("TRACE"), "the logs were on, so there was something to look through");
    assert!(!told.contains(TOKEN) && !String::from_utf8(output.stdout).unwrap().contains(TOKEN));
    for entry in std::fs::read_dir(home.path().join("db")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(TOKEN.len()).any(|part| part == TOKEN.as_bytes()));
    }
}

#[test]
fn a_pull_into_postgres_is_the_same() {
    let (house, url) = (House::small(), postgres());
    let workspace = format!("cli_{}", std::process::id());
    let args = ["--database", &url, "--workspace", &workspace];
    succeeded(&house.pull(&args).output().unwrap());
    equals_the_world(&house, &args);
    let (code, told) = failed(
        &house.pull(&["--database", "postgres://nobody:s3cret@127.0.0.1:1/x"]).output().unwrap(),
    );
    assert_eq!(code, Some(1));
    let expected = "because PostgreSQL does not answer: Connection refused\nhint: is the server";
    assert!(told.contains(expected) && !told.contains("s3cret"), "{told}");
}

/// A pull that is waiting for an answer; it ends with the test.
struct UnderWay(Child);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A pull that has asked so often by now.
fn under_way(house: &House, home: &Path, requests: usize) -> UnderWay {
    let mut command = house.pull(&["-m"]);
    let child = command.arg(home).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let child = UnderWay(child);
    while house.requests() < requests {
        std::thread::yield_now();
    }
    child
}

/// Sends a signal; the exit code that follows.
fn stopped(signal: &str, running: &mut UnderWay) -> Option<i32> {
    let process = running.0.id().to_string();
    assert!(Command::new("kill").args([signal, &process]).status().unwrap().success());
    running.0.wait().unwrap().code()
}
