//! `highwater removed`: removed items are listed, hidden from readers, and restored.

use std::path::Path;

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::Value;

use crate::fixture::{
    GitHubFixture, failure_output, program_command, run_command, run_command_json, success_stdout,
};

#[test]
fn removed_items_are_listed_restored_and_checked_by_the_next_pull() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let issue = fixture.with_github(|github| {
        let truth = github.world().truth();
        let issue = truth
            .threads_of_kind(ThreadKind::Issue)
            .find(|issue| issue.repository == "pump")
            .unwrap();
        let now_ms = MachineClock.now_ms();
        github.world_mut().delete_thread(ThreadKind::Issue, issue.id, now_ms);
        issue.clone()
    });
    let name = format!("acme/pump#{}", issue.number);
    assert_eq!(fixture.pull_json(home.path(), &["--reconcile"])["items"]["issues"]["removed"], 1);
    assert!(!is_listed(home.path(), &issue.url));

    let removed = run_command_json(home.path(), "removed", &["list"]);
    let [item] = &removed[..] else { panic!("{removed:?}") };
    assert_eq!(
        (&item["url"], &item["title"]),
        (&issue.url.clone().into(), &issue.title.clone().into())
    );
    assert_eq!((&item["repository"], &item["reason"]), (&"acme/pump".into(), &"not_listed".into()));
    assert!(item["removed_at"].as_str() < item["kept_until"].as_str(), "{item}");
    let lines = success_stdout(&run_command(home.path(), "removed", &["list", "--limit", "1"]));
    assert!(lines.contains(&format!("{name} (")) && lines.contains(", kept until "), "{lines}");
    let doctor = success_stdout(&run_command(home.path(), "doctor", &["store"]));
    assert!(doctor.contains("1 removed item can be restored"), "{doctor}");

    let stdout = success_stdout(&run_command(home.path(), "removed", &["restore", &name]));
    assert!(stdout.starts_with(&format!("restored {name} (")), "{stdout}");
    assert!(stdout.ends_with("the next pull checks whether GitHub still has the restored items\n"));
    assert!(is_listed(home.path(), &issue.url));
    let stdout = success_stdout(&run_command(home.path(), "removed", &["restore", &issue.url]));
    assert_eq!(stdout, format!("nothing to restore: {} is in the workspace\n", issue.url));
    assert_eq!(
        fixture.pull_json(home.path(), &[])["items"]["issues"]["removed"],
        1,
        "it is still gone"
    );
    let since = run_command(home.path(), "removed", &["restore", "--all-since", "2026-01-31"]);
    assert!(success_stdout(&since).starts_with(&format!("restored {name} (")));
}

#[test]
fn removed_restore_refuses_what_it_cannot_find_or_read() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let missing = run_command(home.path(), "removed", &["restore", "acme/pump#1"]);
    let (code, stderr) = failure_output(&missing);
    assert!(code == Some(1) && stderr.contains("there is no database"), "{stderr}");
    assert!(!home.path().join("db").exists(), "no file is created");
    fixture.pull_json(home.path(), &[]);
    let refused = |args: &[&str]| failure_output(&run_command(home.path(), "removed", args));
    let (code, stderr) = refused(&["restore", "acme/pump#404"]);
    let expected =
        "Error: acme/pump#404 is not among the removed items\nhint: `highwater removed list`";
    assert!(code == Some(1) && stderr.contains(expected), "{stderr}");
    for args in
        [&["restore"][..], &["restore", "pump"], &["restore", "1", "--all-since", "2026-01-31"]]
    {
        assert_eq!(refused(args).0, Some(2), "{args:?}");
    }
    assert_eq!(refused(&["restore", "--all-since", "soon"]).0, Some(2));
}

#[test]
fn run_brake_is_named_in_the_summary_and_in_json() {
    let spec = WorldSpec {
        repositories: 12,
        issues: 3,
        pull_requests: 0,
        discussions: 0,
        comments_per_thread: 0,
        no_archives_or_forks: true,
        latency_ms: 0..=1,
        ..WorldSpec::small()
    };
    let (fixture, home) = (GitHubFixture::start(spec, 1), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    fixture.with_github(|github| {
        let issues: Vec<_> = github.world().truth().thread_ids(ThreadKind::Issue);
        for (nth, id) in issues.iter().enumerate().filter(|(nth, _)| nth % 3 < 2) {
            assert!(nth < 36);
            github.world_mut().delete_thread(ThreadKind::Issue, *id, MachineClock.now_ms());
        }
    });
    let output =
        fixture.pull_command(&["--reconcile", "--json", "-m"]).arg(home.path()).output().unwrap();
    let (code, stderr) = failure_output(&output);
    assert_eq!(code, Some(1));
    assert!(stderr.ends_with("hint: if this is intended, pass --allow-mass-removal\n"), "{stderr}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = &summary["errors"][0];
    assert_eq!((&error["scope"], &error["items_total"]), (&"acme".into(), &24.into()));
    assert_eq!(error["items"].as_array().unwrap().len(), 24);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("24 of 36 threads would be removed in one run: acme/"),
        "{message}"
    );
    assert!(message.ends_with(" and 14 more"), "{message}");
    assert_eq!(run_command_json(home.path(), "list", &["issues"]).len(), 36);
}

#[test]
fn removed_restore_does_not_wait_and_names_the_running_pull() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &[]);
    let issue = fixture.with_github(|github| {
        let id = github.world().truth().thread_ids(ThreadKind::Issue)[0];
        github.world_mut().delete_thread(ThreadKind::Issue, id, MachineClock.now_ms());
        id.to_string()
    });
    fixture.pull_json(home.path(), &["--reconcile"]);
    let location = hw_store::DatabaseLocation::File(home.path().join("db").join("acme.db"));
    let store = hw_store::StoreWriter::open(&location).unwrap();
    let identity = hw_store::WorkerIdentity {
        id: "somebody".to_owned(),
        machine: "elsewhere".to_owned(),
        process: 7,
        version: "1".to_owned(),
        role: "pull".to_owned(),
    };
    let worker = store.register_worker(&identity, 0).unwrap();
    let host = fixture.url().trim_start_matches("http://");
    let duty = hw_rules::duty::DutyName::pull(host);
    let _store = store.claim_duty(&duty, "somebody", 0).unwrap().unwrap();
    let (code, stderr) = failure_output(&run_command(home.path(), "removed", &["restore", &issue]));
    assert_eq!(code, Some(1));
    let expected =
        "Error: cannot restore\n  caused by: a pull is running: process 7 on elsewhere, since ";
    assert!(stderr.contains(expected), "{stderr}");
    drop(worker);
    success_stdout(&run_command(home.path(), "removed", &["restore", &issue]));
}

fn is_listed(home: &Path, url: &str) -> bool {
    let found =
        success_stdout(&program_command(&["search", url, "-m"]).arg(home).output().unwrap());
    let listed =
        run_command_json(home, "list", &["issues"]).iter().any(|issue| issue["url"] == url);
    assert_eq!(found.contains(url), listed, "search and list agree: {found}");
    listed
}
