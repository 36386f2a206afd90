use serde_json::{Value, json};

use super::super::sample_responses::{
    graphql_error, not_found_error, response_with_data, response_with_errors, server_error,
};
use super::*;

#[test]
fn references_are_issues_of_the_same_repository_in_order() {
    let found = read_found(&pull_request_json());
    assert_eq!(found.closes, [3, 12]);
    assert!(found.is_open);
    assert_eq!(found.updated_at.as_str(), "2026-01-02T00:00:00Z");
    let mut merged = pull_request_json();
    merged["state"] = json!("MERGED");
    assert!(!read_found(&merged).is_open);
}

#[test]
fn references_the_token_cannot_see_are_left_out() {
    let mut node = pull_request_json();
    node["closingIssuesReferences"]["nodes"][0] = Value::Null;
    assert_eq!(read_found(&node).closes, [3]);
}

#[test]
fn references_tell_absence_from_a_fault() {
    let mut issue = pull_request_json();
    issue["__typename"] = json!("Issue");
    let data = json!({ "nodes": [null, null, null, issue, pull_request_json()] });
    let errors = vec![
        not_found_error("nodes.0"),
        graphql_error("FORBIDDEN", "nodes.1"),
        server_error("nodes.4.closingIssuesReferences"),
    ];
    let answers = read_answers(&response_with_errors(data, errors), 5);
    assert_eq!((&answers[0], &answers[3]), (&ReferencesAnswer::Absent, &ReferencesAnswer::Absent));
    for unreadable in [1, 2, 4] {
        assert!(matches!(answers[unreadable], ReferencesAnswer::Unreadable(_)), "{answers:?}");
    }
}

#[test]
fn references_that_cannot_be_true_are_unreadable() {
    let (mut missing, mut other, mut zero) =
        (pull_request_json(), pull_request_json(), pull_request_json());
    missing["closingIssuesReferences"] = Value::Null;
    other["id"] = json!("PR_99");
    zero["closingIssuesReferences"]["nodes"][0]["number"] = json!(0);
    for node in [missing, other, zero] {
        let answers = read_answers(&response_with_data(json!({ "nodes": [node] })), 1);
        assert!(matches!(answers[0], ReferencesAnswer::Unreadable(_)), "{answers:?}");
    }
}

#[test]
fn references_response_with_too_few_nodes_is_rejected() {
    let response = response_with_data(json!({ "nodes": [pull_request_json()] }));
    assert!(read_references(&response, &["PR_4".into(), "PR_5".into()]).is_err());
}

fn read_found(node: &Value) -> ClosingReferences {
    let answer = read_answers(&response_with_data(json!({ "nodes": [node] })), 1).remove(0);
    match answer {
        ReferencesAnswer::Found(references) => references,
        ReferencesAnswer::Absent | ReferencesAnswer::Unreadable(_) => panic!("{answer:?}"),
    }
}

fn read_answers(response: &GraphqlResponse, count: usize) -> Vec<ReferencesAnswer> {
    read_references(response, &vec!["PR_4".to_owned(); count]).unwrap()
}

/// A pull request of repository 7.
fn pull_request_json() -> Value {
    json!({
        "__typename": "PullRequest", "id": "PR_4", "updatedAt": "2026-01-02T00:00:00Z",
        "state": "OPEN", "repository": { "databaseId": 7 },
        "closingIssuesReferences": { "nodes": [
            { "number": 12, "repository": { "databaseId": 7 } },
            { "number": 5, "repository": { "databaseId": 8 } },
            { "number": 3, "repository": { "databaseId": 7 } },
        ] },
    })
}
