use serde_json::{Value, json};

use super::*;
use crate::github::graphql::GraphqlError;
use crate::github::sample_responses::{
    graphql_error, not_found_error, repository_json, response_with_errors, server_error,
};

#[test]
fn repository_lookup_finds_archived_forked_and_moved_repositories() {
    let mut moved = typed_repository_json(1);
    (moved["isArchived"], moved["isFork"]) = (json!(true), json!(true));
    moved["owner"]["login"] = json!("globex");
    let page = read_nodes(&json!([moved]), vec![]);
    let MirrorItem::Repository(repository) = &page.observations[0].item else { panic!() };
    assert!(repository.is_archived && repository.is_fork && repository.owner == "globex");
}

#[test]
fn repository_lookup_takes_only_a_not_found_at_the_node_for_absence() {
    let issue = json!({ "__typename": "Issue" });
    let nodes = json!([null, null, null, null, issue, typed_repository_json(6)]);
    let errors = vec![
        not_found_error("nodes.0"),
        graphql_error("FORBIDDEN", "nodes.1"),
        not_found_error("nodes.2.owner"),
        server_error("nodes.5.owner"),
    ];
    let page = read_nodes(&nodes, errors);
    assert_eq!(page.absent, ["R_1"]);
    let unreadable: Vec<_> = page.unreadable.iter().map(|row| row.subject.to_string()).collect();
    assert_eq!(unreadable, ["R_2", "R_3", "R_4", "R_5", "R_6"]);
    assert_eq!(page.unreadable[3].reason, "the id belongs to another kind of item");
    assert!(page.observations.is_empty());
}

#[test]
fn repository_lookup_is_vouched_for_by_a_sibling_that_is_a_repository() {
    for (siblings, is_vouched_for) in [
        (vec![Value::Null, json!({ "__typename": "Repository" })], true),
        (vec![Value::Null, json!({ "__typename": "Issue" })], false),
        (vec![], false),
    ] {
        let ids = node_ids(siblings.len());
        let data = json!({ "nodes": [], "siblings": siblings });
        let page = read_lookup(&response_with_errors(data, vec![]), &[], &ids).unwrap();
        assert_eq!(page.is_vouched_for, is_vouched_for, "{} siblings", ids.len());
    }
}

#[test]
fn repository_lookup_fails_if_the_response_is_too_short() {
    let data = json!({ "nodes": [typed_repository_json(1)], "siblings": [] });
    let response = response_with_errors(data, vec![]);
    assert!(matches!(
        read_lookup(&response, &node_ids(2), &[]),
        Err(SourceError::InvalidResponse(_))
    ));
    assert!(matches!(
        read_lookup(&response, &node_ids(1), &node_ids(1)),
        Err(SourceError::InvalidResponse(_))
    ));
}

fn read_nodes(nodes: &Value, errors: Vec<GraphqlError>) -> LookupPage {
    let count = nodes.as_array().unwrap().len();
    let response = response_with_errors(json!({ "nodes": nodes, "siblings": [] }), errors);
    read_lookup(&response, &node_ids(count), &[]).unwrap()
}

fn typed_repository_json(n: i64) -> Value {
    let mut node = repository_json(n);
    node["__typename"] = json!("Repository");
    node
}

fn node_ids(count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("R_{n}")).collect()
}
