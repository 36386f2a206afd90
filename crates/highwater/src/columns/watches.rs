//! The fields of watches.

use hw_rules::item::ThreadKind;
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::Watch;
use hw_store::WatchedThread;
use serde_json::{Value, json};

use crate::row_writer::OutputColumn;

/// A watch with its threads.
pub(crate) struct WatchRow {
    pub(crate) watch: Watch,
    pub(crate) threads: Vec<WatchedThread>,
}

const WATCH_COLUMNS: [OutputColumn<WatchRow>; 15] = [
    OutputColumn::new("id", |row| json!(row.watch.id.0)),
    OutputColumn::new("host", |row| json!(row.watch.host.as_str())),
    OutputColumn::new("owner", |row| json!(row.watch.subject.repository.owner.as_str())),
    OutputColumn::new("repository", |row| json!(row.watch.subject.repository.name)),
    OutputColumn::new("number", |row| json!(row.watch.subject.number)),
    OutputColumn::new("label", |row| json!(row.watch.subject.label)),
    OutputColumn::new("source_issue", |row| json!(row.watch.source_issue)),
    OutputColumn::new("kind", |row| json!(row.watch.kind.map(ThreadKind::name))),
    OutputColumn::new("mode", |row| json!(row.watch.mode.name())),
    OutputColumn::new("from", |row| json!(row.watch.start.map(|start| start.to_string()))),
    OutputColumn::new("emits_from", |row| json!(row.watch.floor.map(format_floor))),
    OutputColumn::new("state", |row| json!(row.watch.state.name())),
    OutputColumn::new("problem", |row| json!(row.watch.problem)),
    OutputColumn::new("added_at", |row| json!(SourceInstant(row.watch.created_ms).to_string())),
    OutputColumn::new("threads", |row| row.threads.iter().map(thread_json).collect()),
];

pub(crate) fn watch_columns() -> Vec<OutputColumn<WatchRow>> {
    WATCH_COLUMNS.to_vec()
}

/// Returns `start`, or the time from which a watch emits.
fn format_floor(floor: SourceInstant) -> String {
    if floor == SourceInstant::BEGINNING { "start".to_owned() } else { floor.to_string() }
}

fn thread_json(thread: &WatchedThread) -> Value {
    json!({
        "number": thread.number,
        "kind": thread.kind.name(),
        "title": thread.title,
        "node_id": thread.node_id,
        "status": thread.status.status.name(),
        "status_at": thread.status.at.map(|at| at.to_string()),
        "labels": thread.labels,
        "source_issue": thread.source_issue,
        "is_complete": thread.is_bootstrapped && thread.is_derived,
    })
}
