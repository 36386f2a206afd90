//! `highwater pull` against a simulated GitHub.

use std::collections::BTreeMap;

use hw_sim::{ThreadKind, WorldSpec};
use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::{Value, json};

use crate::house::{House, documented_fields, failed, listed, program, succeeded};
use crate::judge::{comments_equal_the_world, equals_the_world};

#[test]
fn what_was_pulled_can_be_listed() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let output = house.pull(&["-m"]).arg(home.path()).output().unwrap();
    let told = succeeded(&output);
    assert!(told.starts_with("pulled acme from 127.0.0.1:"), "{told}");
    assert!(told.contains("\n  issues               12        12         0         0\n"), "{told}");
    equals_the_world(&house, &["-m", home.path().to_str().unwrap(), "-o", "acme"]);
}

#[test]
fn the_whole_of_each_thread_is_listed() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let truth = house.look(|github| github.world().truth());
    let by_id = |rows: Vec<Value>| -> BTreeMap<String, Value> {
        rows.into_iter().map(|row| (row["node_id"].as_str().unwrap().to_owned(), row)).collect()
    };
    let prs = by_id(listed(home.path(), &["prs"]));
    for thread in truth.of_kind(ThreadKind::PullRequest) {
        let (row, pull) = (&prs[&thread.node_id], thread.pull_request.as_ref().unwrap());
        assert_eq!(row["type"], "pull_request");
        assert_eq!(row["state"], thread.state.to_lowercase());
        assert_eq!(row["status"], if thread.closed_at.is_some() { "closed" } else { "open" });
        assert_eq!(row["draft"], pull.is_draft);
        assert_eq!(row["merged"], pull.merged_at.is_some());
        assert_eq!(row["merged_at"], json!(pull.merged_at));
        assert_eq!(row["head_ref"], pull.head_ref_name);
        assert_eq!(row["closes"], json!(pull.closing_issues));
    }
    let discussions = by_id(listed(home.path(), &["discussions"]));
    for thread in truth.of_kind(ThreadKind::Discussion) {
        let (row, talk) = (&discussions[&thread.node_id], thread.talk.as_ref().unwrap());
        assert_eq!(row["category"], talk.category);
        assert_eq!(row["is_answered"], json!(talk.is_answered));
    }
}

#[test]
fn an_empty_list_that_was_read_is_whole() {
    let spec = WorldSpec { discussions: 0, pull_requests: 0, issues: 0, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    equals_the_world(&house, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn the_summary_for_programs_has_the_documented_shape() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let output = house.pull(&["--json", "-m"]).arg(home.path()).output().unwrap();
    let told: Value = serde_json::from_str(&succeeded(&output)).unwrap();
    let fields: Vec<String> = told.as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, documented_fields("`highwater pull --json`"));
    assert_eq!((&told["organization"], &told["complete"]), (&json!("acme"), &json!(true)));
    let twelve = json!({ "seen": 12, "stored": 12, "removed": 0, "errors": 0 });
    assert_eq!(told["items"]["issues"], twelve);
    assert_eq!(told["requests"], house.requests());
    assert_eq!(told["errors"], json!([]));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "no progress beside an object");
}

#[test]
fn progress_is_told_in_lines_with_the_time() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let output = house.pull(&["--no-tui", "-m"]).arg(home.path()).output().unwrap();
    succeeded(&output);
    let told = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<&str> = told.lines().map(|line| line.split_at(9).1).collect();
    assert!(told.lines().all(|line| is_time(&line[..8])), "{told}");
    assert_eq!(lines[..2], ["the token speaks for anchor", "listing acme: 2 repositories"]);
    let moved = "reading the lists that moved: discussions 2, issues 2, pull-requests 2";
    assert!(lines.contains(&moved), "{told}");
}

#[test]
fn an_organisation_is_the_same_in_any_case() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let again = house.pulled(home.path(), &["-o", "ACME"]);
    assert_eq!(again["items"]["issues"]["stored"], 0, "it is held already");
    let databases = std::fs::read_dir(home.path().join("db")).unwrap();
    let names = databases.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| name.starts_with("acme.db")), "one workspace");
}

#[test]
fn only_the_chosen_items_are_pulled() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let told = house.pulled(home.path(), &["-i", "issues"]);
    assert_eq!(told["items"].as_object().unwrap().keys().collect::<Vec<_>>(), ["issues"]);
    let output = program(&["list", "prs", "-m"]).arg(home.path()).output().unwrap();
    assert_eq!(succeeded(&output), "");
    let warned = String::from_utf8(output.stderr).unwrap();
    assert_eq!(warned, "warning: no pull-requests were ever pulled into this workspace\n");
    house.pulled(home.path(), &["-i", "discussions,pull-requests"]);
    equals_the_world(&house, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn comments_come_when_they_are_chosen_and_their_threads_with_them() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let usual = house.pulled(home.path(), &[]);
    assert!(usual["items"].get("comments").is_none(), "{usual}");
    let output = house.pull(&["-i", "comments", "-m"]).arg(home.path()).output().unwrap();
    let summary = succeeded(&output);
    assert!(summary.contains("\n  comments  "), "{summary}");
    let told = String::from_utf8(output.stderr).unwrap();
    let moved: Vec<&str> = told.lines().filter(|line| line.contains("moved")).collect();
    assert_eq!(moved.len(), 2, "threads, and then all sorts of comments together: {told}");
    assert!(moved[1].contains("reading the lists that moved: comments "), "{told}");
    comments_equal_the_world(&house, &["-m", home.path().to_str().unwrap()]);
    let again = house.pulled(home.path(), &["-i", "comments"]);
    let items: Vec<_> = again["items"].as_object().unwrap().keys().collect();
    assert_eq!(items, ["comments", "discussions", "issues", "pull-requests"]);
    let doctor = program(&["doctor", "store", "-m"]).arg(home.path()).output().unwrap();
    let count = listed(home.path(), &["comments"]).len();
    let held = succeeded(&doctor);
    assert!(held.contains(&format!(" pull requests, {count} comments\n")), "{held}");
}

#[test]
fn pull_warns_of_an_excluded_repository_that_does_not_exist() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let output =
        house.pull(&["-e", "nosuch,PUMP", "--json", "-m"]).arg(home.path()).output().unwrap();
    succeeded(&output);
    let told = String::from_utf8(output.stderr).unwrap();
    let expected = "warning: nosuch is excluded, but acme has no such repository, or it is archived or a fork\n";
    assert_eq!(told, expected, "PUMP is pump");
}

#[test]
fn excluded_repositories_are_listed_and_their_items_are_not_read() {
    let house = House::small();
    let by_flag = tempfile::tempdir().unwrap();
    house.pulled(by_flag.path(), &["-e", "acme/pump"]);
    let by_environment = tempfile::tempdir().unwrap();
    let mut command = house.pull(&["-m"]);
    command.arg(by_environment.path()).env("EXCLUDED_REPOSITORIES", "other, PUMP");
    succeeded(&command.output().unwrap());
    for home in [by_flag.path(), by_environment.path()] {
        assert_eq!(listed(home, &["repos"]).len(), 2);
        assert_eq!(listed(home, &["issues"]).len(), 6);
        assert!(listed(home, &["issues", "--repository", "pump"]).is_empty());
        let warned = |args: &[&str]| {
            let output = program(&[args, &["-m"]].concat()).arg(home).output().unwrap();
            String::from_utf8(output.stderr).unwrap()
        };
        assert_eq!(warned(&["list", "issues"]), "", "it was left out on purpose");
        let named = warned(&["list", "issues", "--repository", "pump"]);
        assert!(named.contains("warning: the issues of acme/pump were never pulled\n"), "{named}");
    }
}

#[test]
fn only_the_named_repositories_are_pulled() {
    let house = House::small();
    for name in ["pump", "acme/pump", "pump,PUMP"] {
        let home = tempfile::tempdir().unwrap();
        house.pulled(home.path(), &["--repo", name]);
        assert_eq!(listed(home.path(), &["repos"]).len(), 1, "{name}");
        assert_eq!(listed(home.path(), &["issues"]).len(), 6, "{name}");
    }
    let home = tempfile::tempdir().unwrap();
    let (code, told) = house.refused(home.path(), &["--repo", "pump", "--repo", "nowhere"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("failed: acme/nowhere: not there, or hidden from this token"), "{told}");
    assert!(
        told.contains("\nhint: run it again: what was read is kept; `highwater doctor`"),
        "{told}"
    );
    assert_eq!(listed(home.path(), &["issues"]).len(), 6, "the other one was read");
}

#[test]
fn a_window_cuts_issues_and_pull_requests_and_zero_days_cut_nothing() {
    let house =
        House::open(WorldSpec { history_days: 300, latency_ms: 0..=1, ..WorldSpec::small() }, 1);
    let home = tempfile::tempdir().unwrap();
    house.pulled(home.path(), &["--window-days", "30"]);
    let some = listed(home.path(), &["issues"]).len();
    assert!(some < 12, "a month of ten holds {some} of 12");
    assert_eq!(listed(home.path(), &["discussions"]).len(), 4, "they are read whole");
    house.pulled(home.path(), &["--window-days", "0"]);
    equals_the_world(&house, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn force_reads_everything_anew_and_nothing_else_does() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    let again = house.pulled(home.path(), &[]);
    assert_eq!((&again["items"]["issues"]["seen"], &again["requests"]), (&json!(0), &json!(1)));
    let forced = house.pulled(home.path(), &["-f", "-i", "issues"]);
    assert_eq!(forced["items"]["issues"]["stored"], 12);
    equals_the_world(&house, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn much_at_once_is_removed_only_when_a_person_says_so() {
    let spec = WorldSpec { repositories: 1, issues: 60, latency_ms: 0..=1, ..WorldSpec::small() };
    let (house, home) = (House::open(spec, 1), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &[]);
    house.look(|github| {
        let ids = github.world().truth().ids(ThreadKind::Issue);
        let now_ms = MachineClock.now_ms();
        for id in &ids[..40] {
            github.world_mut().delete_thread(ThreadKind::Issue, *id, now_ms);
        }
    });
    let (code, told) = house.refused(home.path(), &["--reconcile"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("40 of 60 issues would be removed at once"), "{told}");
    assert!(told.ends_with("\nhint: if this is intended, pass --allow-mass-removal\n"), "{told}");
    assert_eq!(listed(home.path(), &["issues"]).len(), 60);
    let done = house.pulled(home.path(), &["--reconcile", "--allow-mass-removal"]);
    assert_eq!(done["items"]["issues"]["removed"], 40);
    equals_the_world(&house, &["-m", home.path().to_str().unwrap()]);
}

#[test]
fn a_failing_repository_is_named_and_never_stops_the_others() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.look(|github| {
        let truth = github.world().truth();
        let pump = truth.repositories.values().find(|it| it.name == "pump").unwrap();
        github.break_node(Some(&pump.node_id));
    });
    let args = ["-i", "issues", "-m", home.path().to_str().unwrap()];
    let output = house.pull(&args).output().unwrap();
    let (code, told) = failed(&output);
    assert_eq!(code, Some(1));
    let summary = String::from_utf8(output.stdout).unwrap();
    assert!(summary.contains("\n  failed: acme/pump issues: "), "{summary}");
    let expected = "Error: acme is not pulled completely; what failed is named above (1)\nhint: ";
    assert!(told.contains(expected), "{told}");
    let held = listed(home.path(), &["issues"]);
    assert_eq!(held.len(), 6, "the other repository's are all there");
    assert!(held.iter().all(|issue| issue["repository"] != "pump"));
}

fn is_time(text: &str) -> bool {
    let is_right = |(at, c): (usize, char)| if at % 3 == 2 { c == ':' } else { c.is_ascii_digit() };
    text.chars().enumerate().all(is_right)
}
