use hw_rules::item::CommentKind;
use serde_json::{Value, json};

use super::*;
use crate::github::comments::rest_comment;
use crate::github::comments::sample_comments::{
    graphql_comment_json, observation_ids, rest_comment_json, unwrap_comment,
};
use crate::github::sample_responses::{
    graphql_error, not_found_error, response_with_data, response_with_errors, server_error,
};
use crate::page::RowSubject;
use crate::raw_json::RawDocument;

#[test]
fn comment_lookup_finds_comments_here_elsewhere_absent_or_unreadable() {
    for surface in Surface::COMMENTS {
        let mut broken = graphql_comment_json(surface, 5);
        broken["body"] = Value::Null;
        let nodes = json!([
            graphql_comment_json(surface, 1),
            null,
            null,
            moved_comment_json(surface, 4),
            broken
        ]);
        let response =
            response_with_errors(json!({ "nodes": nodes }), vec![not_found_error("nodes.1")]);
        let page = read_comments(&response, surface, 5);
        assert_eq!(
            (observation_ids(&page.observations), observation_ids(&page.elsewhere)),
            (vec![1], vec![4])
        );
        assert_eq!(page.absent, ["C_2"]);
        assert_eq!(unwrap_comment(&page.elsewhere[0]).repository_id, 99);
        let unreadable: Vec<&RowSubject> = page.unreadable.iter().map(|row| &row.subject).collect();
        assert_eq!(unreadable, [&RowSubject::Node("C_3".into()), &RowSubject::Node("C_5".into())]);
    }
}

#[test]
fn comment_lookup_takes_only_an_error_at_the_node_for_absence() {
    for surface in Surface::COMMENTS {
        let data = json!({ "nodes": [null, null, graphql_comment_json(surface, 3)] });
        let errors = vec![
            not_found_error("nodes.0.repository"),
            graphql_error("FORBIDDEN", "nodes.1"),
            server_error("nodes.2.author"),
        ];
        let page = read_comments(&response_with_errors(data, errors), surface, 3);
        assert_eq!((page.absent.len(), page.observations.len(), page.unreadable.len()), (0, 0, 3));
    }
}

#[test]
fn comment_without_a_thread_is_unreadable() {
    for (surface, field) in [
        (Surface::Comments(CommentKind::Conversation), "url"),
        (Surface::Comments(CommentKind::Conversation), "repository"),
        (Surface::Comments(CommentKind::ReviewComment), "pullRequest"),
        (Surface::Comments(CommentKind::Review), "pullRequest"),
        (Surface::Comments(CommentKind::Review), "state"),
        (Surface::Comments(CommentKind::DiscussionComment), "discussion"),
    ] {
        let mut broken = graphql_comment_json(surface, 1);
        broken[field] = if field == "url" { json!("https://github.com/acme") } else { Value::Null };
        let page = read_comments(&response_with_data(json!({ "nodes": [broken] })), surface, 1);
        assert_eq!((page.observations.len(), page.unreadable.len()), (0, 1), "{field}");
    }
}

#[test]
fn comment_lookup_is_vouched_for_by_the_repository_and_a_sibling() {
    for surface in Surface::COMMENTS {
        let enabled =
            json!({ "databaseId": 7, "hasIssuesEnabled": true, "hasDiscussionsEnabled": true });
        let (ours, theirs) = (graphql_comment_json(surface, 1), moved_comment_json(surface, 2));
        assert!(is_vouched_for(surface, &enabled, &json!([])));
        assert!(is_vouched_for(surface, &enabled, &json!([null, ours])));
        assert!(!is_vouched_for(surface, &enabled, &json!([null, theirs])));
        assert!(!is_vouched_for(surface, &Value::Null, &json!([ours])));
        let disabled =
            json!({ "databaseId": 7, "hasIssuesEnabled": false, "hasDiscussionsEnabled": false });
        let is_always_enabled = matches!(
            surface,
            Surface::Comments(CommentKind::Review) | Surface::Comments(CommentKind::ReviewComment)
        );
        assert_eq!(
            is_vouched_for(surface, &disabled, &json!([ours])),
            is_always_enabled,
            "{surface:?}"
        );
    }
}

#[test]
fn comment_lookup_query_requests_one_kind_and_names_its_scope() {
    let ids = ["C_1".to_owned()];
    for surface in Surface::COMMENTS {
        let query = lookup_query(surface, "R_7", &ids, &[]);
        let kind = schema::for_surface(surface).type_name;
        assert!(query.document.contains(&format!("... on {kind} {{ id")), "{}", query.document);
        assert_eq!(query.variables, json!({ "scope": "R_7", "ids": ids, "siblings": [] }));
    }
}

#[test]
fn comment_is_the_same_from_both_apis() {
    for surface in [
        Surface::Comments(CommentKind::Conversation),
        Surface::Comments(CommentKind::ReviewComment),
    ] {
        let page = read_comments(
            &response_with_data(json!({ "nodes": [graphql_comment_json(surface, 1)] })),
            surface,
            1,
        );
        let listed = RawDocument::from(rest_comment_json(surface, 1));
        let listed =
            rest_comment::read_comment(schema::for_surface(surface).kind, 7, listed.root())
                .unwrap();
        assert_eq!(unwrap_comment(&page.observations[0]), &listed);
    }
}

fn is_vouched_for(surface: Surface, scope: &Value, siblings: &Value) -> bool {
    let data = json!({ "scope": scope, "nodes": [], "siblings": siblings });
    read_lookup(&response_with_data(data), surface, &[], 7).unwrap().is_vouched_for
}

/// A comment of another repository.
fn moved_comment_json(surface: Surface, n: i64) -> Value {
    let mut moved = graphql_comment_json(surface, n);
    let repository = if surface == Surface::Comments(CommentKind::DiscussionComment) {
        &mut moved["discussion"]["repository"]
    } else {
        &mut moved["repository"]
    };
    repository["databaseId"] = json!(99);
    moved
}

fn read_comments(response: &GraphqlResponse, surface: Surface, count: usize) -> LookupPage {
    let ids: Vec<String> = (1..=count).map(|n| format!("C_{n}")).collect();
    read_lookup(response, surface, &ids, 7).unwrap()
}
