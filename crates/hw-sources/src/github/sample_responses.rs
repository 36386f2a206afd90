//! Responses as GitHub sends them, for the tests of the readers.

use hw_rules::item::ThreadKind;
use hw_rules::source_time::SourceInstant;
use serde_json::{Value, json};

use super::graphql::{GraphqlError, GraphqlResponse};
use super::thread_schema;
use crate::response_meta::ResponseMeta;

pub(super) fn response_with_data(data: Value) -> GraphqlResponse {
    let mut meta = ResponseMeta { cost: 1, ..ResponseMeta::from_date(SourceInstant(0)) };
    meta.set_observed_at(9, SourceInstant(0));
    GraphqlResponse { data: data.into(), errors: vec![], meta }
}

pub(super) fn response_with_errors(data: Value, errors: Vec<GraphqlError>) -> GraphqlResponse {
    GraphqlResponse { errors, ..response_with_data(data) }
}

pub(super) fn graphql_error(kind: &str, path: &str) -> GraphqlError {
    GraphqlError { kind: kind.into(), message: "Something went wrong".into(), path: path.into() }
}

pub(super) fn not_found_error(path: &str) -> GraphqlError {
    graphql_error("NOT_FOUND", path)
}

pub(super) fn server_error(path: &str) -> GraphqlError {
    graphql_error("", path)
}

/// A thread of repository 7.
pub(super) fn thread_json(kind: ThreadKind, n: i64) -> Value {
    let mut node = json!({
        "id": format!("T_{n}"), "number": n, "url": format!("https://github.com/acme/pump/{n}"),
        "title": "It leaks", "body": "Since\0Monday\r\n", "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-02T00:00:00Z", "closedAt": null,
        "author": { "__typename": "User", "login": "ann", "databaseId": 31 },
        "authorAssociation": "MEMBER",
        "labels": { "nodes": [{ "name": "z" }, { "name": "a" }] }, "repository": { "databaseId": 7 },
    });
    let own = match kind {
        ThreadKind::Issue => json!({
            "fullDatabaseId": n.to_string(), "state": "CLOSED", "stateReason": "COMPLETED",
        }),
        ThreadKind::PullRequest => json!({
            "fullDatabaseId": n.to_string(), "state": "MERGED", "isDraft": false,
            "mergedAt": "2026-01-02T00:00:00Z", "headRefName": "fix/leak",
            "headRefOid": "5ca1ab1e".repeat(5),
        }),
        ThreadKind::Discussion => json!({
            "databaseId": n, "closed": true, "stateReason": "RESOLVED", "isAnswered": true,
            "category": { "name": "Q&A" },
        }),
    };
    for (name, value) in own.as_object().unwrap() {
        node[name] = value.clone();
    }
    node
}

pub(super) fn edge_json(n: i64, node: &Value) -> Value {
    json!({ "cursor": format!("c{n}"), "node": node })
}

/// Repository 7 with one page of one of its listings; more pages follow.
pub(super) fn listing_json(kind: ThreadKind, edges: &[Value]) -> Value {
    let listing = thread_schema::for_kind(kind);
    let mut repository = json!({ "databaseId": 7, listing.connection: {
        "totalCount": edges.len(), "edges": edges,
        "pageInfo": { "hasNextPage": true, "endCursor": "end" },
    } });
    if let Some(switch) = listing.enabled_field {
        repository[switch] = json!(true);
    }
    repository
}

pub(super) fn repository_json(n: i64) -> Value {
    json!({
        "id": format!("R_{n}"), "databaseId": n, "name": format!("pump-{n}"),
        "url": format!("https://github.com/acme/pump-{n}"), "owner": { "login": "acme" },
        "isArchived": false, "isFork": false, "hasIssuesEnabled": true,
        "hasDiscussionsEnabled": false, "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-02T00:00:00Z",
    })
}

/// The same repository with a probe of each of its listings.
pub(super) fn probed_repository_json(n: i64) -> Value {
    let mut node = repository_json(n);
    let time = "2026-01-03T00:00:00Z";
    node["issues"] =
        json!({ "totalCount": 3, "nodes": [{ "fullDatabaseId": "11", "updatedAt": time }] });
    node["pullRequests"] = json!({ "totalCount": 2, "nodes": [{ "fullDatabaseId": "9007199254740993", "updatedAt": time }] });
    node["discussions"] = json!({ "totalCount": 0, "nodes": [] });
    node
}
