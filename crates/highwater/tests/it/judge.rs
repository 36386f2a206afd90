//! What the program holds, compared with what is true in the simulated world.

use std::collections::BTreeMap;

use hw_sim::ThreadKind;
use serde_json::{Value, json};

use crate::house::{House, program, succeeded};

const KINDS: [(&str, ThreadKind); 3] = [
    ("issues", ThreadKind::Issue),
    ("prs", ThreadKind::PullRequest),
    ("discussions", ThreadKind::Discussion),
];

/// Compares what the program lists with what is true in the simulated world.
pub(crate) fn equals_the_world(house: &House, workspace: &[&str]) {
    let truth = house.look(|github| github.world().truth());
    let list = |kind: &str, field: &str| list(workspace, kind, field);
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

/// The same for what is said in the threads.
pub(crate) fn comments_equal_the_world(house: &House, workspace: &[&str]) {
    let truth = house.look(|github| github.world().truth());
    let world = truth.comments.values();
    let world = world.map(|it| (json!(it.node_id).to_string(), json!(it.body).to_string()));
    assert_eq!(list(workspace, "comments", "body"), world.collect(), "comments");
    assert!(!truth.comments.is_empty(), "somebody said something");
}

/// One field of all rows that the program lists, by node id.
fn list(workspace: &[&str], kind: &str, field: &str) -> BTreeMap<String, String> {
    let output = program(&["list", kind, "--json"]).args(workspace).output().unwrap();
    let lines = succeeded(&output);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{kind}: nothing is missing");
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["node_id"].to_string(), row[field].to_string())).collect()
}
