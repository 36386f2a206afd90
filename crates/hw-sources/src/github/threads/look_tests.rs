use serde_json::{Value, json};

use super::*;
use crate::github::answers::{answer, error, fault, not_found, thread, with_errors};
use crate::page::Subject;

#[test]
fn a_look_tells_absence_from_a_fault() {
    for surface in Surface::THREADS {
        let mut moved = thread(surface, 4);
        moved["repository"]["databaseId"] = json!(99);
        let data = json!({ "nodes": [thread(surface, 1), null, null, moved] });
        let look = look(&with_errors(data, vec![not_found("nodes.1")]), surface, 4);
        assert_eq!(look.observations.len(), 1);
        assert_eq!(look.absent, ["T_2", "T_4"]);
        assert!(look.elsewhere.is_empty(), "a thread that moved is listed where it went");
        assert_eq!(look.unreadable[0].subject, Subject::Node("T_3".into()));
    }
}

#[test]
fn only_an_error_of_its_own_makes_a_node_absent() {
    let data = json!({ "nodes": [null, null, thread(Surface::Issues, 3)] });
    let errors = vec![
        not_found("nodes.0.repository"),
        error("FORBIDDEN", "nodes.1"),
        fault("nodes.2.labels"),
    ];
    let look = look(&with_errors(data, errors), Surface::Issues, 3);
    assert_eq!((look.absent.len(), look.observations.len(), look.unreadable.len()), (0, 0, 3));
}

#[test]
fn an_issue_that_became_a_discussion_is_absent_from_the_issues() {
    let mut node = thread(Surface::Discussions, 1);
    node["__typename"] = json!("Discussion");
    let answer = answer(json!({ "nodes": [node] }));
    assert_eq!(look(&answer, Surface::Issues, 1).absent, ["T_1"]);
    assert_eq!(look(&answer, Surface::Discussions, 1).observations.len(), 1);
}

#[test]
fn a_look_is_vouched_for_by_the_repository_and_a_sibling() {
    let vouched = |surface, scope: Value, siblings: Value| {
        let data = json!({ "scope": scope, "nodes": [], "siblings": siblings });
        read_look(&answer(data), surface, &[], 7, 9).unwrap().is_vouched_for
    };
    let sibling = json!({ "repository": { "databaseId": 7 } });
    for surface in Surface::THREADS {
        let mut on = json!({ "databaseId": 7 });
        if let Some(switch) = listing::of(surface).switch {
            on[switch] = json!(true);
        }
        assert!(vouched(surface, on.clone(), json!([])), "there is none where all are suspect");
        assert!(vouched(surface, on.clone(), json!([null, sibling])));
        assert!(!vouched(surface, on, json!([null, null])));
        assert!(!vouched(surface, Value::Null, json!([sibling])));
    }
    let off = json!({ "databaseId": 7, "hasIssuesEnabled": false, "hasDiscussionsEnabled": true });
    assert!(!vouched(Surface::Issues, off.clone(), json!([sibling])));
    assert!(vouched(Surface::Discussions, off, json!([sibling])));
}

#[test]
fn a_look_asks_for_one_kind_and_names_its_scope() {
    let ids = ["T_1".to_owned()];
    let query = look_query(Surface::PullRequests, "R_7", &ids, &[]);
    assert!(query.document.contains("... on PullRequest { id"), "{}", query.document);
    assert_eq!(query.variables, json!({ "scope": "R_7", "ids": ids, "siblings": [] }));
}

fn look(answer: &Answer, surface: Surface, count: usize) -> LookPage {
    let ids: Vec<String> = (1..=count).map(|n| format!("T_{n}")).collect();
    read_look(answer, surface, &ids, 7, 9).unwrap()
}
