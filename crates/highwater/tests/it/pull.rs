//! `highwater pull` against a simulated GitHub.

use std::collections::BTreeMap;

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use crate::fixture::{
    GitHubFixture, documented_fields, failure_output, list_json, program_command, success_stdout,
};
use crate::mirror_assertions::{assert_comments_match, assert_threads_match};

#[test]
fn pull_results_can_be_listed() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let output = fixture.pull_command(&["-m"]).arg(home.path()).output().unwrap();
    let stdout = success_stdout(&output);
    assert!(stdout.starts_with("pulled acme from 127.0.0.1:"), "{stdout}");
    assert!(
        stdout.contains("\n  issues               12        12         0         0\n"),
        "{stdout}"
    );
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap(), "-o", "acme"]);
}

#[test]
fn pull_stores_every_field_of_each_thread() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let truth = fixture.with_github(|github| github.world().truth());
    let by_id = |rows: Vec<Value>| -> BTreeMap<String, Value> {
        rows.into_iter().map(|row| (row["node_id"].as_str().unwrap().to_owned(), row)).collect()
    };
    let prs = by_id(list_json(home.path(), &["prs"]));
    for thread in truth.threads_of_kind(ThreadKind::PullRequest) {
        let (row, pull) = (&prs[&thread.node_id], thread.pull_request.as_ref().unwrap());
        assert_eq!(row["type"], "pull_request");
        assert_eq!(row["state"], thread.state.to_lowercase());
        assert_eq!(row["status"], if thread.closed_at.is_some() { "closed" } else { "open" });
        assert_eq!(row["draft"], pull.is_draft);
        assert_eq!(row["merged"], pull.merged_at.is_some());
        assert_eq!(row["merged_at"], json!(pull.merged_at));
        assert_eq!(row["head_ref"], pull.head_ref_name);
        let closes: &[i64] = if thread.state == "OPEN" { &pull.closing_issues } else { &[] };
        assert_eq!(row["closes"], json!(closes));
    }
    let discussions = by_id(list_json(home.path(), &["discussions"]));
    for thread in truth.threads_of_kind(ThreadKind::Discussion) {
        let (row, details) = (&discussions[&thread.node_id], thread.discussion.as_ref().unwrap());
        assert_eq!(row["category"], details.category);
        assert_eq!(row["is_answered"], json!(details.is_answered));
    }
}

#[test]
fn pull_of_an_empty_list_is_complete() {
    let spec = WorldSpec { discussions: 0, pull_requests: 0, issues: 0, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn pull_json_summary_has_the_documented_fields() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let output = fixture.pull_command(&["--json", "-m"]).arg(home.path()).output().unwrap();
    let summary: Value = serde_json::from_str(&success_stdout(&output)).unwrap();
    let fields: Vec<String> = summary.as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, documented_fields("`highwater pull --json`"));
    assert_eq!((&summary["organization"], &summary["complete"]), (&json!("acme"), &json!(true)));
    let twelve = json!({ "seen": 12, "stored": 12, "removed": 0, "errors": 0 });
    assert_eq!(summary["items"]["issues"], twelve);
    assert_eq!(summary["requests"], fixture.request_count());
    assert_eq!(summary["errors"], json!([]));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "no progress lines with --json");
}

#[test]
fn pull_progress_lines_start_with_the_time() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let output = fixture.pull_command(&["--no-tui", "-m"]).arg(home.path()).output().unwrap();
    success_stdout(&output);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = stderr.lines().map(|line| line.split_at(9).1).collect();
    assert!(stderr.lines().all(|line| is_time(&line[..8])), "{stderr}");
    assert_eq!(lines[..2], ["signed in as anchor", "2 repositories listed"]);
    let moved = "lists to read: discussions 2, issues 2, pull-requests 2";
    assert!(lines.contains(&moved), "{stderr}");
    let output = fixture.pull_command(&["--repo", "pump", "-m"]).arg(home.path()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.matches(" 1 repository listed\n").count(), 1, "{stderr}");
}

#[test]
fn pull_takes_the_organization_in_any_case() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let again = fixture.pull_json(home.path(), &["-o", "ACME"]);
    assert_eq!(again["items"]["issues"]["stored"], 0, "everything is stored already");
    let databases = std::fs::read_dir(home.path().join("db")).unwrap();
    let names = databases.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| name.starts_with("acme.db")), "one workspace");
}

#[test]
fn pull_reads_only_the_chosen_items() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let printed = fixture.pull_json(home.path(), &["-i", "issues"]);
    assert_eq!(printed["items"].as_object().unwrap().keys().collect::<Vec<_>>(), ["issues"]);
    let output = program_command(&["list", "prs", "-m"]).arg(home.path()).output().unwrap();
    assert_eq!(success_stdout(&output), "");
    let warned = String::from_utf8(output.stderr).unwrap();
    assert_eq!(warned, "warning: no pull requests have been pulled into this workspace\n");
    fixture.pull_json(home.path(), &["-i", "discussions,pull-requests"]);
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn pull_of_comments_also_pulls_their_threads() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let usual = fixture.pull_json(home.path(), &[]);
    assert!(usual["items"].get("comments").is_none(), "{usual}");
    let output = fixture.pull_command(&["-i", "comments", "-m"]).arg(home.path()).output().unwrap();
    let summary = success_stdout(&output);
    assert!(summary.contains("\n  comments  "), "{summary}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("no changes"), "the comments are new: {stderr}");
    assert!(stderr.contains(" no changed threads\n"), "{stderr}");
    assert_eq!(stderr.matches(" lists to read: comments ").count(), 1, "{stderr}");
    assert_comments_match(&fixture, &["-m", home.path().to_str().unwrap()]);
    let again = fixture.pull_json(home.path(), &["-i", "comments"]);
    let items: Vec<_> = again["items"].as_object().unwrap().keys().collect();
    assert_eq!(items, ["comments", "discussions", "issues", "pull-requests"]);
    let doctor = program_command(&["doctor", "store", "-m"]).arg(home.path()).output().unwrap();
    let count = list_json(home.path(), &["comments"]).len();
    let stored = success_stdout(&doctor);
    assert!(stored.contains(&format!(" pull requests, {count} comments, 0 posts\n")), "{stored}");
}

#[test]
fn pull_warns_about_an_excluded_repository_that_does_not_exist() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let output = fixture
        .pull_command(&["-e", "nosuch,PUMP", "--json", "-m"])
        .arg(home.path())
        .output()
        .unwrap();
    success_stdout(&output);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let expected = "warning: the excluded repository nosuch does not exist in acme, or is archived or a fork\n";
    assert_eq!(stderr, expected, "PUMP is pump");
}

#[test]
fn pull_lists_excluded_repositories_without_reading_their_items() {
    let fixture = GitHubFixture::start_small();
    let by_flag = tempfile::tempdir().unwrap();
    fixture.pull_json(by_flag.path(), &["-e", "acme/pump"]);
    let by_environment = tempfile::tempdir().unwrap();
    let mut command = fixture.pull_command(&["-m"]);
    command.arg(by_environment.path()).env("EXCLUDED_REPOSITORIES", "other, PUMP");
    success_stdout(&command.output().unwrap());
    for home in [by_flag.path(), by_environment.path()] {
        assert_eq!(list_json(home, &["repos"]).len(), 2);
        assert_eq!(list_json(home, &["issues"]).len(), 6);
        assert!(list_json(home, &["issues", "--repository", "pump"]).is_empty());
        let warned = |args: &[&str]| {
            let output = program_command(&[args, &["-m"]].concat()).arg(home).output().unwrap();
            String::from_utf8(output.stderr).unwrap()
        };
        assert_eq!(warned(&["list", "issues"]), "", "it was excluded on purpose");
        let named = warned(&["list", "issues", "--repository", "pump"]);
        assert!(named.contains("warning: the issues of acme/pump were never pulled\n"), "{named}");
    }
}

#[test]
fn pull_reads_only_the_named_repositories() {
    let fixture = GitHubFixture::start_small();
    for name in ["pump", "acme/pump", "pump,PUMP"] {
        let home = tempfile::tempdir().unwrap();
        fixture.pull_json(home.path(), &["--repo", name]);
        assert_eq!(list_json(home.path(), &["repos"]).len(), 1, "{name}");
        assert_eq!(list_json(home.path(), &["issues"]).len(), 6, "{name}");
    }
    let home = tempfile::tempdir().unwrap();
    let (code, stderr) =
        fixture.pull_failure(home.path(), &["--repo", "pump", "--repo", "nowhere"]);
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("failed: acme/nowhere: not found, or this token has no access"),
        "{stderr}"
    );
    assert!(
        stderr
            .contains("\nhint: check the names and the token's access; everything else is saved\n"),
        "{stderr}"
    );
    assert_eq!(list_json(home.path(), &["issues"]).len(), 6, "the other one was read");
}

#[test]
fn pull_of_an_excluded_repository_suggests_a_change_instead_of_a_retry() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let (code, stderr) = fixture.pull_failure(home.path(), &["--repo", "pump", "-e", "pump"]);
    assert_eq!(code, Some(1));
    let reason = "failed: acme/pump: excluded by -e or github.excluded_repositories\n";
    assert!(stderr.contains(reason), "{stderr}");
    let hint = "\nhint: these repositories are skipped on purpose; change --repo or the settings\n";
    assert!(stderr.contains(hint), "{stderr}");
}

#[test]
fn pull_window_limits_issues_and_pull_requests_unless_it_is_zero() {
    let fixture = GitHubFixture::start(
        WorldSpec { history_days: 300, latency_ms: 0..=1, ..WorldSpec::small() },
        1,
    );
    let home = tempfile::tempdir().unwrap();
    fixture.pull_json(home.path(), &["--window-days", "30"]);
    let some = list_json(home.path(), &["issues"]).len();
    assert!(some < 12, "one month of ten has {some} of 12");
    assert_eq!(list_json(home.path(), &["discussions"]).len(), 4, "discussions have no window");
    fixture.pull_json(home.path(), &["--window-days", "0"]);
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn pull_reads_everything_again_only_with_force() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let again = fixture.pull_json(home.path(), &[]);
    assert_eq!((&again["items"]["issues"]["seen"], &again["requests"]), (&json!(0), &json!(1)));
    let forced = fixture.pull_json(home.path(), &["-f", "-i", "issues"]);
    assert_eq!(forced["items"]["issues"]["stored"], 12);
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn pull_removes_many_items_only_when_allowed() {
    let spec = WorldSpec { repositories: 1, issues: 60, latency_ms: 0..=1, ..WorldSpec::small() };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    fixture.with_github(|github| {
        let ids = github.world().truth().thread_ids(ThreadKind::Issue);
        let now_ms = MachineClock.now_ms();
        for id in &ids[..40] {
            github.world_mut().delete_thread(ThreadKind::Issue, *id, now_ms);
        }
    });
    let (code, stderr) = fixture.pull_failure(home.path(), &["--reconcile"]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("40 of 60 issues would be removed at once"), "{stderr}");
    assert!(
        stderr.ends_with("\nhint: if this is intended, pass --allow-mass-removal\n"),
        "{stderr}"
    );
    assert_eq!(list_json(home.path(), &["issues"]).len(), 60);
    let allowed = fixture.pull_json(home.path(), &["--reconcile", "--allow-mass-removal"]);
    assert_eq!(allowed["items"]["issues"]["removed"], 40);
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn pull_names_a_failing_repository_and_reads_the_others() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.with_github(|github| {
        let truth = github.world().truth();
        let pump = truth.repositories.values().find(|found| found.name == "pump").unwrap();
        github.set_broken_node(Some(&pump.node_id));
    });
    let args = ["-i", "issues", "-m", home.path().to_str().unwrap()];
    let output = fixture.pull_command(&args).output().unwrap();
    let (code, stderr) = failure_output(&output);
    assert_eq!(code, Some(1));
    let summary = String::from_utf8(output.stdout).unwrap();
    assert!(summary.contains("\n  failed: acme/pump issues: "), "{summary}");
    let expected = "Error: the pull of acme is incomplete: 1 failure is listed above\nhint: ";
    assert!(stderr.contains(expected), "{stderr}");
    let stored = list_json(home.path(), &["issues"]);
    assert_eq!(stored.len(), 6, "all issues of the other repository are stored");
    assert!(stored.iter().all(|issue| issue["repository"] != "pump"));
}

fn is_time(text: &str) -> bool {
    let mut chars = text.chars().enumerate();
    chars.all(|(at, c)| if at % 3 == 2 { c == ':' } else { c.is_ascii_digit() })
}
