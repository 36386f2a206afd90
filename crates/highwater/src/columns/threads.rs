//! The fields of issues, pull requests and discussions.

use hw_rules::item::{Discussion, Kind, PullRequest, Sort};
use hw_store::ThreadRow;
use serde_json::{Value, json};

use super::WithOwner;
use crate::sheet::Column;

/// What every thread has.
const FIRST: [Column<WithOwner<ThreadRow>>; 14] = [
    ("type", |row| json!(row.text.thread.kind().name())),
    ("number", |row| json!(row.text.thread.number)),
    ("title", |row| json!(row.text.thread.title)),
    ("url", |row| json!(row.text.thread.url)),
    ("repository", |row| json!(row.text.repository)),
    ("owner", |row| json!(row.owner)),
    ("created_at", |row| json!(row.text.thread.created_at)),
    ("updated_at", |row| json!(row.text.thread.updated_at)),
    ("closed_at", |row| json!(row.text.thread.closed_at)),
    ("author", |row| json!(row.text.thread.author)),
    ("status", |row| json!(if row.text.thread.closed_at.is_some() { "closed" } else { "open" })),
    ("state", |row| json!(row.text.thread.state.to_lowercase())),
    ("state_reason", |row| {
        json!(row.text.thread.state_reason.as_ref().map(|it| it.to_lowercase()))
    }),
    ("labels", |row| json!(row.text.thread.labels)),
];

const OF_PULL_REQUESTS: [Column<WithOwner<ThreadRow>>; 5] = [
    ("draft", |row| of_pull_request(row, |it| json!(it.is_draft))),
    ("merged", |row| of_pull_request(row, |it| json!(it.merged_at.is_some()))),
    ("merged_at", |row| of_pull_request(row, |it| json!(it.merged_at))),
    ("head_ref", |row| of_pull_request(row, |it| json!(it.head_ref))),
    ("closes", |row| of_pull_request(row, |it| json!(it.closes))),
];

const OF_DISCUSSIONS: [Column<WithOwner<ThreadRow>>; 2] = [
    ("category", |row| of_discussion(row, |it| json!(it.category))),
    ("is_answered", |row| of_discussion(row, |it| json!(it.is_answered))),
];

const LAST: [Column<WithOwner<ThreadRow>>; 2] = [
    ("node_id", |row| json!(row.text.thread.node_id)),
    ("body", |row| json!(row.text.thread.body)),
];

/// The fields of one kind of threads.
pub(crate) fn of_threads(kind: Kind) -> Vec<Column<WithOwner<ThreadRow>>> {
    let own: &[Column<WithOwner<ThreadRow>>] = match kind {
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

fn of_pull_request(row: &WithOwner<ThreadRow>, told: fn(&PullRequest) -> Value) -> Value {
    match &row.text.thread.sort {
        Sort::PullRequest(it) => told(it),
        Sort::Issue | Sort::Discussion(_) => Value::Null,
    }
}

fn of_discussion(row: &WithOwner<ThreadRow>, told: fn(&Discussion) -> Value) -> Value {
    match &row.text.thread.sort {
        Sort::Discussion(it) => told(it),
        Sort::Issue | Sort::PullRequest(_) => Value::Null,
    }
}
