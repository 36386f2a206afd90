//! The program as a person meets it.

use std::io::Read as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::house::{documented_fields, failed, listed, program, succeeded};

#[test]
fn the_demo_ends_with_the_counts_of_the_simulated_world() {
    let home = tempfile::tempdir().unwrap();
    let told = demo(home.path());
    assert_eq!(told["complete"], true);
    assert_eq!(told["held"], told["world"]);
    for kind in ["repositories", "discussions", "issues", "pull-requests", "comments"] {
        assert_eq!(told["items"][kind]["stored"], told["world"][kind], "{kind}");
        assert!(0 < told["world"][kind].as_u64().unwrap(), "{kind}");
    }
    assert_eq!(told["errors"], Value::Array(vec![]));
    assert_eq!(fields(&told), documented_fields("`highwater demo --once --json`"));
}

#[test]
fn a_demo_does_not_take_an_old_world_for_its_own() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    let (code, told) = failed(&run(&["demo", "--once", "-m"], Some(home.path())));
    assert_eq!(code, Some(1));
    assert!(told.contains(" is already there, from an earlier demo\nhint: "), "{told}");
}

#[test]
fn demo_once_leaves_nothing_behind_unless_it_has_a_home() {
    let temporary = tempfile::tempdir().unwrap();
    let output = program(&["demo", "--once"]).env("TMPDIR", temporary.path()).output().unwrap();
    let told = succeeded(&output);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    assert!(told.contains("the workspace was temporary and is removed"), "{told}");
    assert!(!told.contains("--database"), "{told}");
}

#[test]
fn demo_links_to_no_page_of_the_real_github() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    for kind in ["issues", "prs", "discussions", "comments", "repos"] {
        for row in listed(home.path(), &[kind]) {
            let url = row["url"].as_str().unwrap();
            assert!(url.starts_with("https://github.example/harbourworks/"), "{kind}: {url}");
            assert!(!row.to_string().contains("github.com"), "{kind}: {row}");
        }
    }
    let url = listed(home.path(), &["issues", "--limit", "1"]).remove(0)["url"].clone();
    let shown = run(&["show", url.as_str().unwrap(), "-m"], Some(home.path()));
    assert!(succeeded(&shown).contains(url.as_str().unwrap()), "its own addresses are known");
}

#[test]
fn a_list_prints_one_object_a_line_with_the_documented_fields() {
    let home = tempfile::tempdir().unwrap();
    let told = demo(home.path());
    for (name, kind) in [
        ("issues", "issues"),
        ("prs", "pull-requests"),
        ("discussions", "discussions"),
        ("comments", "comments"),
        ("repos", "repositories"),
    ] {
        let rows = listed(home.path(), &[name]);
        assert_eq!(Value::from(rows.len()), told["world"][kind], "{name}");
        let documented = documented_fields(&format!("`highwater list {name} --json`"));
        for row in &rows {
            assert_eq!(fields(row), documented, "{name}");
        }
        assert_eq!(rows, listed(home.path(), &[kind]), "both names are one list");
    }
}

#[test]
fn a_list_can_be_narrowed() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    for kind in ["issues", "prs", "discussions"] {
        let list = |more: &[&str]| listed(home.path(), &[&[kind], more].concat());
        let first = list(&["--limit", "1"]).remove(0);
        let repository = first["repository"].as_str().unwrap();
        let author = first["author"].as_str().unwrap().to_uppercase();
        let of_it = list(&["--repository", repository]);
        assert!(of_it.iter().all(|row| row["repository"] == repository), "{kind}");
        let by_it = list(&["--author", &author]);
        assert!(by_it.iter().any(|row| row["url"] == first["url"]), "{kind}");
        assert!(list(&["--repository", "nowhere"]).is_empty(), "{kind}");
    }
    assert_eq!(listed(home.path(), &["repos", "--limit", "3"]).len(), 3);
}

#[test]
fn a_list_for_people_has_a_line_for_each() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    for kind in ["issues", "prs", "discussions", "repos"] {
        let output = run(&["list", kind, "-m"], Some(home.path()));
        let lines = succeeded(&output).lines().count();
        assert_eq!(lines, listed(home.path(), &[kind]).len(), "{kind}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "a whole list needs no words");
    }
}

#[test]
fn a_workspace_that_is_not_there_is_one_sentence_with_a_hint() {
    let home = tempfile::tempdir().unwrap();
    let (code, told) = failed(&run(&["list", "issues", "-m"], Some(home.path())));
    assert_eq!(code, Some(1));
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
    let (code, told) = failed(&run(&["list", "issues", "--database"], Some(&file)));
    assert_eq!(code, Some(1));
    assert!(told.contains("that file is no database"), "{told}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("these are my notes"));
}

#[test]
fn wrong_arguments_exit_with_two_and_say_what_was_meant() {
    let (code, told) = failed(&run(&["list", "isues"], None));
    assert_eq!(code, Some(2));
    assert!(told.contains("'issues'"), "{told}");
    for name in ["../x", "a/b", "", ".hidden"] {
        let (code, told) = failed(&run(&["list", "issues", "--workspace", name], None));
        assert_eq!(code, Some(2), "{name}");
        assert!(told.contains("not a workspace's name"), "{told}");
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let home = tempfile::tempdir().unwrap();
    demo(home.path());
    let mut child = program(&["list", "issues", "--json", "-m"])
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

/// A small demo in this home; what it told.
fn demo(home: &Path) -> Value {
    let output = run(&["demo", "--once", "--json", "-m"], Some(home));
    serde_json::from_str(&succeeded(&output)).unwrap()
}

fn run(args: &[&str], last: Option<&Path>) -> Output {
    program(args).args(last).output().unwrap()
}

fn fields(object: &Value) -> Vec<String> {
    object.as_object().unwrap().keys().cloned().collect()
}
