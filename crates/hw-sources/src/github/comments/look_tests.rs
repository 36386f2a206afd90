use serde_json::{Value, json};

use super::*;
use crate::github::answers::{answer, error, fault, not_found, with_errors};
use crate::github::comments::row;
use crate::github::comments::samples::{comment, ids, node, row as listed};
use crate::page::Subject;
use crate::raw_json::RawDocument;

#[test]
fn a_comment_is_here_elsewhere_absent_or_unreadable() {
    for surface in Surface::COMMENTS {
        let mut broken = node(surface, 5);
        broken["body"] = Value::Null;
        let nodes = json!([node(surface, 1), null, null, moved(surface, 4), broken]);
        let answer = with_errors(json!({ "nodes": nodes }), vec![not_found("nodes.1")]);
        let look = look(&answer, surface, 5);
        assert_eq!((ids(&look.observations), ids(&look.elsewhere)), (vec![1], vec![4]));
        assert_eq!(look.absent, ["C_2"]);
        assert_eq!(comment(&look.elsewhere[0]).repository_id, 99);
        let unreadable: Vec<&Subject> = look.unreadable.iter().map(|it| &it.subject).collect();
        assert_eq!(unreadable, [&Subject::Node("C_3".into()), &Subject::Node("C_5".into())]);
    }
}

#[test]
fn only_an_error_of_its_own_makes_a_comment_absent() {
    for surface in Surface::COMMENTS {
        let data = json!({ "nodes": [null, null, node(surface, 3)] });
        let errors = vec![
            not_found("nodes.0.repository"),
            error("FORBIDDEN", "nodes.1"),
            fault("nodes.2.author"),
        ];
        let look = look(&with_errors(data, errors), surface, 3);
        assert_eq!((look.absent.len(), look.observations.len(), look.unreadable.len()), (0, 0, 3));
    }
}

#[test]
fn a_comment_without_a_thread_is_unreadable() {
    for (surface, field) in [
        (Surface::IssueComments, "url"),
        (Surface::IssueComments, "repository"),
        (Surface::ReviewComments, "pullRequest"),
        (Surface::Reviews, "pullRequest"),
        (Surface::Reviews, "state"),
        (Surface::DiscussionComments, "discussion"),
    ] {
        let mut broken = node(surface, 1);
        broken[field] = if field == "url" { json!("https://github.com/acme") } else { Value::Null };
        let look = look(&answer(json!({ "nodes": [broken] })), surface, 1);
        assert_eq!((look.observations.len(), look.unreadable.len()), (0, 1), "{field}");
    }
}

#[test]
fn a_look_is_vouched_for_by_the_repository_and_a_sibling() {
    for surface in Surface::COMMENTS {
        let vouched = |scope: Value, siblings: Value| {
            let data = json!({ "scope": scope, "nodes": [], "siblings": siblings });
            read_look(&answer(data), surface, &[], 7, 9).unwrap().is_vouched_for
        };
        let on =
            json!({ "databaseId": 7, "hasIssuesEnabled": true, "hasDiscussionsEnabled": true });
        let (ours, theirs) = (node(surface, 1), moved(surface, 2));
        assert!(vouched(on.clone(), json!([])));
        assert!(vouched(on.clone(), json!([null, ours])));
        assert!(!vouched(on.clone(), json!([null, theirs])));
        assert!(!vouched(Value::Null, json!([ours])));
        let off =
            json!({ "databaseId": 7, "hasIssuesEnabled": false, "hasDiscussionsEnabled": false });
        let is_always_on = matches!(surface, Surface::Reviews | Surface::ReviewComments);
        assert_eq!(vouched(off, json!([ours])), is_always_on, "{surface:?}");
    }
}

#[test]
fn a_look_asks_for_one_kind_and_names_its_scope() {
    let asked = ["C_1".to_owned()];
    for surface in Surface::COMMENTS {
        let query = look_query(surface, "R_7", &asked, &[]);
        let kind = form::of(surface).type_name;
        assert!(query.document.contains(&format!("... on {kind} {{ id")), "{}", query.document);
        assert_eq!(query.variables, json!({ "scope": "R_7", "ids": asked, "siblings": [] }));
    }
}

#[test]
fn a_comment_is_the_same_however_it_was_read() {
    for surface in [Surface::IssueComments, Surface::ReviewComments] {
        let looked = look(&answer(json!({ "nodes": [node(surface, 1)] })), surface, 1);
        let listed = RawDocument::from(listed(surface, 1));
        let listed = row::read(surface.kind(), 7, listed.root()).unwrap();
        assert_eq!(comment(&looked.observations[0]), &listed);
    }
}

/// A comment of another repository.
fn moved(surface: Surface, n: i64) -> Value {
    let mut moved = node(surface, n);
    let home = if surface == Surface::DiscussionComments {
        &mut moved["discussion"]["repository"]
    } else {
        &mut moved["repository"]
    };
    home["databaseId"] = json!(99);
    moved
}

fn look(answer: &Answer, surface: Surface, count: usize) -> LookPage {
    let ids: Vec<String> = (1..=count).map(|n| format!("C_{n}")).collect();
    read_look(answer, surface, &ids, 7, 9).unwrap()
}
