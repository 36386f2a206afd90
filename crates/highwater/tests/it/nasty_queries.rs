//! Queries that have broken other search engines, and a mirror with a text for each of them.

use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::Value;
use tempfile::TempDir;

use crate::fixture::GitHubFixture;

/// Returns queries that find the text containing them.
pub(crate) fn findable_queries() -> Vec<String> {
    let mut found = read_queries("found");
    found.push("ballast sluice ".repeat(700));
    found
}

/// Returns queries that match nothing.
pub(crate) fn empty_queries() -> Vec<String> {
    read_queries("empty")
}

fn read_queries(name: &str) -> Vec<String> {
    let listed: Value = serde_json::from_str(include_str!("../../../../tests/nasty.json")).unwrap();
    let texts = listed[name].as_array().unwrap().iter();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Pulls a world with an issue for each findable query: `Case N`, whose body begins with `caseN`.
pub(crate) fn pull_nasty_world() -> (GitHubFixture, TempDir) {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let now_ms = MachineClock.now_ms();
    fixture.with_github(|github| {
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        for (number, query) in findable_queries().iter().enumerate() {
            let (title, body) = (format!("Case {number}"), format!("case{number} {query} after"));
            github.world_mut().create_issue(repository, &title, &body, now_ms);
        }
    });
    fixture.pull_json(home.path(), &[]);
    (fixture, home)
}
