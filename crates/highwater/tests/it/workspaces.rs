//! `highwater workspaces`, and which workspace a name means.

use std::path::Path;
use std::process::Stdio;

use hw_sim::{Fault, WorldSpec};
use serde_json::{Value, json};

use crate::house::{
    House, asked_json, documented_fields, failed, fields, postgres, program, pulled, succeeded,
};

#[test]
fn workspace_of_a_mistyped_organization_is_not_left_behind() {
    let (house, home) = pulled();
    let (code, told) = house.refused(home.path(), &["-o", "acmee"]);
    assert_eq!(code, Some(1), "{told}");
    assert_eq!(files(home.path()), ["acme.db"], "{told}");
    let listed = program(&["list", "issues", "--json", "-m"]).arg(home.path()).output().unwrap();
    succeeded(&listed);
}

#[test]
fn workspace_that_was_there_before_stays_after_a_failed_pull() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    std::fs::create_dir(home.path().join("db")).unwrap();
    std::fs::write(home.path().join("db/acmee.db"), "").unwrap();
    house.refused(home.path(), &["-o", "acmee"]);
    assert!(files(home.path()).contains(&"acmee.db".to_owned()), "{:?}", files(home.path()));
}

#[test]
fn workspace_is_the_same_in_any_case_and_so_is_the_end_of_its_pull() {
    let (house, home) = pulled();
    house.look(|github| github.arm(Fault::Unauthorized, 1));
    house.refused(home.path(), &["-o", "Acme"]);
    let warned = |home: &Path| {
        let output = program(&["list", "issues", "-m"]).arg(home).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(warned(home.path()).contains("the last pull of Acme failed"));
    house.pulled(home.path(), &["-o", "acme"]);
    assert_eq!(warned(home.path()), "");
}

#[test]
fn doctor_fails_after_a_pull_that_failed() {
    let (house, home) = pulled();
    house.refused(home.path(), &["-o", "nobody", "--workspace", "acme"]);
    let args = ["store", "--workspace", "acme", "-m", home.path().to_str().unwrap()];
    let output = house.doctor(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("fail  pull           – the last pull of nobody failed 20"), "{told}");
}

#[test]
fn doctor_fails_for_an_organization_that_is_not_there() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.refused(home.path(), &["-o", "acmee"]);
    let args = ["-o", "acmee", "-m", home.path().to_str().unwrap()];
    let output = house.doctor(&args).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("fail  organization   – acmee: not there, or hidden from"), "{told}");
}

#[test]
fn workspaces_are_listed_with_their_size_and_last_pull() {
    let (_house, home) = pulled();
    std::fs::write(home.path().join("db/broken.db"), "no database, but long enough").unwrap();
    let rows = asked_json(home.path(), "workspaces", &[]);
    let [acme, broken] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(fields(acme), documented_fields("`highwater workspaces --json`"));
    assert_eq!((&acme["name"], &acme["organizations"]), (&json!("acme"), &json!(["acme"])));
    assert!(acme["bytes"].as_u64().unwrap() > 4_096, "{acme}");
    assert!(acme["last_pull_at"].as_str().unwrap().starts_with("20"), "{acme}");
    assert_eq!((&acme["last_pull_error"], &acme["problem"]), (&Value::Null, &Value::Null));
    assert_eq!(broken["name"], "broken");
    assert!(broken["problem"].is_string(), "{broken}");
}

#[test]
fn workspaces_remove_asks_first_and_removes_one() {
    let (_house, home) = pulled();
    let remove = |args: &[&str]| {
        program(&["workspaces", "remove"]).args(args).arg("-m").arg(home.path()).output().unwrap()
    };
    let (code, told) = failed(&remove(&["ACME"]));
    assert_eq!(code, Some(1));
    assert!(told.contains("hint: if this is intended, pass --yes"), "{told}");
    assert_eq!(files(home.path()), ["acme.db"]);
    assert_eq!(succeeded(&remove(&["ACME", "--yes"])), "removed acme\n");
    assert_eq!(std::fs::read_dir(home.path().join("db")).unwrap().count(), 0);
    let (_, told) = failed(&remove(&["acme", "--yes"]));
    assert!(told.contains("there is no workspace named acme"), "{told}");
}

#[test]
fn workspaces_remove_refuses_while_a_pull_is_at_work() {
    let spec = WorldSpec { latency_ms: 8_000..=8_000, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    let home = home.path().to_str().unwrap();
    let mut pull = house.pull(&["-m", home]);
    let mut pull = pull.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while house.requests() == 0 {
        std::thread::yield_now();
    }
    let output = program(&["workspaces", "remove", "acme", "--yes", "-m", home]).output().unwrap();
    pull.kill().unwrap();
    pull.wait().unwrap();
    let (code, told) = failed(&output);
    assert_eq!(code, Some(1));
    assert!(told.contains(&format!("a pull is at work in acme: process {}", pull.id())), "{told}");
    assert_eq!(files(Path::new(home))[0], "acme.db");
}

#[test]
fn workspace_in_postgres_is_the_same_in_any_case_and_can_be_removed() {
    let (house, url) = (House::small(), postgres());
    let name = format!("Cased{}", std::process::id());
    let pull = |workspace: &str, args: &[&str]| {
        let mut command = house.pull(args);
        command.args(["--json", "--database", &url, "--workspace", workspace]).output().unwrap()
    };
    succeeded(&pull(&name, &[]));
    let again: Value = serde_json::from_str(&succeeded(&pull(&name.to_lowercase(), &[]))).unwrap();
    assert_eq!(again["items"]["issues"]["stored"], 0, "it is stored already");
    let mistyped = format!("mistyped{}", std::process::id());
    failed(&pull(&mistyped, &["-o", "acmee"]));
    let names = || -> Vec<String> {
        let listed = program(&["workspaces", "--json", "--database", &url]).output().unwrap();
        let rows = succeeded(&listed);
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names().contains(&name) && !names().contains(&mistyped), "{:?}", names());
    assert!(!names().contains(&name.to_lowercase()));
    let remove = ["workspaces", "remove", &name.to_lowercase(), "--yes", "--database", &url];
    assert_eq!(succeeded(&program(&remove).output().unwrap()), format!("removed {name}\n"));
    assert!(!names().contains(&name));
}

/// The files of a home's databases, without the locks and logs beside them.
fn files(home: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(home.join("db")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".lock")).collect();
    names.sort_unstable();
    names
}
