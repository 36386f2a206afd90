//! `highwater workspaces`, and how a name selects a workspace.

use std::path::Path;
use std::process::Stdio;

use hw_sim::{ApiFault, WorldSpec};
use serde_json::{Value, json};

use crate::fixture::{
    GitHubFixture, documented_fields, failure_output, field_names, postgres_url, program_command,
    pull_small_world, run_command_json, success_stdout,
};

#[test]
fn workspace_of_a_mistyped_organization_is_not_left_behind() {
    let (fixture, home) = pull_small_world();
    let (code, stderr) = fixture.pull_failure(home.path(), &["-o", "acmee"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert_eq!(database_files(home.path()), ["acme.db"], "{stderr}");
    let listed =
        program_command(&["list", "issues", "--json", "-m"]).arg(home.path()).output().unwrap();
    success_stdout(&listed);
}

#[test]
fn workspace_that_existed_before_stays_after_a_failed_pull() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    std::fs::create_dir(home.path().join("db")).unwrap();
    std::fs::write(home.path().join("db/acmee.db"), "").unwrap();
    fixture.pull_failure(home.path(), &["-o", "acmee"]);
    assert!(
        database_files(home.path()).contains(&"acmee.db".to_owned()),
        "{:?}",
        database_files(home.path())
    );
}

#[test]
fn workspace_and_the_result_of_its_pull_are_the_same_in_any_case() {
    let (fixture, home) = pull_small_world();
    fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 1));
    fixture.pull_failure(home.path(), &["-o", "Acme"]);
    let warned = |home: &Path| {
        let output = program_command(&["list", "issues", "-m"]).arg(home).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(warned(home.path()).contains("the last pull of acme failed"));
    fixture.pull_json(home.path(), &["-o", "acme"]);
    assert_eq!(warned(home.path()), "");
}

#[test]
fn doctor_fails_after_a_pull_that_failed() {
    let (fixture, home) = pull_small_world();
    fixture.with_github(|github| github.arm_fault(ApiFault::Unauthorized, 1));
    fixture.pull_failure(home.path(), &[]);
    let args = ["store", "--workspace", "acme", "-m", home.path().to_str().unwrap()];
    let output = fixture.doctor_command(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.contains("fail  pull           – the last pull of acme failed at 20"),
        "{stdout}"
    );
}

#[test]
fn doctor_fails_for_a_missing_organization() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_failure(home.path(), &["-o", "acmee"]);
    let args = ["-o", "acmee", "-m", home.path().to_str().unwrap()];
    let output = fixture.doctor_command(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains("fail  organization   – acmee: no organization or user"), "{stdout}");
}

#[test]
fn workspaces_are_listed_with_their_size_and_last_pull() {
    let (_fixture, home) = pull_small_world();
    std::fs::write(home.path().join("db/broken.db"), "no database, but long enough").unwrap();
    let rows = run_command_json(home.path(), "workspaces", &[]);
    let [acme, broken] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(field_names(acme), documented_fields("`highwater workspaces --json`"));
    assert_eq!((&acme["name"], &acme["organizations"]), (&json!("acme"), &json!(["acme"])));
    assert!(acme["bytes"].as_u64().unwrap() > 4_096, "{acme}");
    assert!(acme["last_pull_at"].as_str().unwrap().starts_with("20"), "{acme}");
    assert_eq!((&acme["last_pull_error"], &acme["problem"]), (&Value::Null, &Value::Null));
    assert_eq!(broken["name"], "broken");
    assert!(broken["problem"].is_string(), "{broken}");
}

#[test]
fn workspaces_remove_asks_first_and_removes_one() {
    let (_fixture, home) = pull_small_world();
    let remove = |args: &[&str]| {
        program_command(&["workspaces", "remove"])
            .args(args)
            .arg("-m")
            .arg(home.path())
            .output()
            .unwrap()
    };
    let (code, stderr) = failure_output(&remove(&["ACME"]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("hint: if this is intended, pass --yes"), "{stderr}");
    assert_eq!(database_files(home.path()), ["acme.db"]);
    assert_eq!(success_stdout(&remove(&["ACME", "--yes"])), "removed acme\n");
    assert_eq!(std::fs::read_dir(home.path().join("db")).unwrap().count(), 0);
    let (_, stderr) = failure_output(&remove(&["acme", "--yes"]));
    assert!(stderr.contains("no workspace named acme"), "{stderr}");
}

#[test]
fn workspaces_remove_refuses_while_a_pull_is_running() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    let home = home.path().to_str().unwrap();
    let mut pull = fixture.pull_command(&["-m", home]);
    let mut pull = pull.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fixture.request_count() == 0 {
        std::thread::yield_now();
    }
    let output =
        program_command(&["workspaces", "remove", "acme", "--yes", "-m", home]).output().unwrap();
    pull.kill().unwrap();
    pull.wait().unwrap();
    let (code, stderr) = failure_output(&output);
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains(&format!("a pull is running in acme: process {}", pull.id())),
        "{stderr}"
    );
    assert_eq!(database_files(Path::new(home))[0], "acme.db");
}

#[test]
fn workspace_in_postgres_is_the_same_in_any_case_and_can_be_removed() {
    let (fixture, url) = (GitHubFixture::start_small(), postgres_url());
    let name = format!("Cased{}", std::process::id());
    let pull = |workspace: &str, args: &[&str]| {
        let mut command = fixture.pull_command(args);
        command.args(["--json", "--database", &url, "--workspace", workspace]).output().unwrap()
    };
    success_stdout(&pull(&name, &[]));
    let again: Value =
        serde_json::from_str(&success_stdout(&pull(&name.to_lowercase(), &[]))).unwrap();
    assert_eq!(again["items"]["issues"]["stored"], 0, "it is stored already");
    let mistyped = format!("mistyped{}", std::process::id());
    failure_output(&pull(&mistyped, &["-o", "acmee"]));
    let names = || -> Vec<String> {
        let listed =
            program_command(&["workspaces", "--json", "--database", &url]).output().unwrap();
        let rows = success_stdout(&listed);
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names().contains(&name) && !names().contains(&mistyped), "{:?}", names());
    assert!(!names().contains(&name.to_lowercase()));
    let remove = ["workspaces", "remove", &name.to_lowercase(), "--yes", "--database", &url];
    assert_eq!(
        success_stdout(&program_command(&remove).output().unwrap()),
        format!("removed {name}\n")
    );
    assert!(!names().contains(&name));
}

/// Returns the database files of a home, without locks and logs.
fn database_files(home: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(home.join("db")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort_unstable();
    names
}
