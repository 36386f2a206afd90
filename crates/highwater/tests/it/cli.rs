//! The program as a person meets it.

use std::io::Read as _;
use std::path::Path;
use std::process::{Output, Stdio};

use assert_cmd::Command;
use serde_json::Value;

#[test]
fn the_demo_ends_with_the_counts_of_the_simulated_world() {
    let home = tempfile::tempdir().unwrap();
    let told: Value = serde_json::from_str(&demo(home.path())).unwrap();
    assert_eq!(told["complete"], true);
    assert_eq!(told["held"], told["world"]);
    assert_eq!(told["items"]["issues"]["stored"], told["world"]["issues"]);
    assert_eq!(told["errors"], Value::Array(vec![]));
}

#[test]
fn a_list_prints_one_object_a_line_with_the_documented_fields() {
    let home = tempfile::tempdir().unwrap();
    let told: Value = serde_json::from_str(&demo(home.path())).unwrap();
    let listed = text(&run(&["list", "issues", "--json", "-m"], Some(home.path())));
    let issues: Vec<Value> =
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Value::from(issues.len()), told["world"]["issues"]);
    let documented = documented_fields("## `highwater list issues --json`");
    for issue in &issues {
        let fields: Vec<&String> = issue.as_object().unwrap().keys().collect();
        assert_eq!(fields, documented.iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_list_can_be_narrowed() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    let list = |more: &[&str]| {
        let mut args = vec!["list", "issues", "--json"];
        args.extend(more);
        args.push("-m");
        let listed = text(&run(&args, Some(home.path())));
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let first = list(&["--limit", "1"]).remove(0);
    let repository = first["repository"].as_str().unwrap();
    let author = first["author"].as_str().unwrap().to_uppercase();
    assert!(
        list(&["--repository", repository]).iter().all(|issue| issue["repository"] == repository)
    );
    assert!(list(&["--author", &author]).iter().any(|issue| issue["url"] == first["url"]));
    assert!(list(&["--repository", "nowhere"]).is_empty());
}

#[test]
fn a_workspace_that_is_not_there_is_one_sentence_with_a_hint() {
    let home = tempfile::tempdir().unwrap();
    let failed = run(&["list", "issues", "-m"], Some(home.path()));
    assert_eq!(failed.status.code(), Some(1));
    let told = String::from_utf8(failed.stderr).unwrap();
    assert!(
        told.starts_with("Error: cannot open the workspace\n  because there is no database at ")
    );
    assert!(told.contains("\nhint: "), "{told}");
    assert!(!home.path().join("db").exists(), "a reader creates nothing");
}

#[test]
fn a_file_that_is_no_database_is_told_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.db");
    std::fs::write(&file, "these are my notes, not a database\n".repeat(100)).unwrap();
    let failed = run(&["list", "issues", "--database"], Some(&file));
    assert_eq!(failed.status.code(), Some(1));
    assert!(String::from_utf8(failed.stderr).unwrap().contains("not a database"));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("these are my notes"));
}

#[test]
fn wrong_arguments_exit_with_two_and_say_what_was_meant() {
    let failed = run(&["list", "isues"], None);
    assert_eq!(failed.status.code(), Some(2));
    assert!(String::from_utf8(failed.stderr).unwrap().contains("'issues'"));
    for name in ["../x", "a/b", "", ".hidden"] {
        let failed = run(&["list", "issues", "--workspace", name], None);
        assert_eq!(failed.status.code(), Some(1), "{name}");
        assert!(String::from_utf8(failed.stderr).unwrap().contains("not a workspace's name"));
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_highwater"))
        .args(["list", "issues", "--json", "-m"])
        .arg(home.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut few = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut few).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(
        (done.status.code(), String::from_utf8(done.stderr).unwrap().as_str()),
        (Some(0), "")
    );
}

/// A small demo in this home; what it printed.
fn demo(home: &Path) -> String {
    text(&run(&["demo", "--once", "--json", "-m"], Some(home)))
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn run(args: &[&str], last: Option<&Path>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_highwater"));
    command.args(args).args(last).env_remove("HIGHWATER_HOME").env("HOME", "/nonexistent");
    command.output().unwrap()
}

/// The field names in the first column of the table under a heading of `docs/json.md`, sorted.
fn documented_fields(heading: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split(heading).nth(1).expect("the heading is there");
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut fields: Vec<String> =
        rows.map(|row| row.split('`').next().unwrap().to_owned()).collect();
    fields.sort_unstable();
    fields
}
