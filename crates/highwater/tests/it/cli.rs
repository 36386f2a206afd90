//! The command line: the demo, lists, errors and exit codes.

use std::io::Read as _;
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use crate::fixture::{
    documented_fields, failure_output, list_json, program_command, success_stdout,
};

#[test]
fn demo_ends_with_the_counts_of_the_simulated_world() {
    let home = tempfile::tempdir().unwrap();
    let printed = run_demo(home.path());
    assert_eq!(printed["complete"], true);
    assert_eq!(printed["held"], printed["world"]);
    for kind in ["repositories", "discussions", "issues", "pull-requests", "comments"] {
        assert_eq!(printed["items"][kind]["stored"], printed["world"][kind], "{kind}");
        assert!(printed["world"][kind].as_u64().unwrap() > 0, "{kind}");
    }
    assert_eq!(printed["errors"], Value::Array(vec![]));
    assert_eq!(field_names(&printed), documented_fields("`highwater demo --once --json`"));
}

#[test]
fn demo_refuses_the_workspace_of_an_earlier_demo() {
    let home = tempfile::tempdir().unwrap();
    run_demo(home.path());
    let (code, stderr) = failure_output(&run_program(&["demo", "--once", "-m"], Some(home.path())));
    assert_eq!(code, Some(1));
    assert!(stderr.contains(" already exists, from an earlier demo\nhint: "), "{stderr}");
}

#[test]
fn demo_refuses_a_file_as_its_home() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let (code, stderr) = failure_output(&run_program(&["demo", "--once", "-m"], Some(&file)));
    assert_eq!(code, Some(1));
    let expected = format!("Error: the home directory {} is a file\nhint: ", file.display());
    assert!(stderr.starts_with(&expected) && !stderr.contains("--database"), "{stderr}");
}

#[test]
fn fields_help_prints_the_names_of_the_fields() {
    let home = tempfile::tempdir().unwrap();
    run_demo(home.path());
    let args = ["list", "repos", "--fields", "help", "-m"];
    let output = run_program(&args, Some(home.path()));
    let mut names: Vec<String> = success_stdout(&output).lines().map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, documented_fields("`highwater list repos --json`"));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn demo_once_leaves_nothing_behind_unless_it_has_a_home() {
    let temporary = tempfile::tempdir().unwrap();
    let output =
        program_command(&["demo", "--once"]).env("TMPDIR", temporary.path()).output().unwrap();
    let stdout = success_stdout(&output);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    assert!(stdout.contains("the temporary workspace is removed"), "{stdout}");
    assert!(!stdout.contains("--database"), "{stdout}");
}

#[test]
fn demo_links_to_no_page_of_the_real_github() {
    let home = tempfile::tempdir().unwrap();
    run_demo(home.path());
    for kind in ["issues", "prs", "discussions", "comments", "repos"] {
        for row in list_json(home.path(), &[kind]) {
            let url = row["url"].as_str().unwrap();
            assert!(url.starts_with("https://github.example/harborworks/"), "{kind}: {url}");
            assert!(!row.to_string().contains("github.com"), "{kind}: {row}");
        }
    }
    let url = list_json(home.path(), &["issues", "--limit", "1"]).remove(0)["url"].clone();
    let shown = run_program(&["show", url.as_str().unwrap(), "-m"], Some(home.path()));
    assert!(success_stdout(&shown).contains(url.as_str().unwrap()), "its own URLs are known");
}

#[test]
fn list_json_prints_one_object_per_line_with_the_documented_fields() {
    let home = tempfile::tempdir().unwrap();
    let printed = run_demo(home.path());
    for (name, kind) in [
        ("issues", "issues"),
        ("prs", "pull-requests"),
        ("discussions", "discussions"),
        ("comments", "comments"),
        ("repos", "repositories"),
    ] {
        let rows = list_json(home.path(), &[name]);
        assert_eq!(Value::from(rows.len()), printed["world"][kind], "{name}");
        let documented = documented_fields(&format!("`highwater list {name} --json`"));
        for row in &rows {
            assert_eq!(field_names(row), documented, "{name}");
        }
        assert_eq!(rows, list_json(home.path(), &[kind]), "both names mean one list");
    }
}

#[test]
fn list_filters_by_repository_author_and_limit() {
    let home = tempfile::tempdir().unwrap();
    run_demo(home.path());
    for kind in ["issues", "prs", "discussions"] {
        let list = |more: &[&str]| list_json(home.path(), &[&[kind], more].concat());
        let first = list(&["--limit", "1"]).remove(0);
        let repository = first["repository"].as_str().unwrap();
        let author = first["author"].as_str().unwrap().to_uppercase();
        let by_repository = list(&["--repository", repository]);
        assert!(by_repository.iter().all(|row| row["repository"] == repository), "{kind}");
        let by_author = list(&["--author", &author]);
        assert!(by_author.iter().any(|row| row["url"] == first["url"]), "{kind}");
        assert!(list(&["--repository", "nowhere"]).is_empty(), "{kind}");
    }
    assert_eq!(list_json(home.path(), &["repos", "--limit", "3"]).len(), 3);
}

#[test]
fn list_prints_one_line_per_item() {
    let home = tempfile::tempdir().unwrap();
    run_demo(home.path());
    for kind in ["issues", "prs", "discussions", "repos"] {
        let output = run_program(&["list", kind, "-m"], Some(home.path()));
        let lines = success_stdout(&output).lines().count();
        assert_eq!(lines, list_json(home.path(), &[kind]).len(), "{kind}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "a complete list has no warning");
    }
}

#[test]
fn missing_workspace_is_reported_with_a_hint() {
    let home = tempfile::tempdir().unwrap();
    let (code, stderr) = failure_output(&run_program(&["list", "issues", "-m"], Some(home.path())));
    assert_eq!(code, Some(1));
    assert!(
        stderr
            .starts_with("Error: cannot open the workspace\n  caused by: there is no database at ")
    );
    assert!(stderr.contains("\nhint: run `highwater pull -o NAME` or `highwater "), "{stderr}");
    assert!(!home.path().join("db").exists(), "a reader creates nothing");
}

#[test]
fn missing_database_is_reported_with_a_hint_that_creates_it() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("nofile.db");
    let hint = "check the path, or create it with `highwater pull -o NAME --database FILE`";
    for args in [&["list", "issues", "--database"] as &[&str], &["sources", "--database"]] {
        let (_, stderr) = failure_output(&run_program(args, Some(&file)));
        assert!(stderr.ends_with(&format!("\nhint: {hint}\n")), "{stderr}");
    }
    let output = run_program(&["doctor", "store", "--database"], Some(&file));
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.contains(&format!(" → {hint}\n")), "{stdout}");
}

#[test]
fn options_before_a_subcommand_are_refused_with_the_right_order() {
    for (args, order) in [
        (
            &["sources", "-m", "home", "remove", "x"] as &[&str],
            "highwater sources remove --home DIR SOURCE",
        ),
        (
            &["workspaces", "--database", "url", "remove", "x"],
            "highwater workspaces remove --database URL NAME",
        ),
    ] {
        let (code, stderr) = failure_output(&run_program(args, None));
        assert_eq!(code, Some(2));
        let hint = format!("hint: put options after the subcommand: {order}\n");
        assert!(stderr.ends_with(&hint), "{stderr}");
    }
    let (_, stderr) = failure_output(&run_program(&["sources", "--json", "remove", "x"], None));
    assert!(!stderr.contains("hint: "), "remove has no --json: {stderr}");
}

#[test]
fn file_that_is_not_a_database_is_left_alone_by_a_list() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.db");
    std::fs::write(&file, "these are my notes, not a database\n".repeat(100)).unwrap();
    let (code, stderr) =
        failure_output(&run_program(&["list", "issues", "--database"], Some(&file)));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("that file is not a highwater database"), "{stderr}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("these are my notes"));
}

#[test]
fn wrong_arguments_exit_with_two_and_suggest_the_right_one() {
    let (code, stderr) = failure_output(&run_program(&["list", "isues"], None));
    assert_eq!(code, Some(2));
    assert!(stderr.contains("'issues'"), "{stderr}");
    for name in ["../x", "a/b", "", ".hidden"] {
        let (code, stderr) =
            failure_output(&run_program(&["list", "issues", "--workspace", name], None));
        assert_eq!(code, Some(2), "{name}");
        assert!(stderr.contains("not a workspace name"), "{stderr}");
    }
}

#[test]
fn closed_pipe_is_success() {
    let home = tempfile::tempdir().unwrap();
    run_demo(home.path());
    let mut child = program_command(&["list", "issues", "--json", "-m"])
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

/// Runs a small demo in this home, and returns its summary.
fn run_demo(home: &Path) -> Value {
    let output = run_program(&["demo", "--once", "--json", "-m"], Some(home));
    serde_json::from_str(&success_stdout(&output)).unwrap()
}

fn run_program(args: &[&str], last: Option<&Path>) -> Output {
    program_command(args).args(last).output().unwrap()
}

fn field_names(object: &Value) -> Vec<String> {
    object.as_object().unwrap().keys().cloned().collect()
}
