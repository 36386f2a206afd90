use serde_json::{Value, json};

use super::*;
use crate::github::answers::{error, fault, not_found, repository, with_errors};
use crate::github::graphql::GraphqlError;

#[test]
fn whatever_became_of_a_repository_it_is_there_while_it_answers() {
    let mut moved = there(1);
    (moved["isArchived"], moved["isFork"]) = (json!(true), json!(true));
    moved["owner"]["login"] = json!("globex");
    let look = look(&json!([moved]), vec![]);
    let Item::Repository(repository) = &look.observations[0].item else { panic!() };
    assert!(repository.is_archived && repository.is_fork && repository.owner == "globex");
}

#[test]
fn only_a_not_found_of_its_own_is_an_absence() {
    let issue = json!({ "__typename": "Issue" });
    let nodes = json!([null, null, null, null, issue, there(6)]);
    let errors = vec![
        not_found("nodes.0"),
        error("FORBIDDEN", "nodes.1"),
        not_found("nodes.2.owner"),
        fault("nodes.5.owner"),
    ];
    let look = look(&nodes, errors);
    assert_eq!(look.absent, ["R_1"]);
    let unreadable: Vec<_> = look.unreadable.iter().map(|row| row.subject.to_string()).collect();
    assert_eq!(unreadable, ["R_2", "R_3", "R_4", "R_5", "R_6"]);
    assert_eq!(look.unreadable[3].reason, "the id answers as something else");
    assert!(look.observations.is_empty());
}

#[test]
fn a_look_is_vouched_for_by_a_sibling_that_is_a_repository() {
    let vouched = |siblings: Value| {
        let count = siblings.as_array().unwrap().len();
        let data = json!({ "nodes": [], "siblings": siblings });
        let answer = with_errors(data, vec![]);
        read_look(&answer, &[], &ids(count), 9).unwrap().is_vouched_for
    };
    assert!(vouched(json!([null, { "__typename": "Repository" }])));
    assert!(!vouched(json!([null, { "__typename": "Issue" }])));
    assert!(!vouched(json!([])), "nobody was asked");
}

#[test]
fn an_answer_that_is_too_short_is_no_answer() {
    let data = json!({ "nodes": [there(1)], "siblings": [] });
    let answer = with_errors(data, vec![]);
    assert!(matches!(read_look(&answer, &ids(2), &[], 9), Err(Trouble::Garbled(_))));
    assert!(matches!(read_look(&answer, &ids(1), &ids(1), 9), Err(Trouble::Garbled(_))));
}

fn look(nodes: &Value, errors: Vec<GraphqlError>) -> LookPage {
    let count = nodes.as_array().unwrap().len();
    let answer = with_errors(json!({ "nodes": nodes, "siblings": [] }), errors);
    read_look(&answer, &ids(count), &[], 9).unwrap()
}

fn there(n: i64) -> Value {
    let mut node = repository(n);
    node["__typename"] = json!("Repository");
    node
}

fn ids(count: usize) -> Vec<String> {
    (1..=count).map(|n| format!("R_{n}")).collect()
}
