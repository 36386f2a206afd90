//! What is said in threads, through the program itself.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::house::{House, documented_fields, program, succeeded};
use crate::judge::equals_the_world;

#[test]
fn comments_are_pulled_when_they_are_chosen_and_listed_as_they_were_said() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let told = house.pulled(home.path(), &["-i", "comments"]);
    let truth = house.look(|github| github.world().truth());
    let items: Vec<_> = told["items"].as_object().unwrap().keys().collect();
    assert_eq!(items, ["comments", "discussions", "issues", "pull-requests"], "with threads");
    assert_eq!(told["items"]["comments"]["stored"], truth.comments.len());
    equals_the_world(&house, &["-m", home.path().to_str().unwrap()]);

    let listed = listed(home.path(), &[]);
    let world = truth.comments.values().map(|said| (said.node_id.clone(), said));
    for (node_id, said) in world {
        let row = &listed[&node_id];
        assert_eq!(row["body"], json!(said.body));
        assert_eq!(row["number"], said.thread_number);
        assert_eq!(row["url"], json!(said.url));
        assert_eq!(row["author"], json!(said.author));
        assert_eq!(row["updated_at"], json!(said.updated_at));
    }
    assert_eq!(listed.len(), truth.comments.len());
    let first = listed.values().next().unwrap().as_object().unwrap();
    let fields: Vec<String> = first.keys().cloned().collect();
    assert_eq!(fields, documented_fields("`highwater list comments --json`"));
}

#[test]
fn comments_are_left_out_unless_the_settings_or_the_arguments_name_them() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    let usual = house.pulled(home.path(), &[]);
    assert_eq!(usual["items"].get("comments"), None);
    let output = program(&["list", "comments", "-m"]).arg(home.path()).output().unwrap();
    assert_eq!(succeeded(&output), "");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("warning: no comments were ever pulled"), "{told}");

    std::fs::write(home.path().join("highwater.toml"), "[pull]\ncomments = true\n").unwrap();
    let with = house.pulled(home.path(), &[]);
    assert!(with["items"]["comments"]["stored"].as_u64().is_some_and(|stored| 0 < stored));
    let quiet = house.pulled(home.path(), &[]);
    assert_eq!(quiet["items"]["comments"]["stored"], 0);
}

#[test]
fn comments_are_found_by_repository_thread_and_author() {
    let (house, home) = (House::small(), tempfile::tempdir().unwrap());
    house.pulled(home.path(), &["-i", "comments"]);
    let truth = house.look(|github| github.world().truth());
    let said = truth.comments.values().find(|said| said.author.is_some()).unwrap();
    let repository = &truth.repositories[&said.repository_id].name;
    let number = said.thread_number.to_string();
    let author = said.author.as_deref().unwrap().to_uppercase();
    let args = ["--repository", repository, "--thread", &number, "--author", &author];
    let found = listed(home.path(), &args);
    assert!(found.contains_key(&said.node_id), "{found:?}");
    assert!(found.values().all(|row| row["number"] == said.thread_number));
    let lines = program(&["list", "comments", "--limit", "2", "-m"]).arg(home.path()).output();
    assert_eq!(succeeded(&lines.unwrap()).lines().count(), 2);
}

/// What the program lists, by node id.
fn listed(home: &Path, args: &[&str]) -> BTreeMap<String, Value> {
    let mut command = program(&["list", "comments", "--json", "-m"]);
    let output = command.arg(home).args(args).output().unwrap();
    let lines = succeeded(&output);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "nothing is missing");
    let rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| (row["node_id"].as_str().unwrap().to_owned(), row)).collect()
}
