//! The threads of watches: their status, and how far what they say has become events.

use hw_rules::event::ThreadFacts;
use hw_rules::item::ThreadKind;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_status::{StatusSince, ThreadStatus};
use hw_rules::watch::WatchId;

use super::{parse_thread_kind, unknown};
use crate::StoreReader;
use crate::error::StoreError;
use crate::ingest::ThreadScanStep;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::Transaction;

/// A thread of a watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedThread {
    pub watch_id: WatchId,
    pub repository: RepositoryKey,
    pub number: i64,
    pub kind: ThreadKind,
    /// None until the thread itself was read.
    pub node_id: Option<String>,
    pub title: Option<String>,
    pub status: StatusSince,
    pub labels: Vec<String>,
    /// The floor of this thread, where it is not that of its watch.
    pub floor: Option<SourceInstant>,
    /// The source issue: the thread itself, or the one that it closes.
    pub source_issue: Option<i64>,
    pub pre_pr_last_consumed_comment_id: i64,
    pub post_pr_last_redirected_comment_id: i64,
    /// True once everything that is stored of it has become events.
    pub is_derived: bool,
    pub bootstrap_cursor: Option<String>,
    /// True once it was read as a whole, or if it does not have to be.
    pub is_bootstrapped: bool,
    /// The source's time at which it was last read whole.
    pub swept_ms: Option<i64>,
}

/// A thread of a watch with everything that is stored about it.
#[derive(Debug, Clone)]
pub(crate) struct ThreadRow {
    pub(crate) thread: WatchedThread,
    pub(crate) facts: Option<ThreadFacts>,
    pub(crate) derive_cursor: Option<String>,
    pub(crate) seen_at: Option<SourceInstant>,
    /// True if a pull request of its watch closes it.
    pub(crate) is_closed_by_pull: bool,
}

pub(crate) const COLUMNS: &str =
    "watch_id, host, repository_id, number, kind, node_id, title, status, status_at_ms, facts, labels,
     floor_ms, source_issue, pre_pr_last_consumed_comment_id, post_pr_last_redirected_comment_id,
     derive_cursor, bootstrap_cursor, bootstrap_complete, swept_ms, seen_at_ms,
     (select count(*) from watched_threads as closing
       where closing.watch_id = watched_threads.watch_id
         and closing.repository_id = watched_threads.repository_id
         and closing.source_issue = watched_threads.number
         and closing.number <> watched_threads.number) as closing_pulls";

impl StoreReader {
    /// Returns the threads of a watch.
    pub fn watched_threads(&self, id: WatchId) -> Result<Vec<WatchedThread>, StoreError> {
        let text =
            format!("select {COLUMNS} from watched_threads where watch_id = $1 order by number");
        self.read("watched threads", |tx| {
            let rows = tx.query_readable(Sql::portable(&text), &params![id.0], read_row)?.rows;
            Ok(rows.into_iter().map(|row| row.thread).collect())
        })
    }

    /// Returns the threads of all watches in a repository, by number.
    pub fn watched_threads_of(
        &self,
        repository: &RepositoryKey,
    ) -> Result<Vec<WatchedThread>, StoreError> {
        let text = format!(
            "select {COLUMNS} from watched_threads
              where host = $1 and repository_id = $2 order by number, watch_id"
        );
        let params = params![&repository.host, repository.id];
        self.read("watched threads", |tx| {
            let rows = tx.query_readable(Sql::portable(&text), &params, read_row)?.rows;
            Ok(rows.into_iter().map(|row| row.thread).collect())
        })
    }

    /// Returns threads that have to be read as a whole, those of the oldest watches first. Threads of paused watches wait.
    pub fn threads_to_bootstrap(&self, limit: u32) -> Result<Vec<WatchedThread>, StoreError> {
        let text = format!(
            "select {COLUMNS} from watched_threads
              where not (bootstrap_complete = $1)
                and exists (select 1 from watches where watches.id = watched_threads.watch_id
                                                    and watches.state in ('bootstrapping', 'active'))
              order by watch_id, number limit $2"
        );
        let params = params![true, i64::from(limit)];
        self.read("watched threads", |tx| {
            let rows = tx.query_readable(Sql::portable(&text), &params, read_row)?.rows;
            Ok(rows.into_iter().map(|row| row.thread).collect())
        })
    }
}

/// Records how far threads of this repository are read whole. Their watches are active once that is true of all their
/// threads.
pub(crate) fn record_scans(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    steps: &[ThreadScanStep],
) -> Result<(), StoreError> {
    const SAVE: Sql = Sql::portable(
        "update watched_threads set bootstrap_cursor = $1
          where host = $2 and repository_id = $3 and number = $4",
    );
    const FINISH: Sql = Sql::portable(
        "update watched_threads set bootstrap_complete = $1, bootstrap_cursor = null, swept_ms = $2
          where host = $3 and repository_id = $4 and number = $5",
    );
    const WATCHES: Sql = Sql::portable(
        "select distinct watch_id from watched_threads
          where host = $1 and repository_id = $2 and number = $3",
    );
    let RepositoryKey { host, id } = repository;
    for ThreadScanStep { number, cursor, finished_at } in steps {
        let Some(finished_at) = finished_at else {
            tx.send_statement(SAVE, &params![cursor.as_deref(), host, *id, *number])?;
            continue;
        };
        tx.send_statement(FINISH, &params![true, finished_at.0, host, *id, *number])?;
        let watches =
            tx.query(WATCHES, &params![host, *id, *number], |mut row| row.int("watch_id"))?;
        watches.into_iter().try_for_each(|watch| activate_complete(tx, WatchId(watch)))?;
    }
    Ok(())
}

/// Makes a watch active once nothing of it is left to be read or derived.
pub(crate) fn activate_complete(tx: &mut Transaction<'_>, id: WatchId) -> Result<(), StoreError> {
    const ACTIVATE: Sql = Sql::portable(
        "update watches set state = 'active'
          where id = $1 and state = 'bootstrapping' and derive_cursor is null
            and not exists (select 1 from watched_threads
                             where watch_id = watches.id
                               and (derive_cursor is not null or not (bootstrap_complete = $2)))",
    );
    tx.send_statement(ACTIVATE, &params![id.0, true])
}

/// Deletes threads whose watch was removed, a few hundred at a time. Returns their number.
pub(crate) fn delete_orphans(tx: &mut Transaction<'_>) -> Result<u64, StoreError> {
    const DELETE: Sql = Sql::portable(
        "delete from watched_threads
          where (watch_id, repository_id, number) in
                (select watch_id, repository_id, number from watched_threads as orphans
                  where not exists (select 1 from watches where watches.id = orphans.watch_id)
                  limit 500)",
    );
    tx.execute(DELETE, &[])
}

/// Writes rows. How far they were read as a whole stays as it is in rows that exist.
pub(crate) fn store_rows(tx: &mut Transaction<'_>, rows: &[&ThreadRow]) -> Result<(), StoreError> {
    const STORE: Sql = Sql::per_dialect(
        concat!(
            upsert_start!(),
            "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
            upsert_end!()
        ),
        concat!(
            upsert_start!(),
            "select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::text[],
                $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::text[],
                $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::text[], $17::boolean[],
                $18::bigint[])",
            upsert_end!()
        ),
    );
    let texts: Vec<_> = rows
        .iter()
        .map(|row| {
            let facts = row.facts.as_ref().map(to_json);
            (facts, to_json(&row.thread.labels))
        })
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .zip(&texts)
        .map(|(row, (facts, labels))| {
            let thread = &row.thread;
            params![
                thread.watch_id.0,
                &thread.repository.host,
                thread.repository.id,
                thread.number,
                thread.kind.name(),
                thread.node_id.as_deref(),
                thread.title.as_deref(),
                thread.status.status.name(),
                thread.status.at.map(|at| at.0),
                facts.as_deref(),
                labels.as_str(),
                thread.floor.map(|floor| floor.0),
                thread.source_issue,
                thread.pre_pr_last_consumed_comment_id,
                thread.post_pr_last_redirected_comment_id,
                row.derive_cursor.as_deref(),
                thread.is_bootstrapped,
                row.seen_at.map(|at| at.0),
            ]
            .to_vec()
        })
        .collect();
    tx.insert_rows(STORE, &rows)
}

macro_rules! upsert_start {
    () => {
        "insert into watched_threads (watch_id, host, repository_id, number, kind, node_id, title, status,
             status_at_ms, facts, labels, floor_ms, source_issue, pre_pr_last_consumed_comment_id,
             post_pr_last_redirected_comment_id, derive_cursor, bootstrap_complete, seen_at_ms) "
    };
}
macro_rules! upsert_end {
    () => {
        " on conflict (watch_id, repository_id, number) do update
             set kind = excluded.kind, node_id = excluded.node_id, title = excluded.title,
                 status = excluded.status, status_at_ms = excluded.status_at_ms, facts = excluded.facts,
                 labels = excluded.labels, floor_ms = excluded.floor_ms, source_issue = excluded.source_issue,
                 pre_pr_last_consumed_comment_id = excluded.pre_pr_last_consumed_comment_id,
                 post_pr_last_redirected_comment_id = excluded.post_pr_last_redirected_comment_id,
                 derive_cursor = excluded.derive_cursor, seen_at_ms = excluded.seen_at_ms"
    };
}
use {upsert_end, upsert_start};

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain values always serialize")
}

pub(crate) fn read_row(mut row: SqlRow) -> Result<ThreadRow, StoreError> {
    let watch_id = WatchId(row.int("watch_id")?);
    let host = row.text("host")?;
    let repository = RepositoryKey::new(&host, row.int("repository_id")?);
    let number = row.int("number")?;
    let kind = parse_thread_kind(&row.text("kind")?)?;
    let (node_id, title) = (row.maybe_text("node_id")?, row.maybe_text("title")?);
    let status = row.text("status")?;
    let status = StatusSince {
        status: ThreadStatus::from_name(&status).ok_or_else(|| unknown("status", &status))?,
        at: row.maybe_int("status_at_ms")?.map(SourceInstant),
    };
    let facts = row.maybe_text("facts")?.map(|facts| parse_json(&facts)).transpose()?;
    let labels = parse_json(&row.text("labels")?)?;
    let floor = row.maybe_int("floor_ms")?.map(SourceInstant);
    let source_issue = row.maybe_int("source_issue")?;
    let pre_pr_last_consumed_comment_id = row.int("pre_pr_last_consumed_comment_id")?;
    let post_pr_last_redirected_comment_id = row.int("post_pr_last_redirected_comment_id")?;
    let derive_cursor = row.maybe_text("derive_cursor")?;
    let thread = WatchedThread {
        watch_id,
        repository,
        number,
        kind,
        node_id,
        title,
        status,
        labels,
        floor,
        source_issue,
        pre_pr_last_consumed_comment_id,
        post_pr_last_redirected_comment_id,
        is_derived: derive_cursor.is_none(),
        bootstrap_cursor: row.maybe_text("bootstrap_cursor")?,
        is_bootstrapped: row.flag("bootstrap_complete")?,
        swept_ms: row.maybe_int("swept_ms")?,
    };
    let seen_at = row.maybe_int("seen_at_ms")?.map(SourceInstant);
    let is_closed_by_pull = row.int("closing_pulls")? > 0;
    Ok(ThreadRow { thread, facts, derive_cursor, seen_at, is_closed_by_pull })
}

fn parse_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::UnreadableRow(format!("a watched thread: {error}")))
}
