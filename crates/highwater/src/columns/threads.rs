//! The fields of issues, pull requests and discussions.

use hw_rules::item::{DiscussionDetails, PullRequestDetails, ThreadDetails, ThreadKind};
use hw_store::ThreadRow;
use serde_json::{Value, json};

use super::RowWithOwner;
use crate::row_writer::OutputColumn;

/// The fields that all threads have.
const COMMON_COLUMNS: [OutputColumn<RowWithOwner<ThreadRow>>; 14] = [
    OutputColumn::new("type", |row| json!(row.row.thread.kind().name())),
    OutputColumn::new("number", |row| json!(row.row.thread.number)),
    OutputColumn::new("title", |row| json!(row.row.thread.title)),
    OutputColumn::new("url", |row| json!(row.row.thread.url)),
    OutputColumn::new("repository", |row| json!(row.row.repository)),
    OutputColumn::new("owner", |row| json!(row.owner)),
    OutputColumn::new("created_at", |row| json!(row.row.thread.created_at)),
    OutputColumn::new("updated_at", |row| json!(row.row.thread.updated_at)),
    OutputColumn::new("closed_at", |row| json!(row.row.thread.closed_at)),
    OutputColumn::new("author", |row| json!(row.row.thread.author)),
    OutputColumn::new("status", |row| {
        json!(if row.row.thread.closed_at.is_some() { "closed" } else { "open" })
    }),
    OutputColumn::new("state", |row| json!(row.row.thread.state.to_lowercase())),
    OutputColumn::new("state_reason", |row| {
        json!(row.row.thread.state_reason.as_ref().map(|reason| reason.to_lowercase()))
    }),
    OutputColumn::new("labels", |row| json!(row.row.thread.labels)),
];

const PULL_REQUEST_COLUMNS: [OutputColumn<RowWithOwner<ThreadRow>>; 5] = [
    OutputColumn::new("draft", |row| pull_request_value(row, |details| json!(details.is_draft))),
    OutputColumn::new("merged", |row| {
        pull_request_value(row, |details| json!(details.merged_at.is_some()))
    }),
    OutputColumn::new("merged_at", |row| {
        pull_request_value(row, |details| json!(details.merged_at))
    }),
    OutputColumn::new("head_ref", |row| pull_request_value(row, |details| json!(details.head_ref))),
    OutputColumn::new("closes", |row| json!(row.row.closes)),
];

const DISCUSSION_COLUMNS: [OutputColumn<RowWithOwner<ThreadRow>>; 2] = [
    OutputColumn::new("category", |row| discussion_value(row, |details| json!(details.category))),
    OutputColumn::new("is_answered", |row| {
        discussion_value(row, |details| json!(details.is_answered))
    }),
];

const TRAILING_COLUMNS: [OutputColumn<RowWithOwner<ThreadRow>>; 2] = [
    OutputColumn::new("node_id", |row| json!(row.row.thread.node_id)),
    OutputColumn::new("body", |row| json!(row.row.thread.body)),
];

/// Returns the fields of one kind of thread.
pub(crate) fn thread_columns(kind: ThreadKind) -> Vec<OutputColumn<RowWithOwner<ThreadRow>>> {
    let specific: &[OutputColumn<RowWithOwner<ThreadRow>>] = match kind {
        ThreadKind::PullRequest => &PULL_REQUEST_COLUMNS,
        ThreadKind::Discussion => &DISCUSSION_COLUMNS,
        ThreadKind::Issue => &[],
    };
    [&COMMON_COLUMNS[..], specific, &TRAILING_COLUMNS].concat()
}

fn pull_request_value(
    row: &RowWithOwner<ThreadRow>,
    value: fn(&PullRequestDetails) -> Value,
) -> Value {
    match &row.row.thread.details {
        ThreadDetails::PullRequest(details) => value(details),
        ThreadDetails::Issue | ThreadDetails::Discussion(_) => Value::Null,
    }
}

fn discussion_value(
    row: &RowWithOwner<ThreadRow>,
    value: fn(&DiscussionDetails) -> Value,
) -> Value {
    match &row.row.thread.details {
        ThreadDetails::Discussion(details) => value(details),
        ThreadDetails::Issue | ThreadDetails::PullRequest(_) => Value::Null,
    }
}
