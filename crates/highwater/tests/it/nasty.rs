//! Queries that have broken other people's search, and a mirror in which each of them is in a text.

use hw_sync::clock::{Clock as _, MachineClock};
use serde_json::Value;
use tempfile::TempDir;

use crate::house::House;

/// Each can be found by what contains it.
pub(crate) fn found() -> Vec<String> {
    let mut found = listed("found");
    found.push("ballast sluice ".repeat(700));
    found
}

/// There is nothing to look for in them.
pub(crate) fn empty() -> Vec<String> {
    listed("empty")
}

fn listed(name: &str) -> Vec<String> {
    let listed: Value = serde_json::from_str(include_str!("../../../../tests/nasty.json")).unwrap();
    let texts = listed[name].as_array().unwrap().iter();
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// A home with an issue for each that is found: `Case N`, which says `caseN`.
pub(crate) fn pulled() -> (House, TempDir) {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let now_ms = MachineClock.now_ms();
    house.look(|github| {
        let repository = *github.world().truth().repositories.keys().next().unwrap();
        for (number, query) in found().iter().enumerate() {
            let (title, body) = (format!("Case {number}"), format!("case{number} {query} after"));
            github.world_mut().create_issue(repository, &title, &body, now_ms);
        }
    });
    house.pulled(home.path(), &[]);
    (house, home)
}
