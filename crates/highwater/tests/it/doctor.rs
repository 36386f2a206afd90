//! `highwater doctor`: its findings in healthy and in broken workspaces.

use std::process::{Output, Stdio};

use hw_sim::{ApiFault, TokenSpec, WorldSpec};
use rusqlite::Connection;
use serde_json::Value;

use crate::fixture::{
    GitHubFixture, TOKEN, documented_fields, postgres_url, program_command, pull_small_world,
};

#[test]
fn doctor_reports_a_healthy_workspace_and_changes_nothing() {
    let (fixture, home) = pull_small_world();
    let file = home.path().join("db/acme.db");
    let before = std::fs::read(&file).unwrap();
    let output = fixture.doctor_command(&["-m", home.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.lines().all(|line| line.starts_with("ok    ")), "{stdout}");
    for words in [
        "token          – signed in as ",
        "; scopes: read:org, repo",
        "rest           – http://127.0.0.1:",
        "graphql        – http://127.0.0.1:",
        "clock          – within 1s of GitHub's",
        "budget core    – ",
        "budget graphql – ",
        " of 5,000 used, resets in ",
        "schema         – version 18",
        "integrity      – structure intact; --deep also verifies",
        "stored         – 2 repositories, 4 discussions, 12 issues, 6 pull requests, 0 comments, 0 posts",
        "times          – no item is dated later than GitHub's clock",
        "lists          – no errors in 7 lists",
        "gaps           – every list is complete",
        "running        – no pull is running",
    ] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }
    assert!(!stdout.contains(TOKEN), "{stdout}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn doctor_can_check_one_part_alone() {
    let (fixture, home) = pull_small_world();
    let home = home.path().to_str().unwrap();
    let requests = fixture.request_count();
    let store =
        parse_findings(&fixture.doctor_command(&["store", "--json", "-m", home]).output().unwrap());
    assert_eq!(fixture.request_count(), requests, "a check of the database sends no request");
    assert!(find_check(&store, "database").is_some() && find_check(&store, "token").is_none());
    let github = parse_findings(
        &fixture.doctor_command(&["github", "--json", "-m", "/nowhere"]).output().unwrap(),
    );
    assert!(find_check(&github, "database").is_none() && find_check(&github, "token").is_some());
    let fields: Vec<String> = github[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, documented_fields("`highwater doctor --json`"));
}

#[test]
fn doctor_runs_without_a_workspace() {
    let home = tempfile::tempdir().unwrap();
    let output = program_command(&["doctor", "--json", "--api-url", "http://127.0.0.1:1", "-m"])
        .arg(home.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(
        stderr,
        "Error: 3 checks failed\nhint: each failed check ends with a suggested fix after →\n"
    );
    let found = parse_findings(&output);
    for (check, status, detail) in [
        ("token", "fail", "not set"),
        ("rest", "fail", "http://127.0.0.1:1: cannot connect to 127.0.0.1:1: Connection refused"),
        (
            "graphql",
            "fail",
            "http://127.0.0.1:1/graphql: cannot connect to 127.0.0.1:1: Connection refused",
        ),
        ("database", "warn", "there is no database at "),
    ] {
        let found = find_check(&found, check).unwrap();
        assert_eq!(found["status"], status, "{found}");
        assert!(found["detail"].as_str().unwrap().starts_with(detail), "{found}");
        assert!(!found["advice"].as_str().unwrap().is_empty(), "{found}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "doctor creates nothing");
}

#[test]
fn doctor_reports_when_home_is_a_file_or_database_is_a_directory() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let cases =
        [("-m", &*file, "the home directory"), ("--database", folder.path(), "the database")];
    for (flag, path, name) in cases {
        let sentence = format!(
            "{name} {} is a {}",
            path.display(),
            if flag == "-m" { "file" } else { "directory" }
        );
        let output =
            program_command(&["doctor", "store", "--json", flag]).arg(path).output().unwrap();
        let found = find_check(&parse_findings(&output), "database").unwrap();
        assert_eq!(
            (&found["status"], &found["detail"]),
            (&"fail".into(), &sentence.clone().into())
        );
        for command in [&["list", "issues"][..], &["search", "x"]] {
            let output = program_command(command).arg(flag).arg(path).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(stderr.starts_with(&format!("Error: {sentence}\nhint: ")), "{stderr}");
            assert_eq!(output.status.code(), Some(1));
        }
    }
}

#[test]
fn doctor_checks_the_token() {
    let fixture = GitHubFixture::start_small();
    let token = |fixture: &GitHubFixture| {
        let output = fixture.doctor_command(&["github", "--json"]).output().unwrap();
        let found = find_check(&parse_findings(&output), "token").unwrap();
        (found["status"].as_str().unwrap().to_owned(), found["detail"].to_string())
    };
    let issue = |scopes: Option<&str>, expires: Option<&str>| {
        let scopes = scopes.map(|names| names.split_whitespace().map(str::to_owned).collect());
        let expires = expires.map(str::to_owned);
        fixture.with_github(|github| {
            github.set_token(TokenSpec { scopes, expires, lacks_sign_on: false });
        });
        token(&fixture)
    };
    let (status, detail) = issue(None, Some("2099-01-01 00:00:00 UTC"));
    assert!(status == "ok" && detail.contains("fine-grained"), "{status}: {detail}");
    assert!(detail.contains("; expires in ") && detail.contains(" days"), "{detail}");
    let (status, detail) = issue(Some("public_repo"), None);
    assert!(status == "warn" && detail.contains("scopes: public_repo"), "{detail}");
    assert!(issue(Some(""), None).1.contains("no scopes"));
    let (status, _) = issue(Some("repo"), Some("2020-01-01 00:00:00 UTC"));
    assert_eq!(status, "warn");
    let words = fixture.doctor_command(&["github", "-t", "two words"]).output().unwrap();
    let printed = String::from_utf8(words.stderr).unwrap();
    assert!(printed.contains("expected printable ASCII without spaces"), "{printed}");
    assert!(!printed.contains("two words"), "{printed}");
    fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 10));
    let (status, detail) = token(&fixture);
    assert!(status == "fail" && detail.contains("the token was refused"), "{detail}");
}

#[test]
fn doctor_reports_a_wrong_clock() {
    let fixture = GitHubFixture::start_late(60 * 60_000);
    let output = fixture.doctor_command(&["github", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let clock = find_check(&parse_findings(&output), "clock").unwrap();
    assert_eq!(clock["status"], "warn");
    let detail = clock["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("this machine's clock is 1h 0m ahead") || detail.contains(" 59m "),
        "{detail}"
    );
}

#[test]
fn doctor_reports_problems_in_the_database() {
    let (fixture, home) = pull_small_world();
    let connection = Connection::open(home.path().join("db/acme.db")).unwrap();
    connection
        .execute_batch(
            "update lanes set failure_count = 3, last_error = 'the server failed: status 500'
              where surface = 'issues';
             insert into quarantine select id, 'x', 'r', 'raw', 1, 0, 0, null, null
               from lanes where surface = 'discussions';
             update duties set owner = 'process 1 on elsewhere', taken_at_ms = 0 where name like 'pull/%';
             insert into pauses (principal, bucket, cause, class, machine, until_ms, reason) values
                 ('127.0.0.1/1000', 'core', 'limit', 'replies', '',
                  strftime('%s', 'now') * 1000 + 600000, 'primary limit'),
                 ('127.0.0.1/1000', 'graphql', 'reserve', 'mirror', '',
                  strftime('%s', 'now') * 1000 + 600000, 'some is left');
             insert into pauses
                    (principal, bucket, cause, class, machine, stored_ms, until_ms, reason) values
                 ('127.0.0.1/1000', 'search', 'limit', 'replies', 'elsewhere', 0, 600000, 'unknown');",
        )
        .unwrap();
    let output =
        fixture.doctor_command(&["store", "-m", home.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "nothing that the user has to fix: {output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    for words in [
        "warn  lists          – 2 of 7 lists failing: ",
        "acme/pump issues (3 failures): the server failed: status 500",
        "warn  quarantine     – 2 items could not be read, for example x (r), x (r) → ",
        "process 1 on elsewhere started at 1970-01-01T00:00:00Z and ended",
        "warn  limit          – requests to 127.0.0.1 (REST) are paused for ",
        "primary limit → wait",
        "requests to 127.0.0.1 (GraphQL) for pulls are paused for ",
        "requests to 127.0.0.1 (search) are paused for at most 10m: unknown → wait",
    ] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }
}

#[test]
fn doctor_fails_for_a_damaged_or_newer_database() {
    let (fixture, home) = pull_small_world();
    let file = home.path().join("db/acme.db");
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch("insert into migrations values (99, 'later', 'x')").unwrap();
    let store = |words: &str| {
        let args = ["store", "-m", home.path().to_str().unwrap()];
        let output = fixture.doctor_command(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains("fail  database       – ") && stdout.contains(words), "{stdout}");
    };
    store("written by a newer highwater (schema 99, this one supports 18) → install");
    connection.execute_batch("delete from migrations where number = 99").unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&file).unwrap();
    let (middle, end) = (bytes.len() / 2 / 4_096 * 4_096, bytes.len());
    bytes[middle..end].fill(0xa5);
    std::fs::write(&file, &bytes).unwrap();
    store("the database is damaged: ");
}

#[test]
fn doctor_reports_a_running_pull() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let home = home.path().to_str().unwrap();
    let mut pull = fixture.pull_command(&["-m", home]);
    let mut pull = pull.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fixture.request_count() == 0 {
        std::thread::yield_now();
    }
    let output = fixture.doctor_command(&["store", "-m", home]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let expected = format!(
        "ok    running        – pull from {}: process {}",
        fixture.url().trim_start_matches("http://"),
        pull.id()
    );
    pull.kill().unwrap();
    pull.wait().unwrap();
    assert!(stdout.contains(&expected) && stdout.contains("has been running since 20"), "{stdout}");
    let output = fixture.doctor_command(&["store", "-m", home]).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.contains("warn  running        – pull from 127.0.0.1"),
        "the lock ended with the process: {stdout}"
    );
}

#[test]
fn doctor_expects_a_running_pull_to_complete_the_lists() {
    let spec =
        WorldSpec { repositories: 1, issues: 500, latency_ms: 500..=500, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let home = home.path().to_str().unwrap();
    let mut pull = fixture.pull_command(&["-m", home]);
    let mut pull = pull.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fixture.request_count() < 5 {
        std::thread::yield_now();
    }
    let during = fixture.doctor_command(&["store", "-m", home]).output().unwrap();
    pull.kill().unwrap();
    pull.wait().unwrap();
    let after = fixture.doctor_command(&["store", "-m", home]).output().unwrap();
    let [during, after] = [during, after].map(|output| String::from_utf8(output.stdout).unwrap());
    let expected = "ok    gaps           – 1 list is not complete yet; a pull is running\n";
    assert!(during.contains(expected), "{during}");
    let expected = "warn  gaps           – 1 list is incomplete: acme/pump issues → ";
    assert!(after.contains(expected), "{after}");
}

#[test]
fn doctor_checks_postgres() {
    let (fixture, url) = (GitHubFixture::start_small(), postgres_url());
    let workspace = format!("doctor_{}", std::process::id());
    let args = ["--database", &url, "--workspace", &workspace];
    assert!(fixture.pull_command(&args).output().unwrap().status.success());
    let output = fixture.doctor_command(&[&["store"], args.as_slice()].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.lines().all(|line| line.starts_with("ok    ")), "{stdout}");
    let unreachable = ["store", "--database", "postgres://me:s3cret@127.0.0.1:1/x"];
    let output = fixture.doctor_command(&unreachable).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("PostgreSQL is unreachable: Connection refused → "), "{stdout}");
    assert!(!stdout.contains("s3cret"), "{stdout}");
}

fn parse_findings(output: &Output) -> Vec<Value> {
    let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn find_check(findings: &[Value], check: &str) -> Option<Value> {
    findings.iter().find(|finding| finding["check"] == check).cloned()
}
