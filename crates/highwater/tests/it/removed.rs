//! `highwater removed`: what a pull removed is listed, hidden from readers, and comes back.

use std::path::Path;

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::Value;

use crate::house::{House, asked, asked_json, failed, program, succeeded};

#[test]
fn removed_items_are_listed_restored_and_checked_by_the_next_pull() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let issue = house.look(|github| {
        let truth = github.world().truth();
        let issue = truth.of_kind(ThreadKind::Issue).find(|it| it.repository == "pump").unwrap();
        let now_ms = MachineClock.now_ms();
        github.world_mut().delete_thread(ThreadKind::Issue, issue.id, now_ms);
        issue.clone()
    });
    let name = format!("acme/pump#{}", issue.number);
    assert_eq!(house.pulled(home.path(), &["--reconcile"])["items"]["issues"]["removed"], 1);
    assert!(!is_listed(home.path(), &issue.url));

    let removed = asked_json(home.path(), "removed", &["list"]);
    let [item] = &removed[..] else { panic!("{removed:?}") };
    assert_eq!(
        (&item["url"], &item["title"]),
        (&issue.url.clone().into(), &issue.title.clone().into())
    );
    assert_eq!((&item["repository"], &item["reason"]), (&"acme/pump".into(), &"not_listed".into()));
    assert!(item["removed_at"].as_str() < item["kept_until"].as_str(), "{item}");
    let lines = succeeded(&asked(home.path(), "removed", &["list", "--limit", "1"]));
    assert!(lines.contains(&format!("{name} (")) && lines.contains("  until "), "{lines}");
    let doctor = succeeded(&asked(home.path(), "doctor", &["store"]));
    assert!(doctor.contains("1 removed item can be restored"), "{doctor}");

    let told = succeeded(&asked(home.path(), "removed", &["restore", &name]));
    assert!(told.starts_with(&format!("restored {name} (")), "{told}");
    assert!(told.ends_with("the next pull checks whether GitHub still has what was restored\n"));
    assert!(is_listed(home.path(), &issue.url));
    let told = succeeded(&asked(home.path(), "removed", &["restore", &issue.url]));
    assert_eq!(told, format!("{} was not removed: it is in the workspace\n", issue.url));
    assert_eq!(house.pulled(home.path(), &[])["items"]["issues"]["removed"], 1, "it is still gone");
    let since = asked(home.path(), "removed", &["restore", "--all-since", "2026-01-31"]);
    assert!(succeeded(&since).starts_with(&format!("restored {name} (")));
}

#[test]
fn removed_restore_refuses_what_it_cannot_find_or_read() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let missing = asked(home.path(), "removed", &["restore", "acme/pump#1"]);
    let (code, told) = failed(&missing);
    assert!(code == Some(1) && told.contains("there is no database"), "{told}");
    assert!(!home.path().join("db").exists(), "nothing is made");
    house.pulled(home.path(), &[]);
    let refused = |args: &[&str]| failed(&asked(home.path(), "removed", args));
    let (code, told) = refused(&["restore", "acme/pump#404"]);
    let expected =
        "Error: acme/pump#404 is not among what was removed\nhint: `highwater removed list`";
    assert!(code == Some(1) && told.contains(expected), "{told}");
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
        plain: true,
        latency_ms: 0..=1,
        ..WorldSpec::small()
    };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    house.look(|github| {
        let issues: Vec<_> = github.world().truth().ids(ThreadKind::Issue);
        for (nth, id) in issues.iter().enumerate().filter(|(nth, _)| nth % 3 < 2) {
            assert!(nth < 36);
            github.world_mut().delete_thread(ThreadKind::Issue, *id, MachineClock.now_ms());
        }
    });
    let output = house.pull(&["--reconcile", "--json", "-m"]).arg(home.path()).output().unwrap();
    let (code, told) = failed(&output);
    assert_eq!(code, Some(1));
    assert!(told.ends_with("hint: if this is intended, pass --allow-mass-removal\n"), "{told}");
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
    assert_eq!(asked_json(home.path(), "list", &["issues"]).len(), 36);
}

#[test]
fn removed_restore_waits_for_nobody_and_names_who_is_at_work() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let issue = house.look(|github| {
        let id = github.world().truth().ids(ThreadKind::Issue)[0];
        github.world_mut().delete_thread(ThreadKind::Issue, id, MachineClock.now_ms());
        id.to_string()
    });
    house.pulled(home.path(), &["--reconcile"]);
    let place = hw_store::Place::File(home.path().join("db").join("acme.db"));
    let store = hw_store::Store::open(&place).unwrap();
    let lease =
        store.take_lease("pull", "somebody", MachineClock.now_ms(), 60_000).unwrap().unwrap();
    let (code, told) = failed(&asked(home.path(), "removed", &["restore", &issue]));
    assert_eq!(code, Some(1));
    let expected = "Error: cannot restore\n  because another pull is running: somebody, since ";
    assert!(told.contains(expected), "{told}");
    store.release_lease(&lease).unwrap();
    succeeded(&asked(home.path(), "removed", &["restore", &issue]));
}

fn is_listed(home: &Path, url: &str) -> bool {
    let found = succeeded(&program(&["search", url, "-m"]).arg(home).output().unwrap());
    let listed = asked_json(home, "list", &["issues"]).iter().any(|issue| issue["url"] == url);
    assert_eq!(found.contains(url), listed, "search and list agree: {found}");
    listed
}
