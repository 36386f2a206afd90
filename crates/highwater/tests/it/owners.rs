//! A workspace with the repositories of two owners.

use hw_sim::WorldSpec;
use tempfile::TempDir;

use crate::fixture::{
    GitHubFixture, failure_output, run_command, run_command_json, success_stdout,
};

#[test]
fn owners_are_listed_apart_and_named() {
    let (_fixtures, home) = two_owners();
    for list in ["issues", "prs", "discussions", "comments", "repos"] {
        let all = run_command_json(home.path(), "list", &[list, "--workspace", "team"]);
        for owner in ["acme", "other"] {
            let args = [list, "--workspace", "team", "-o", owner];
            let own = run_command_json(home.path(), "list", &args);
            assert!(!own.is_empty(), "{list} of {owner}");
            assert!(own.iter().all(|row| row["owner"] == owner), "{list} of {owner}: {own:?}");
            let expected: Vec<_> = all.iter().filter(|row| row["owner"] == owner).collect();
            assert_eq!(own.iter().collect::<Vec<_>>(), expected, "{list} of {owner}");
        }
    }
    let lines =
        success_stdout(&run_command(home.path(), "list", &["issues", "--workspace", "team"]));
    assert!(lines.lines().any(|line| line.starts_with("acme/pump#")), "{lines}");
    assert!(lines.lines().any(|line| line.starts_with("other/pump#")), "{lines}");
}

#[test]
fn show_lists_every_thread_that_a_short_name_matches() {
    let (_fixtures, home) = two_owners();
    let rows = run_command_json(home.path(), "list", &["issues", "--workspace", "team"]);
    let number_of = |owner: &str| -> Vec<i64> {
        let own = rows.iter().filter(|row| row["owner"] == owner && row["repository"] == "pump");
        own.map(|row| row["number"].as_i64().unwrap()).collect()
    };
    let (acme, other) = (number_of("acme"), number_of("other"));
    let number = acme.iter().find(|number| other.contains(number)).unwrap();
    let output =
        run_command(home.path(), "show", &["--workspace", "team", &format!("pump#{number}")]);
    let (code, stderr) = failure_output(&output);
    assert_eq!(code, Some(1));
    assert!(stderr.contains(&format!("pump#{number} matches several threads: http")), "{stderr}");
    assert!(stderr.contains("hint: "), "{stderr}");
    for owner in ["acme", "other"] {
        let name = format!("{owner}/pump#{number}");
        let shown =
            success_stdout(&run_command(home.path(), "show", &["--workspace", "team", &name]));
        assert!(shown.contains(&name), "{shown}");
    }
}

/// Pulls two hosts, each with one owner, into one workspace. Their repository ids coincide.
fn two_owners() -> ([GitHubFixture; 2], TempDir) {
    let home = tempfile::tempdir().unwrap();
    let fixtures = ["acme", "other"].map(|owner| {
        let small = WorldSpec { latency_ms: 0..=1, ..WorldSpec::small() };
        let fixture = GitHubFixture::start(WorldSpec { organization: owner.into(), ..small }, 1);
        let items = "repositories,discussions,issues,pull-requests,comments";
        fixture.pull_json(home.path(), &["-o", owner, "--workspace", "team", "-i", items]);
        fixture
    });
    (fixtures, home)
}
