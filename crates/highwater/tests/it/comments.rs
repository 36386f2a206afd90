//! Comments, through the program itself.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::fixture::{GitHubFixture, documented_fields, program_command, success_stdout};
use crate::mirror_assertions::assert_threads_match;

#[test]
fn comments_are_pulled_when_chosen_and_listed_unchanged() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let printed = fixture.pull_json(home.path(), &["-i", "comments"]);
    let truth = fixture.with_github(|github| github.world().truth());
    let items: Vec<_> = printed["items"].as_object().unwrap().keys().collect();
    assert_eq!(items, ["comments", "discussions", "issues", "pull-requests"], "with threads");
    assert_eq!(printed["items"]["comments"]["stored"], truth.comments.len());
    assert_threads_match(&fixture, &["-m", home.path().to_str().unwrap()]);

    let listed = list_by_node_id(home.path(), &[]);
    let world = truth.comments.values().map(|comment| (comment.node_id.clone(), comment));
    for (node_id, comment) in world {
        let row = &listed[&node_id];
        assert_eq!(row["body"], json!(comment.body));
        assert_eq!(row["number"], comment.thread_number);
        assert_eq!(row["url"], json!(comment.url));
        assert_eq!(row["author"], json!(comment.author));
        assert_eq!(row["updated_at"], json!(comment.updated_at));
    }
    assert_eq!(listed.len(), truth.comments.len());
    let first = listed.values().next().unwrap().as_object().unwrap();
    let fields: Vec<String> = first.keys().cloned().collect();
    assert_eq!(fields, documented_fields("`highwater list comments --json`"));
}

#[test]
fn comments_are_left_out_unless_the_settings_or_the_arguments_name_them() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    let usual = fixture.pull_json(home.path(), &[]);
    assert_eq!(usual["items"].get("comments"), None);
    let output = program_command(&["list", "comments", "-m"]).arg(home.path()).output().unwrap();
    assert_eq!(success_stdout(&output), "");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("warning: no comments have been pulled into this workspace"),
        "{stderr}"
    );

    std::fs::write(home.path().join("highwater.toml"), "[pull]\ncomments = true\n").unwrap();
    let with = fixture.pull_json(home.path(), &[]);
    assert!(with["items"]["comments"]["stored"].as_u64().is_some_and(|stored| stored > 0));
    let quiet = fixture.pull_json(home.path(), &[]);
    assert_eq!(quiet["items"]["comments"]["stored"], 0);
}

#[test]
fn comments_are_found_by_repository_thread_and_author() {
    let (fixture, home) = (GitHubFixture::start_small(), tempfile::tempdir().unwrap());
    fixture.pull_json(home.path(), &["-i", "comments"]);
    let truth = fixture.with_github(|github| github.world().truth());
    let comment = truth.comments.values().find(|comment| comment.author.is_some()).unwrap();
    let repository = &truth.repositories[&comment.repository_id].name;
    let number = comment.thread_number.to_string();
    let author = comment.author.as_deref().unwrap().to_uppercase();
    let args = ["--repository", repository, "--thread", &number, "--author", &author];
    let found = list_by_node_id(home.path(), &args);
    assert!(found.contains_key(&comment.node_id), "{found:?}");
    assert!(found.values().all(|row| row["number"] == comment.thread_number));
    let lines =
        program_command(&["list", "comments", "--limit", "2", "-m"]).arg(home.path()).output();
    assert_eq!(success_stdout(&lines.unwrap()).lines().count(), 2);
}

/// Returns the listed comments by node id.
fn list_by_node_id(home: &Path, args: &[&str]) -> BTreeMap<String, Value> {
    let mut command = program_command(&["list", "comments", "--json", "-m"]);
    let output = command.arg(home).args(args).output().unwrap();
    let lines = success_stdout(&output);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "nothing is missing");
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["node_id"].as_str().unwrap().to_owned(), row)).collect()
}
