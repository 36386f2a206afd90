//! Resolves watches: from the names that a person wrote to the repository and the thread that they mean.

use hw_rules::closing_references::ClosingReferences;
use hw_rules::followed_source::RepositoryName;
use hw_rules::item::ThreadKind;
use hw_rules::repository_key::{RepositoryId, RepositoryKey};
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_status::StatusSince;
use hw_rules::watch::{Watch, WatchId, WatchState};

use super::watched_threads::{self, ThreadRow, WatchedThread};
use super::{find_watch, read_watch, select_watches};
use crate::closing_references::ReadReferences;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, follows};

/// What a watch turned out to mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchResolution {
    pub repository_id: RepositoryId,
    /// The repository's current name.
    pub repository: RepositoryName,
    /// The watched thread; none for a watch on a repository.
    pub thread: Option<ResolvedThread>,
    /// The source issue of the watch.
    pub source_issue: Option<ResolvedThread>,
    /// The earliest update that becomes an event.
    pub floor: SourceInstant,
}

/// A thread that a watch names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedThread {
    pub number: i64,
    pub kind: ThreadKind,
    pub node_id: String,
    pub title: String,
}

/// The cursor before the first item that is to become an event.
pub(crate) const DERIVE_START: &str = "";

const RESOLVE: TransactionStep = step!("resolve watch");

impl LeasedStore {
    /// Resolves a watch. From this transaction on it emits; what was said before is derived from what is stored, and read
    /// where it is not stored. A watch that is resolved again gets the current name only.
    pub fn resolve_watch(
        &self,
        id: WatchId,
        resolution: &WatchResolution,
    ) -> Result<(), StoreError> {
        const RESOLVED: Sql = Sql::portable(
            "update watches
                set repository_id = $1, owner = $2, name = $3, kind = $4, floor_ms = $5, state = $6,
                    problem = null, derive_cursor = $7, number = $8
              where id = $9",
        );
        let WatchResolution { repository_id, repository, thread, source_issue, floor } = resolution;
        self.write_with_lease(RESOLVE, |tx| {
            let Some(watch) = find_watch(tx, id)? else { return Ok(()) };
            if watch.repository_id == Some(*repository_id) {
                return rename_watch(tx, id, repository);
            }
            let derive_cursor = watch.covers_many().then_some(DERIVE_START);
            let params = params![
                *repository_id,
                repository.owner.as_str(),
                &repository.name,
                thread.as_ref().map(|thread| thread.kind.name()),
                floor.0,
                WatchState::Bootstrapping.name(),
                derive_cursor,
                // a thread that was transferred has another number
                thread.as_ref().map(|thread| thread.number),
                id.0,
            ];
            tx.send_statement(RESOLVED, &params)?;
            let key = RepositoryKey { host: watch.host.clone(), id: *repository_id };
            follows::add_watch_reason(tx, &key)?;
            let kind = thread.as_ref().map(|thread| thread.kind);
            let is_whole = Watch { kind, ..watch.clone() }.is_read_whole();
            let is_other = |source: &&ResolvedThread| {
                thread.as_ref().is_none_or(|thread| thread.number != source.number)
            };
            let threads = thread.iter().chain(source_issue.iter().filter(is_other));
            let rows: Vec<_> = threads
                .map(|thread| {
                    let source = source_issue.as_ref().map(|source| source.number);
                    new_row(id, &key, thread, source, is_whole)
                })
                .collect();
            watched_threads::store_rows(tx, &rows.iter().collect::<Vec<_>>())?;
            join_stored_pulls(tx, &watch, &key)
        })
    }
}

/// Stores the current name of a watch's repository.
fn rename_watch(
    tx: &mut Transaction<'_>,
    id: WatchId,
    repository: &RepositoryName,
) -> Result<(), StoreError> {
    const RENAME: Sql = Sql::portable("update watches set owner = $1, name = $2 where id = $3");
    tx.send_statement(RENAME, &params![repository.owner.as_str(), &repository.name, id.0])
}

/// Returns the row of a thread whose watch was just resolved.
fn new_row(
    id: WatchId,
    repository: &RepositoryKey,
    thread: &ResolvedThread,
    source_issue: Option<i64>,
    is_whole: bool,
) -> ThreadRow {
    let thread = WatchedThread {
        watch_id: id,
        repository: repository.clone(),
        number: thread.number,
        kind: thread.kind,
        node_id: Some(thread.node_id.clone()),
        title: Some(thread.title.clone()),
        source_issue,
        is_derived: false,
        is_bootstrapped: !is_whole,
        ..WatchedThread::unseen(id, repository.clone(), thread.number, thread.kind)
    };
    ThreadRow { derive_cursor: Some(DERIVE_START.to_owned()), ..ThreadRow::new(thread) }
}

impl WatchedThread {
    /// Returns a thread of which nothing is known but its place.
    pub(crate) fn unseen(
        watch_id: WatchId,
        repository: RepositoryKey,
        number: i64,
        kind: ThreadKind,
    ) -> Self {
        Self {
            watch_id,
            repository,
            number,
            kind,
            node_id: None,
            title: None,
            status: StatusSince::AWAITING,
            labels: Vec::new(),
            floor: None,
            source_issue: None,
            pre_pr_last_consumed_comment_id: 0,
            post_pr_last_redirected_comment_id: 0,
            is_derived: true,
            bootstrap_cursor: None,
            is_bootstrapped: true,
            swept_ms: None,
        }
    }
}

impl ThreadRow {
    pub(crate) fn new(thread: WatchedThread) -> Self {
        Self { thread, facts: None, derive_cursor: None, seen_at: None, is_closed_by_pull: false }
    }
}

/// Has everything that is stored of a watch's threads looked at again.
pub(crate) fn derive_again(tx: &mut Transaction<'_>, watch: &Watch) -> Result<(), StoreError> {
    const THREADS: Sql =
        Sql::portable("update watched_threads set derive_cursor = '' where watch_id = $1");
    const WATCH: Sql = Sql::portable("update watches set derive_cursor = '' where id = $1");
    if watch.covers_many() {
        // the pass over its repository looks at each thread
        tx.send_statement(WATCH, &params![watch.id.0])
    } else {
        tx.send_statement(THREADS, &params![watch.id.0])
    }
}

/// An open pull request with the issues that it closes.
struct ClosingPull {
    id: i64,
    closes: Vec<i64>,
}

/// Watches the pull requests that close a source issue, as their references were read.
pub(crate) fn join_closing_pulls(
    tx: &mut Transaction<'_>,
    host: &str,
    read: &[ReadReferences],
) -> Result<(), StoreError> {
    const FOLLOWING: Sql =
        select_watches!("where host = $1 and source_issue is not null order by id");
    let has_watches = tx.lease_answer()?.is_none_or(|answer| answer.has_watches);
    if !has_watches || read.iter().all(|read| read.references.closes.is_empty()) {
        return Ok(());
    }
    let watches = tx.query(FOLLOWING, &params![host], read_watch)?;
    for watch in watches.iter().filter(|watch| watch.state.selects()) {
        let Some(repository) = watch.repository() else { continue };
        let pulls: Vec<_> = read
            .iter()
            .filter(|read| read.pull_request.repository_id == repository.id.0)
            .map(|ReadReferences { pull_request, references }| {
                let ClosingReferences { closes, .. } = references;
                ClosingPull { id: pull_request.id, closes: closes.clone() }
            })
            .collect();
        join_pulls(tx, watch, &repository, &pulls)?;
    }
    Ok(())
}

/// Watches the stored pull requests that close the source issue of a watch.
fn join_stored_pulls(
    tx: &mut Transaction<'_>,
    watch: &Watch,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    const CLOSING: Sql = Sql::portable(
        "select id, closes from pull_requests
          where host = $1 and repository_id = $2 and state = 'OPEN' and closes <> '[]' order by id",
    );
    if watch.source_issue.is_none() || watch.subject.number.is_some() {
        return Ok(());
    }
    let params = params![&repository.host, repository.id];
    let pulls = tx.query_readable(CLOSING, &params, |mut row| {
        let closes = serde_json::from_str(&row.text("closes")?)
            .map_err(|error| StoreError::UnreadableRow(format!("closing references: {error}")))?;
        Ok(ClosingPull { id: row.int("id")?, closes })
    })?;
    join_pulls(tx, watch, repository, &pulls.rows)
}

fn join_pulls(
    tx: &mut Transaction<'_>,
    watch: &Watch,
    repository: &RepositoryKey,
    pulls: &[ClosingPull],
) -> Result<(), StoreError> {
    const JOIN: Sql = Sql::portable(
        "insert into watched_threads (watch_id, host, repository_id, number, kind, node_id, title, status,
             labels, floor_ms, source_issue, derive_cursor)
         select cast($1 as bigint), host, repository_id, number, 'pull_request', node_id, title,
                'awaiting_feedback', '[]', cast($2 as bigint), cast($3 as bigint), ''
           from pull_requests
          where host = $4 and id = $5 and repository_id = $6
         on conflict (watch_id, repository_id, number) do nothing",
    );
    const REDIRECT: Sql = Sql::portable(
        "update watched_threads set post_pr_last_redirected_comment_id = pre_pr_last_consumed_comment_id
          where watch_id = $1 and repository_id = $2 and number = $3
            and post_pr_last_redirected_comment_id = 0",
    );
    let Some(source_issue) = watch.source_issue else { return Ok(()) };
    if watch.subject.number.is_some() {
        return Ok(());
    }
    let mut joined = 0;
    for pull in pulls.iter().filter(|pull| pull.closes.contains(&source_issue)) {
        let params = params![
            watch.id.0,
            SourceInstant::BEGINNING.0,
            source_issue,
            &repository.host,
            pull.id,
            repository.id,
        ];
        joined += tx.execute(JOIN, &params)?;
    }
    if joined > 0 {
        tx.send_statement(REDIRECT, &params![watch.id.0, repository.id, source_issue])?;
    }
    Ok(())
}
