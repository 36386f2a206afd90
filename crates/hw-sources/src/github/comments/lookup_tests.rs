use hw_rules::lane::SinceCommentKind;
use serde_json::{Value, json};

use super::*;
use crate::github::comments::rest_comment;
use crate::github::comments::sample_comments::{
    graphql_comment_json, observation_ids, rest_comment_json, unwrap_comment,
};
use crate::github::sample_responses::{
    graphql_error, not_found_error, response_with_data, response_with_errors, server_error,
};
use crate::raw_json::RawDocument;
use hw_rules::row_subject::RowSubject;

#[test]
fn comment_lookup_finds_comments_here_elsewhere_absent_or_unreadable() {
    for kind in CommentKind::ALL {
        let mut broken = graphql_comment_json(kind, 5);
        broken["body"] = Value::Null;
        let nodes =
            json!([graphql_comment_json(kind, 1), null, null, moved_comment_json(kind, 4), broken]);
        let response =
            response_with_errors(json!({ "nodes": nodes }), vec![not_found_error("nodes.1")]);
        let page = read_comments(&response, kind, 5);
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
    for kind in CommentKind::ALL {
        let data = json!({ "nodes": [null, null, graphql_comment_json(kind, 3)] });
        let errors = vec![
            not_found_error("nodes.0.repository"),
            graphql_error("FORBIDDEN", "nodes.1"),
            server_error("nodes.2.author"),
        ];
        let page = read_comments(&response_with_errors(data, errors), kind, 3);
        assert_eq!((page.absent.len(), page.observations.len(), page.unreadable.len()), (0, 0, 3));
    }
}

#[test]
fn comment_without_a_thread_is_unreadable() {
    for (kind, field) in [
        (CommentKind::Conversation, "url"),
        (CommentKind::Conversation, "repository"),
        (CommentKind::ReviewComment, "pullRequest"),
        (CommentKind::Review, "pullRequest"),
        (CommentKind::Review, "state"),
        (CommentKind::DiscussionComment, "discussion"),
    ] {
        let mut broken = graphql_comment_json(kind, 1);
        broken[field] = if field == "url" { json!("https://github.com/acme") } else { Value::Null };
        let page = read_comments(&response_with_data(json!({ "nodes": [broken] })), kind, 1);
        assert_eq!((page.observations.len(), page.unreadable.len()), (0, 1), "{field}");
    }
}

#[test]
fn comment_lookup_is_vouched_for_by_the_repository_and_a_sibling() {
    for kind in CommentKind::ALL {
        let enabled =
            json!({ "databaseId": 7, "hasIssuesEnabled": true, "hasDiscussionsEnabled": true });
        let (ours, theirs) = (graphql_comment_json(kind, 1), moved_comment_json(kind, 2));
        assert!(is_vouched_for(kind, &enabled, &json!([])));
        assert!(is_vouched_for(kind, &enabled, &json!([null, ours])));
        assert!(!is_vouched_for(kind, &enabled, &json!([null, theirs])));
        assert!(!is_vouched_for(kind, &Value::Null, &json!([ours])));
        let disabled =
            json!({ "databaseId": 7, "hasIssuesEnabled": false, "hasDiscussionsEnabled": false });
        let is_always_enabled = matches!(kind, CommentKind::Review | CommentKind::ReviewComment);
        assert_eq!(is_vouched_for(kind, &disabled, &json!([ours])), is_always_enabled, "{kind:?}");
    }
}

#[test]
fn comment_lookup_query_requests_one_kind_and_names_its_scope() {
    let ids = ["C_1".to_owned()];
    for kind in CommentKind::ALL {
        let query = lookup_query(kind, "R_7", &ids, &[]);
        let kind = schema::for_kind(kind).type_name;
        assert!(query.document.contains(&format!("... on {kind} {{ id")), "{}", query.document);
        assert_eq!(query.variables, json!({ "scope": "R_7", "ids": ids, "siblings": [] }));
    }
}

#[test]
fn comment_is_the_same_from_both_apis() {
    for list in [SinceCommentKind::Conversation, SinceCommentKind::ReviewComment] {
        let kind = CommentKind::from(list);
        let page = read_comments(
            &response_with_data(json!({ "nodes": [graphql_comment_json(kind, 1)] })),
            kind,
            1,
        );
        let listed = RawDocument::from(rest_comment_json(list, 1));
        let listed = rest_comment::read_rest_comment(kind, 7, listed.root()).unwrap();
        assert_eq!(unwrap_comment(&page.observations[0]), &listed);
    }
}

fn is_vouched_for(kind: CommentKind, scope: &Value, siblings: &Value) -> bool {
    let data = json!({ "scope": scope, "nodes": [], "siblings": siblings });
    read_lookup(&response_with_data(data), kind, &[], 7).unwrap().is_vouched_for
}

/// A comment of another repository.
fn moved_comment_json(kind: CommentKind, n: i64) -> Value {
    let mut moved = graphql_comment_json(kind, n);
    let repository = if kind == CommentKind::DiscussionComment {
        &mut moved["discussion"]["repository"]
    } else {
        &mut moved["repository"]
    };
    repository["databaseId"] = json!(99);
    moved
}

fn read_comments(response: &GraphqlResponse, kind: CommentKind, count: usize) -> LookupPage {
    let ids: Vec<String> = (1..=count).map(|n| format!("C_{n}")).collect();
    read_lookup(response, kind, &ids, 7).unwrap()
}
