//! Reads one row of the list of a repository's activity: an issue or a pull request, as far as it says that it moved.

use hw_rules::item::ThreadKind;
use hw_rules::moved_thread::MovedThread;
use hw_rules::source_time::SourceTime;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::raw_json::RawNode;

/// The list has issues and pull requests; only pull requests have the field `pull_request`. Their ids in it are those of
/// the issues behind them, so a thread is known by its number.
#[derive(Deserialize)]
struct ActivityRow {
    #[serde(rename = "id")]
    _id: i64,
    node_id: String,
    number: i64,
    pull_request: Option<IgnoredAny>,
    updated_at: SourceTime,
}

pub(super) fn read_moved_thread(row: RawNode<'_>) -> Result<MovedThread, String> {
    let ActivityRow { node_id, number, pull_request, updated_at, .. } = row.parse_as()?;
    let kind = match pull_request {
        Some(_) => ThreadKind::PullRequest,
        None => ThreadKind::Issue,
    };
    Ok(MovedThread { number, kind, node_id, updated_at })
}
