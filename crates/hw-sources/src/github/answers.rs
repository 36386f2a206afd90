//! Answers as GitHub gives them, for the tests of the readers.

use hw_rules::lane::Surface;
use hw_rules::time::Mark;
use serde_json::{Value, json};

use super::graphql::{Answer, GraphqlError};
use super::listing;
use super::receipt::Receipt;

pub(super) fn answer(data: Value) -> Answer {
    let receipt = Receipt { date: Mark(0), ahead_ms: 0, sample: None, cost: 1, replaced: 0 };
    Answer { data: data.into(), errors: vec![], receipt }
}

pub(super) fn with_errors(data: Value, errors: Vec<GraphqlError>) -> Answer {
    Answer { errors, ..answer(data) }
}

pub(super) fn error(kind: &str, path: &str) -> GraphqlError {
    GraphqlError { kind: kind.into(), message: "Something went wrong".into(), path: path.into() }
}

pub(super) fn not_found(path: &str) -> GraphqlError {
    error("NOT_FOUND", path)
}

pub(super) fn fault(path: &str) -> GraphqlError {
    error("", path)
}

/// A thread of repository 7.
pub(super) fn thread(surface: Surface, n: i64) -> Value {
    let mut node = json!({
        "id": format!("T_{n}"), "number": n, "url": format!("https://github.com/acme/pump/{n}"),
        "title": "It leaks", "body": "Since\0Monday\r\n", "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-02T00:00:00Z", "closedAt": null,
        "author": { "login": "ann", "databaseId": 31 },
        "labels": { "nodes": [{ "name": "z" }, { "name": "a" }] }, "repository": { "databaseId": 7 },
    });
    let own = match surface {
        Surface::Issues => json!({
            "fullDatabaseId": n.to_string(), "state": "CLOSED", "stateReason": "COMPLETED",
        }),
        Surface::PullRequests => json!({
            "fullDatabaseId": n.to_string(), "state": "MERGED", "isDraft": false,
            "mergedAt": "2026-01-02T00:00:00Z", "headRefName": "fix/leak",
            "closingIssuesReferences": { "nodes": [
                { "number": 12, "repository": { "databaseId": 7 } },
                { "number": 5, "repository": { "databaseId": 8 } },
                { "number": 3, "repository": { "databaseId": 7 } },
            ] },
        }),
        Surface::Discussions => json!({
            "databaseId": n, "closed": true, "stateReason": "RESOLVED", "isAnswered": true,
            "category": { "name": "Q&A" },
        }),
        Surface::Repositories
        | Surface::IssueComments
        | Surface::ReviewComments
        | Surface::Reviews
        | Surface::DiscussionComments => unreachable!("no thread: {surface:?}"),
    };
    for (name, value) in own.as_object().unwrap() {
        node[name] = value.clone();
    }
    node
}

pub(super) fn edge(n: i64, node: &Value) -> Value {
    json!({ "cursor": format!("c{n}"), "node": node })
}

/// Repository 7 with one of its listings, which goes on.
pub(super) fn listed(surface: Surface, edges: &[Value]) -> Value {
    let listing = listing::of(surface);
    let mut repository = json!({ "databaseId": 7, listing.connection: {
        "totalCount": edges.len(), "edges": edges,
        "pageInfo": { "hasNextPage": true, "endCursor": "end" },
    } });
    if let Some(switch) = listing.switch {
        repository[switch] = json!(true);
    }
    repository
}

pub(super) fn repository(n: i64) -> Value {
    json!({
        "id": format!("R_{n}"), "databaseId": n, "name": format!("pump-{n}"),
        "url": format!("https://github.com/acme/pump-{n}"), "owner": { "login": "acme" },
        "isArchived": false, "isFork": false, "hasIssuesEnabled": true,
        "hasDiscussionsEnabled": false, "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-02T00:00:00Z",
    })
}

/// The same repository with a probe of each of its listings.
pub(super) fn probed(n: i64) -> Value {
    let mut node = repository(n);
    let time = "2026-01-03T00:00:00Z";
    node["issues"] =
        json!({ "totalCount": 3, "nodes": [{ "fullDatabaseId": "11", "updatedAt": time }] });
    node["pullRequests"] = json!({ "totalCount": 2, "nodes": [{ "fullDatabaseId": "9007199254740993", "updatedAt": time }] });
    node["discussions"] = json!({ "totalCount": 0, "nodes": [] });
    node
}
