//! A workspace with the repositories of two owners.

use hw_sim::WorldSpec;
use tempfile::TempDir;

use crate::house::{House, asked, asked_json, failed, succeeded};

#[test]
fn owners_are_listed_apart_and_named() {
    let (_houses, home) = two_owners();
    for list in ["issues", "prs", "discussions", "comments", "repos"] {
        let all = asked_json(home.path(), "list", &[list, "--workspace", "team"]);
        for owner in ["acme", "other"] {
            let args = [list, "--workspace", "team", "-o", owner];
            let own = asked_json(home.path(), "list", &args);
            assert!(!own.is_empty(), "{list} of {owner}");
            assert!(own.iter().all(|row| row["owner"] == owner), "{list} of {owner}: {own:?}");
            let expected: Vec<_> = all.iter().filter(|row| row["owner"] == owner).collect();
            assert_eq!(own.iter().collect::<Vec<_>>(), expected, "{list} of {owner}");
        }
    }
    let lines = succeeded(&asked(home.path(), "list", &["issues", "--workspace", "team"]));
    assert!(lines.lines().any(|line| line.starts_with("acme/pump#")), "{lines}");
    assert!(lines.lines().any(|line| line.starts_with("other/pump#")), "{lines}");
}

#[test]
fn show_names_every_thread_that_a_short_name_means() {
    let (_houses, home) = two_owners();
    let rows = asked_json(home.path(), "list", &["issues", "--workspace", "team"]);
    let number_of = |owner: &str| -> Vec<i64> {
        let own = rows.iter().filter(|row| row["owner"] == owner && row["repository"] == "pump");
        own.map(|row| row["number"].as_i64().unwrap()).collect()
    };
    let (acme, other) = (number_of("acme"), number_of("other"));
    let number = acme.iter().find(|number| other.contains(number)).unwrap();
    let output = asked(home.path(), "show", &["--workspace", "team", &format!("pump#{number}")]);
    let (code, stderr) = failed(&output);
    assert_eq!(code, Some(1));
    assert!(stderr.contains(&format!("pump#{number} names several threads: http")), "{stderr}");
    assert!(stderr.contains("hint: "), "{stderr}");
    for owner in ["acme", "other"] {
        let name = format!("{owner}/pump#{number}");
        let shown = succeeded(&asked(home.path(), "show", &["--workspace", "team", &name]));
        assert!(shown.contains(&name), "{shown}");
    }
}

/// Two hosts, each with one owner, pulled into one workspace. Their repository ids coincide.
fn two_owners() -> ([House; 2], TempDir) {
    let home = tempfile::tempdir().unwrap();
    let houses = ["acme", "other"].map(|owner| {
        let small = WorldSpec { latency_ms: 0..=1, ..WorldSpec::small() };
        let house = House::open(WorldSpec { organization: owner.into(), ..small }, 1);
        let items = "repositories,discussions,issues,pull-requests,comments";
        house.pulled(home.path(), &["-o", owner, "--workspace", "team", "-i", items]);
        house
    });
    (houses, home)
}
