use hw_rules::time::Mark;

use super::super::graphql::GraphqlError;
use serde_json::json;

use super::*;

#[test]
fn a_bad_node_spoils_nothing_but_itself() {
    let mut broken = node(2);
    broken["title"] = Value::Null;
    let page =
        read_page(&listed(&[edge(1, &node(1)), edge(2, &broken), edge(3, &node(3))]), 7, None, 9);
    let page = page.unwrap();
    assert_eq!(page.observations.iter().map(|o| o.key().id).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(page.unreadable[0].subject, Subject::Node("I_2".into()));
    assert_eq!(page.shape.next, Some(Cursor("end".into())));
    assert_eq!(page.shape.total_count, Some(3));
}

#[test]
fn a_null_node_is_known_by_its_place() {
    let page = read_page(&listed(&[edge(1, &node(1)), edge(2, &Value::Null)]), 7, None, 9).unwrap();
    let place = |at: &str, after: Option<&str>| Subject::Place {
        at: Cursor(at.into()),
        after: after.map(|after| Cursor(after.into())),
    };
    assert_eq!(page.unreadable[0].subject, place("c2", Some("c1")));
    let first = read_page(&listed(&[edge(1, &Value::Null)]), 7, None, 9).unwrap();
    assert_eq!(first.unreadable[0].subject, place("c1", None));
}

#[test]
fn a_node_with_an_error_inside_is_not_taken_for_what_the_source_holds() {
    let mut ghost = node(1);
    ghost["author"] = Value::Null;
    let fault = GraphqlError {
        kind: String::new(),
        message: "Something went wrong".into(),
        path: "node.issues.edges.0.node.author".into(),
    };
    let answer = Answer { errors: vec![fault], ..listed(&[edge(1, &ghost), edge(2, &node(2))]) };
    let page = read_page(&answer, 7, None, 9).unwrap();
    assert_eq!(page.observations.iter().map(|o| o.key().id).collect::<Vec<_>>(), [2]);
    assert_eq!(page.unreadable[0].subject, Subject::Node("I_1".into()));
}

#[test]
fn an_answer_about_another_repository_is_never_data() {
    let answer = listed(&[edge(1, &node(1))]);
    assert!(matches!(read_page(&answer, 8, None, 9), Err(Trouble::Garbled(_))));
}

#[test]
fn a_missing_repository_is_hidden_not_empty() {
    let data = json!({ "node": null });
    let errors = vec![not_found("node")];
    let answer = Answer { data: data.clone(), errors, ..listed(&[]) };
    assert!(matches!(read_page(&answer, 7, None, 9), Err(Trouble::Hidden(_))));
    let fault = Answer { data, ..listed(&[]) };
    assert!(matches!(read_page(&fault, 7, None, 9), Err(Trouble::Garbled(_))));
}

#[test]
fn a_look_tells_absence_from_a_fault() {
    let ids: Vec<String> = (1..=4).map(|n| format!("I_{n}")).collect();
    let mut moved = node(4);
    moved["repository"]["databaseId"] = json!(99);
    let answer = Answer {
        data: json!({ "nodes": [node(1), null, null, moved] }),
        errors: vec![not_found("nodes.1")],
        ..listed(&[])
    };
    let look = read_look(&answer, &ids, 7, 9).unwrap();
    assert_eq!(look.observations.len(), 1);
    assert_eq!(look.absent, ["I_2", "I_4"]);
    assert_eq!(look.unreadable[0].subject, Subject::Node("I_3".into()));
}

#[test]
fn a_look_is_vouched_for_by_the_repository_and_a_sibling() {
    let vouched = |scope: Value, siblings: Value| {
        let data = json!({ "scope": scope, "nodes": [], "siblings": siblings });
        read_look(&Answer { data, ..listed(&[]) }, &[], 7, 9).unwrap().is_vouched_for
    };
    let on = json!({ "databaseId": 7, "hasIssuesEnabled": true });
    let sibling = json!({ "repository": { "databaseId": 7 } });
    assert!(vouched(on.clone(), json!([])), "where all that was held is suspect, there is none");
    assert!(vouched(on.clone(), json!([null, sibling])));
    assert!(!vouched(on, json!([null, null])));
    let off = json!({ "databaseId": 7, "hasIssuesEnabled": false });
    assert!(!vouched(off, json!([sibling])));
    assert!(!vouched(Value::Null, json!([sibling])));
}

#[test]
fn issues_that_are_switched_off_are_hidden_not_empty() {
    let mut answer = listed(&[]);
    answer.data["node"]["hasIssuesEnabled"] = json!(false);
    assert!(matches!(read_page(&answer, 7, None, 9), Err(Trouble::Hidden(_))));
}

#[test]
fn ids_beyond_32_bits_come_as_text() {
    let mut large = node(1);
    large["fullDatabaseId"] = json!("9007199254740993");
    let page = read_page(&listed(&[edge(1, &large)]), 7, None, 9).unwrap();
    assert_eq!(page.observations[0].key().id, 9_007_199_254_740_993);
}

fn not_found(path: &str) -> GraphqlError {
    GraphqlError { kind: "NOT_FOUND".into(), message: String::new(), path: path.into() }
}

fn node(n: i64) -> Value {
    json!({
        "id": format!("I_{n}"), "fullDatabaseId": n.to_string(), "number": n, "url": "u", "title": "t",
        "body": "b", "state": "OPEN", "stateReason": null, "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-01T00:00:00Z", "closedAt": null, "author": null,
        "labels": { "nodes": [{ "name": "z" }, { "name": "a" }] }, "repository": { "databaseId": 7 },
    })
}

fn edge(n: i64, node: &Value) -> Value {
    json!({ "cursor": format!("c{n}"), "node": node })
}

fn listed(edges: &[Value]) -> Answer {
    let issues = json!({
        "totalCount": edges.len(), "edges": edges,
        "pageInfo": { "hasNextPage": true, "endCursor": "end" },
    });
    Answer {
        data: json!({ "node": { "databaseId": 7, "issues": issues } }),
        errors: vec![],
        date: Mark(0),
        sample: None,
        cost: 1,
        replaced: 0,
    }
}
