//! Comments as GitHub sends them, for the tests of the readers.

use hw_rules::item::{Comment, CommentKind, ItemObservation, MirrorItem};
use hw_rules::lane::SinceCommentKind;
use serde_json::{Value, json};

use super::schema;

/// A row of a list of repository 7, on its thread 3.
pub(in crate::github) fn rest_comment_json(kind: SinceCommentKind, n: i64) -> Value {
    let mut row = json!({
        "id": n, "node_id": format!("C_{n}"), "body": "It\0drips\r\n",
        "html_url": format!("https://github.com/acme/pump/pull/3#c-{n}"),
        "user": { "login": "ann", "id": 31, "type": "User" }, "author_association": "MEMBER",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z",
    });
    if kind == SinceCommentKind::ReviewComment {
        row["pull_request_url"] = json!("https://api.github.com/repos/acme/pump/pulls/3");
        row["pull_request_review_id"] = json!(90);
        row["in_reply_to_id"] = json!(80);
        row["path"] = json!("src/a.rs");
        row["line"] = json!(5);
    } else {
        row["issue_url"] = json!("https://api.github.com/repos/acme/pump/issues/3");
    }
    row
}

/// The same comment, or one that no list has, as a node.
pub(super) fn graphql_comment_json(kind: CommentKind, n: i64) -> Value {
    let own = match kind {
        CommentKind::Conversation => json!({ "fullDatabaseId": n.to_string() }),
        CommentKind::ReviewComment => json!({
            "fullDatabaseId": n.to_string(), "path": "src/a.rs", "line": 5,
            "replyTo": { "fullDatabaseId": "80" }, "pullRequestReview": { "fullDatabaseId": "90" },
            "pullRequest": { "number": 3 },
        }),
        CommentKind::Review => json!({
            "fullDatabaseId": n.to_string(), "state": "APPROVED",
            "submittedAt": "2026-01-01T00:00:00Z", "pullRequest": { "number": 3 },
        }),
        CommentKind::DiscussionComment => json!({
            "databaseId": n, "replyTo": null,
            "discussion": { "number": 3, "repository": { "databaseId": 7 } },
        }),
    };
    let mut node = json!({
        "__typename": schema::for_kind(kind).type_name, "id": format!("C_{n}"), "body": "It\0drips\r\n",
        "url": format!("https://github.com/acme/pump/pull/3#c-{n}"),
        "createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-02T00:00:00Z",
        "author": { "__typename": "User", "login": "ann", "databaseId": 31 },
        "authorAssociation": "MEMBER",
    });
    if kind != CommentKind::DiscussionComment {
        node["repository"] = json!({ "databaseId": 7 });
    }
    for (name, value) in own.as_object().unwrap() {
        node[name] = value.clone();
    }
    node
}

/// A page of a connection that ends there, or continues after a cursor.
pub(super) fn connection_json(nodes: &[Value], next: Option<&str>) -> Value {
    let edges: Vec<Value> = nodes
        .iter()
        .enumerate()
        .map(|(n, node)| json!({ "cursor": format!("c{n}"), "node": node }))
        .collect();
    json!({ "pageInfo": { "hasNextPage": next.is_some(), "endCursor": next }, "edges": edges })
}

pub(in crate::github) fn observation_ids(observations: &[ItemObservation]) -> Vec<i64> {
    observations.iter().map(|observation| observation.key().id).collect()
}

pub(in crate::github) fn unwrap_comment(observation: &ItemObservation) -> &Comment {
    let MirrorItem::Comment(comment) = &observation.item else { panic!("{observation:?}") };
    comment
}
