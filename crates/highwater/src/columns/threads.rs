//! The fields of issues, pull requests and discussions.

use hw_rules::item::{Discussion, Kind, PullRequest, Sort};
use hw_store::ThreadRow;
use serde_json::{Value, json};

use crate::sheet::Column;

/// What every thread has.
const FIRST: [Column<ThreadRow>; 13] = [
    ("type", |row| json!(row.thread.kind().name())),
    ("number", |row| json!(row.thread.number)),
    ("title", |row| json!(row.thread.title)),
    ("url", |row| json!(row.thread.url)),
    ("repository", |row| json!(row.repository)),
    ("created_at", |row| json!(row.thread.created_at)),
    ("updated_at", |row| json!(row.thread.updated_at)),
    ("closed_at", |row| json!(row.thread.closed_at)),
    ("author", |row| json!(row.thread.author)),
    ("status", |row| json!(if row.thread.closed_at.is_some() { "closed" } else { "open" })),
    ("state", |row| json!(row.thread.state.to_lowercase())),
    ("state_reason", |row| json!(row.thread.state_reason.as_ref().map(|it| it.to_lowercase()))),
    ("labels", |row| json!(row.thread.labels)),
];

const OF_PULL_REQUESTS: [Column<ThreadRow>; 5] = [
    ("draft", |row| of_pull_request(row, |it| json!(it.is_draft))),
    ("merged", |row| of_pull_request(row, |it| json!(it.merged_at.is_some()))),
    ("merged_at", |row| of_pull_request(row, |it| json!(it.merged_at))),
    ("head_ref", |row| of_pull_request(row, |it| json!(it.head_ref))),
    ("closes", |row| of_pull_request(row, |it| json!(it.closes))),
];

const OF_DISCUSSIONS: [Column<ThreadRow>; 2] = [
    ("category", |row| of_discussion(row, |it| json!(it.category))),
    ("is_answered", |row| of_discussion(row, |it| json!(it.is_answered))),
];

const LAST: [Column<ThreadRow>; 2] =
    [("node_id", |row| json!(row.thread.node_id)), ("body", |row| json!(row.thread.body))];

/// The fields of one kind of threads.
pub(crate) fn of_threads(kind: Kind) -> Vec<Column<ThreadRow>> {
    let own: &[Column<ThreadRow>] = match kind {
        Kind::PullRequest => &OF_PULL_REQUESTS,
        Kind::Discussion => &OF_DISCUSSIONS,
        Kind::Issue
        | Kind::Repository
        | Kind::IssueComment
        | Kind::ReviewComment
        | Kind::Review
        | Kind::DiscussionComment => &[],
    };
    [&FIRST[..], own, &LAST].concat()
}

fn of_pull_request(row: &ThreadRow, told: fn(&PullRequest) -> Value) -> Value {
    match &row.thread.sort {
        Sort::PullRequest(it) => told(it),
        Sort::Issue | Sort::Discussion(_) => Value::Null,
    }
}

fn of_discussion(row: &ThreadRow, told: fn(&Discussion) -> Value) -> Value {
    match &row.thread.sort {
        Sort::Discussion(it) => told(it),
        Sort::Issue | Sort::PullRequest(_) => Value::Null,
    }
}
