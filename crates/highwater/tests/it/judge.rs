//! What the program holds, compared with what is true in the simulated world.

use std::collections::BTreeMap;
use std::path::Path;

use hw_sim::ThreadKind;
use serde_json::{Value, json};

use crate::house::{House, listed, program, succeeded};

const KINDS: [(&str, ThreadKind); 3] = [
    ("issues", ThreadKind::Issue),
    ("prs", ThreadKind::PullRequest),
    ("discussions", ThreadKind::Discussion),
];

/// Compares the comments that the program lists with those of the simulated world.
pub(crate) fn comments_equal_the_world(house: &House, home: &Path) {
    let truth = house.look(|github| github.world().truth());
    let world: BTreeMap<String, (i64, String)> = truth
        .comments
        .values()
        .map(|it| (it.node_id.clone(), (it.thread_number, it.body.clone())))
        .collect();
    let held = listed(home, &["comments"]).into_iter().map(|row| {
        let text = |field: &str| row[field].as_str().unwrap().to_owned();
        (text("node_id"), (row["number"].as_i64().unwrap(), text("body")))
    });
    assert!(!world.is_empty(), "somebody said something");
    assert_eq!(held.collect::<BTreeMap<_, _>>(), world);
}

/// Compares what the program lists with what is true in the simulated world.
pub(crate) fn equals_the_world(house: &House, workspace: &[&str]) {
    let truth = house.look(|github| github.world().truth());
    let list = |kind: &str, field: &str| -> BTreeMap<String, String> {
        let output = program(&["list", kind, "--json"]).args(workspace).output().unwrap();
        let lines = succeeded(&output);
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{kind}: nothing is missing");
        let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| (row["node_id"].to_string(), row[field].to_string())).collect()
    };
    for (kind, thread_kind) in KINDS {
        for field in ["title", "body", "updated_at"] {
            let world = truth.of_kind(thread_kind).map(|it| {
                let text = match field {
                    "title" => &it.title,
                    "body" => &it.body,
                    _ => &it.updated_at,
                };
                (json!(it.node_id).to_string(), json!(text).to_string())
            });
            assert_eq!(list(kind, field), world.collect(), "{kind} {field}");
        }
    }
    let is_followed = |it: &&hw_sim::TrueRepository| !it.is_archived && !it.is_fork;
    let world = truth.repositories.values().filter(is_followed);
    let world = world.map(|it| (json!(it.node_id).to_string(), json!(it.name).to_string()));
    assert_eq!(list("repos", "name"), world.collect(), "repositories");
}
