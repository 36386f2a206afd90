//! Compares the program's lists with the simulated world.

use std::collections::BTreeMap;

use hw_sim::ThreadKind;
use serde_json::{Value, json};

use crate::fixture::{GitHubFixture, program_command, success_stdout};

const THREAD_KINDS: [(&str, ThreadKind); 3] = [
    ("issues", ThreadKind::Issue),
    ("prs", ThreadKind::PullRequest),
    ("discussions", ThreadKind::Discussion),
];

/// Compares listed threads and repositories with the simulated world.
pub(crate) fn assert_threads_match(fixture: &GitHubFixture, workspace: &[&str]) {
    let truth = fixture.with_github(|github| github.world().truth());
    for (kind, thread_kind) in THREAD_KINDS {
        for field in ["title", "body", "updated_at"] {
            let world = truth.threads_of_kind(thread_kind).map(|thread| {
                let text = match field {
                    "title" => &thread.title,
                    "body" => &thread.body,
                    _ => &thread.updated_at,
                };
                (json!(thread.node_id).to_string(), json!(text).to_string())
            });
            assert_eq!(list_field(workspace, kind, field), world.collect(), "{kind} {field}");
        }
    }
    let followed = truth.repositories.values().filter(|found| !found.is_archived && !found.is_fork);
    let world =
        followed.map(|found| (json!(found.node_id).to_string(), json!(found.name).to_string()));
    assert_eq!(list_field(workspace, "repos", "name"), world.collect(), "repositories");
}

/// Compares listed comments with the simulated world.
pub(crate) fn assert_comments_match(fixture: &GitHubFixture, workspace: &[&str]) {
    let truth = fixture.with_github(|github| github.world().truth());
    let world = truth.comments.values();
    let world =
        world.map(|found| (json!(found.node_id).to_string(), json!(found.body).to_string()));
    assert_eq!(list_field(workspace, "comments", "body"), world.collect(), "comments");
    assert!(!truth.comments.is_empty(), "the world has comments");
}

/// Returns one field of all listed rows, by node id.
fn list_field(workspace: &[&str], kind: &str, field: &str) -> BTreeMap<String, String> {
    let output = program_command(&["list", kind, "--json"]).args(workspace).output().unwrap();
    let lines = success_stdout(&output);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{kind}: nothing is missing");
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["node_id"].to_string(), row[field].to_string())).collect()
}
