use serde_json::{Value, json};

use super::*;
use crate::github::sample_responses::{
    graphql_error, not_found_error, response_with_data, response_with_errors, server_error,
    thread_json,
};
use hw_rules::row_subject::RowSubject;

#[test]
fn thread_lookup_tells_absence_from_a_fault() {
    for kind in ThreadKind::ALL {
        let mut moved = thread_json(kind, 4);
        moved["repository"]["databaseId"] = json!(99);
        let data = json!({ "nodes": [thread_json(kind, 1), null, null, moved] });
        let page =
            read_threads(&response_with_errors(data, vec![not_found_error("nodes.1")]), kind, 4);
        assert_eq!(page.observations.len(), 1);
        assert_eq!(page.absent, ["T_2", "T_4"]);
        assert!(page.elsewhere.is_empty(), "a thread that moved is listed where it went");
        assert_eq!(page.unreadable[0].subject, RowSubject::Node("T_3".into()));
    }
}

#[test]
fn thread_lookup_takes_only_an_error_at_the_node_for_absence() {
    let data = json!({ "nodes": [null, null, thread_json(ThreadKind::Issue, 3)] });
    let errors = vec![
        not_found_error("nodes.0.repository"),
        graphql_error("FORBIDDEN", "nodes.1"),
        server_error("nodes.2.labels"),
    ];
    let page = read_threads(&response_with_errors(data, errors), ThreadKind::Issue, 3);
    assert_eq!((page.absent.len(), page.observations.len(), page.unreadable.len()), (0, 0, 3));
}

#[test]
fn thread_lookup_of_issues_misses_one_that_became_a_discussion() {
    let mut node = thread_json(ThreadKind::Discussion, 1);
    node["__typename"] = json!("Discussion");
    let response = response_with_data(json!({ "nodes": [node] }));
    assert_eq!(read_threads(&response, ThreadKind::Issue, 1).absent, ["T_1"]);
    assert_eq!(read_threads(&response, ThreadKind::Discussion, 1).observations.len(), 1);
}

#[test]
fn thread_lookup_is_vouched_for_by_the_repository_and_a_sibling() {
    let sibling = json!({ "repository": { "databaseId": 7 } });
    for kind in ThreadKind::ALL {
        let mut scope = json!({ "databaseId": 7 });
        if let Some(field) = thread_schema::for_kind(kind).enabled_field {
            scope[field] = json!(true);
        }
        assert!(is_vouched_for(kind, &scope, &json!([])), "no sibling if all are suspects");
        assert!(is_vouched_for(kind, &scope, &json!([null, sibling])));
        assert!(!is_vouched_for(kind, &scope, &json!([null, null])));
        assert!(!is_vouched_for(kind, &Value::Null, &json!([sibling])));
    }
    let scope =
        json!({ "databaseId": 7, "hasIssuesEnabled": false, "hasDiscussionsEnabled": true });
    assert!(!is_vouched_for(ThreadKind::Issue, &scope, &json!([sibling])));
    assert!(is_vouched_for(ThreadKind::Discussion, &scope, &json!([sibling])));
}

#[test]
fn thread_lookup_query_requests_one_kind_and_names_its_scope() {
    let ids = ["T_1".to_owned()];
    let query = lookup_query(ThreadKind::PullRequest, "R_7", &ids, &[]);
    assert!(query.document.contains("... on PullRequest { id"), "{}", query.document);
    assert_eq!(query.variables, json!({ "scope": "R_7", "ids": ids, "siblings": [] }));
}

fn is_vouched_for(kind: ThreadKind, scope: &Value, siblings: &Value) -> bool {
    let data = json!({ "scope": scope, "nodes": [], "siblings": siblings });
    read_lookup(&response_with_data(data), kind, &[], 7).unwrap().is_vouched_for
}

fn read_threads(response: &GraphqlResponse, kind: ThreadKind, count: usize) -> LookupPage {
    let ids: Vec<String> = (1..=count).map(|n| format!("T_{n}")).collect();
    read_lookup(response, kind, &ids, 7).unwrap()
}
