//! `highwater doctor`: what it finds when all is well, and when nothing is.

use std::process::{Output, Stdio};

use hw_sim::{Fault, TokenSpec, WorldSpec};
use rusqlite::Connection;
use serde_json::Value;

use crate::house::{House, TOKEN, documented_fields, postgres, program, pulled};

#[test]
fn all_is_well_and_nothing_is_changed() {
    let (house, home) = pulled();
    let file = home.path().join("db/acme.db");
    let before = std::fs::read(&file).unwrap();
    let output = house.doctor(&["-m", home.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.lines().all(|line| line.starts_with("ok    ")), "{told}");
    for words in [
        "token          – it speaks for ",
        "; its scopes are read:org, repo",
        "rest           – http://127.0.0.1:",
        "graphql        – http://127.0.0.1:",
        "clock          – it agrees with GitHub's within 1s",
        "budget core    – ",
        "budget graphql – ",
        " of 5,000 used, resets in ",
        "schema         – version 6",
        "integrity      – its structure is sound; --deep also verifies",
        "held           – 2 repositories, 4 discussions, 12 issues, 6 pull requests, 0 comments",
        "times          – no item is dated beyond its source's own time",
        "lanes          – none of 7 fails",
        "gaps           – every list was read to its end",
        "lease          – nobody is at work",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains(TOKEN), "{told}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn it_can_look_at_one_part_alone() {
    let (house, home) = pulled();
    let home = home.path().to_str().unwrap();
    let asked = house.requests();
    let store = findings(&house.doctor(&["store", "--json", "-m", home]).output().unwrap());
    assert_eq!(house.requests(), asked, "the database needs nobody else");
    assert!(of(&store, "database").is_some() && of(&store, "token").is_none());
    let github = findings(&house.doctor(&["github", "--json", "-m", "/nowhere"]).output().unwrap());
    assert!(of(&github, "database").is_none() && of(&github, "token").is_some());
    let fields: Vec<String> = github[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, documented_fields("`highwater doctor --json`"));
}

#[test]
fn it_answers_where_nothing_is_there() {
    let home = tempfile::tempdir().unwrap();
    let output = program(&["doctor", "--json", "--api-url", "http://127.0.0.1:1", "-m"])
        .arg(home.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(told, "Error: 3 checks failed\nhint: what to do stands behind the arrow\n");
    let found = findings(&output);
    for (check, status, detail) in [
        ("token", "fail", "none is set"),
        ("rest", "fail", "http://127.0.0.1:1: cannot connect to 127.0.0.1:1: Connection refused"),
        (
            "graphql",
            "fail",
            "http://127.0.0.1:1/graphql: cannot connect to 127.0.0.1:1: Connection refused",
        ),
        ("database", "warn", "there is no database at "),
    ] {
        let found = of(&found, check).unwrap();
        assert_eq!(found["status"], status, "{found}");
        assert!(found["detail"].as_str().unwrap().starts_with(detail), "{found}");
        assert!(!found["advice"].as_str().unwrap().is_empty(), "{found}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "it makes nothing");
}

#[test]
fn a_file_for_a_home_and_a_folder_for_a_database_are_told_as_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let cases =
        [("-m", &*file, "the home directory"), ("--database", folder.path(), "the database")];
    for (flag, path, what) in cases {
        let sentence = format!(
            "{what} {} is a {}",
            path.display(),
            if flag == "-m" { "file" } else { "folder" }
        );
        let output = program(&["doctor", "store", "--json", flag]).arg(path).output().unwrap();
        let found = of(&findings(&output), "database").unwrap();
        assert_eq!(
            (&found["status"], &found["detail"]),
            (&"fail".into(), &sentence.clone().into())
        );
        for command in [&["list", "issues"][..], &["search", "x"]] {
            let output = program(command).arg(flag).arg(path).output().unwrap();
            let told = String::from_utf8(output.stderr).unwrap();
            assert!(told.starts_with(&format!("Error: {sentence}\nhint: ")), "{told}");
            assert_eq!(output.status.code(), Some(1));
        }
    }
}

#[test]
fn a_token_is_looked_at_closely() {
    let house = House::small();
    let token = |house: &House| {
        let output = house.doctor(&["github", "--json"]).output().unwrap();
        let found = of(&findings(&output), "token").unwrap();
        (found["status"].as_str().unwrap().to_owned(), found["detail"].to_string())
    };
    let issue = |scopes: Option<&str>, expires: Option<&str>| {
        let scopes = scopes.map(|it| it.split_whitespace().map(str::to_owned).collect());
        let expires = expires.map(str::to_owned);
        house.look(|github| {
            github.issue_token(TokenSpec { scopes, expires, lacks_sign_on: false });
        });
        token(&house)
    };
    let (status, detail) = issue(None, Some("2099-01-01 00:00:00 UTC"));
    assert!(status == "ok" && detail.contains("fine-grained"), "{status}: {detail}");
    assert!(detail.contains("; it ends in ") && detail.contains(" days"), "{detail}");
    let (status, detail) = issue(Some("public_repo"), None);
    assert!(status == "warn" && detail.contains("its scopes are public_repo"), "{detail}");
    assert!(issue(Some(""), None).1.contains("it has no scopes"));
    let (status, _) = issue(Some("repo"), Some("2020-01-01 00:00:00 UTC"));
    assert_eq!(status, "warn");
    let words = house.doctor(&["github", "-t", "two words"]).output().unwrap();
    let told = String::from_utf8(words.stderr).unwrap();
    assert!(told.contains("holds characters that no token has"), "{told}");
    assert!(!told.contains("two words"), "{told}");
    house.look(|github| github.arm(Fault::Unauthorized, 10));
    let (status, detail) = token(&house);
    assert!(status == "fail" && detail.contains("the token was refused"), "{detail}");
}

#[test]
fn a_clock_that_is_off_is_told() {
    let house = House::late(60 * 60_000);
    let output = house.doctor(&["github", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let clock = of(&findings(&output), "clock").unwrap();
    assert_eq!(clock["status"], "warn");
    let detail = clock["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("this machine's is 1h 0m ahead") || detail.contains(" 59m "),
        "{detail}"
    );
}

#[test]
fn trouble_in_the_database_is_named() {
    let (house, home) = pulled();
    let connection = Connection::open(home.path().join("db/acme.db")).unwrap();
    connection
        .execute_batch(
            "update lanes set failures = 3, last_error = 'the server failed: status 500'
              where surface = 'issues';
             insert into quarantine select id, 'x', 'r', 'raw', 1, 0, 0, null, null
               from lanes where surface = 'discussions';
             update leases set owner = 'process 1 on elsewhere', since_ms = 0;
             update principals set paused_until_ms = 9000000000000, paused_why = 'primary limit';",
        )
        .unwrap();
    let output = house.doctor(&["store", "-m", home.path().to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "nothing that a person has to mend: {output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    for words in [
        "warn  lanes          – 2 of 7 fail: ",
        "acme/pump issues (3 times): the server failed: status 500",
        "warn  quarantine     – 2 could not be read as they came, such as x (r), x (r) → ",
        "warn  lease          – pull: process 1 on elsewhere began 1970-01-01T00:00:00Z and died",
        "primary limit → wait",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn a_damaged_and_a_newer_database_fail() {
    let (house, home) = pulled();
    let file = home.path().join("db/acme.db");
    let connection = Connection::open(&file).unwrap();
    connection.execute_batch("insert into migrations values (99, 'later', 'x')").unwrap();
    let store = |words: &str| {
        let args = ["store", "-m", home.path().to_str().unwrap()];
        let output = house.doctor(&args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains("fail  database       – ") && told.contains(words), "{told}");
    };
    store("written by a newer highwater (schema 99, this one knows 6) → install");
    connection.execute_batch("delete from migrations where number = 99").unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&file).unwrap();
    let (middle, end) = (bytes.len() / 2 / 4_096 * 4_096, bytes.len());
    bytes[middle..end].fill(0xa5);
    std::fs::write(&file, &bytes).unwrap();
    store("the database is damaged: ");
}

#[test]
fn a_pull_that_runs_is_seen_at_work() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    let home = home.path().to_str().unwrap();
    let mut pull = house.pull(&["-m", home]);
    let mut pull = pull.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while house.requests() == 0 {
        std::thread::yield_now();
    }
    let output = house.doctor(&["store", "-m", home]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let expected = format!("ok    lease          – pull: process {}", pull.id());
    pull.kill().unwrap();
    pull.wait().unwrap();
    assert!(told.contains(&expected) && told.contains("is at work since 20"), "{told}");
    let output = house.doctor(&["store", "-m", home]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(
        told.contains("warn  lease          – pull: process "),
        "the lock ended with it: {told}"
    );
}

#[test]
fn postgres_is_looked_at_as_well() {
    let (house, url) = (House::small(), postgres());
    let workspace = format!("doctor_{}", std::process::id());
    let args = ["--database", &url, "--workspace", &workspace];
    assert!(house.pull(&args).output().unwrap().status.success());
    let output = house.doctor(&[&["store"], args.as_slice()].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.lines().all(|line| line.starts_with("ok    ")), "{told}");
    let away = ["store", "--database", "postgres://me:s3cret@127.0.0.1:1/x"];
    let output = house.doctor(&away).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("PostgreSQL does not answer: Connection refused → "), "{told}");
    assert!(!told.contains("s3cret"), "{told}");
}

fn findings(output: &Output) -> Vec<Value> {
    let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of(findings: &[Value], check: &str) -> Option<Value> {
    findings.iter().find(|finding| finding["check"] == check).cloned()
}
