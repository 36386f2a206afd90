//! Derives the events of what is stored already: of a new watch, of a label that came late, and of what was said while a
//! watch was paused.
//!
//! A transaction looks at a few hundred rows. Its position commits with their events.

use hw_rules::item::{CommentKind, MirrorItem, ObjectId, ObjectKind, ThreadKind};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_rules::watch::{Watch, WatchId};

use super::derivation::{SeenItem, emit, stored_sights};
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::watches::find_watch;
use crate::watches::watched_threads::activate_complete;
use crate::{LeasedStore, StoreReader, cells, views};

const DERIVE: TransactionStep = step!("derive stored events");

/// The number of rows that one transaction looks at.
pub const DERIVE_ROWS: u32 = 200;

/// A position in the stored items: a kind, and the last id of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct StoredPosition {
    kind: usize,
    after: i64,
}

const THREAD_KINDS: [ObjectKind; 3] = [
    ObjectKind::Thread(ThreadKind::Issue),
    ObjectKind::Thread(ThreadKind::PullRequest),
    ObjectKind::Thread(ThreadKind::Discussion),
];
const COMMENT_KINDS: [ObjectKind; 7] = [
    ObjectKind::Thread(ThreadKind::Issue),
    ObjectKind::Thread(ThreadKind::PullRequest),
    ObjectKind::Thread(ThreadKind::Discussion),
    ObjectKind::Comment(CommentKind::Conversation),
    ObjectKind::Comment(CommentKind::ReviewComment),
    ObjectKind::Comment(CommentKind::Review),
    ObjectKind::Comment(CommentKind::DiscussionComment),
];

impl StoredPosition {
    const START: Self = Self { kind: 0, after: i64::MIN };

    /// Reads a position; a text of another form begins again, which emits nothing twice.
    fn parse(text: &str) -> Self {
        let parts = text.split_once(':');
        let position = parts.and_then(|(kind, after)| {
            Some(Self { kind: kind.parse().ok()?, after: after.parse().ok()? })
        });
        position.unwrap_or(Self::START)
    }

    fn to_text(self) -> String {
        format!("{}:{}", self.kind, self.after)
    }
}

impl StoreReader {
    /// Returns the watches of which something stored has not become events yet. Those that are paused wait.
    pub fn watches_to_derive(&self) -> Result<Vec<WatchId>, StoreError> {
        const DUE: Sql = Sql::portable(
            "select id from watches
              where state in ('bootstrapping', 'active')
                and (derive_cursor is not null
                     or exists (select 1 from watched_threads
                                 where watch_id = watches.id and derive_cursor is not null))
              order by id",
        );
        self.read("watches", |tx| {
            Ok(tx.query(DUE, &[], |mut row| row.int("id"))?.into_iter().map(WatchId).collect())
        })
    }
}

impl LeasedStore {
    /// Derives the events of the next stored items of a watch. Returns true if nothing is left.
    pub fn derive_stored_events(&self, id: WatchId, limit: u32) -> Result<bool, StoreError> {
        self.write_with_lease(DERIVE, |tx| {
            let Some(watch) = find_watch(tx, id)?.filter(|watch| watch.state.emits()) else {
                return Ok(true);
            };
            let Some(repository) = watch.repository() else { return Ok(true) };
            let is_done = derive_threads(tx, &watch, &repository, limit)?
                && derive_comments(tx, &watch, &repository, limit)?;
            if is_done {
                activate_complete(tx, id)?;
            }
            Ok(is_done)
        })
    }
}

/// Passes over the threads of a repository. Returns false if this transaction has done enough.
fn derive_threads(
    tx: &mut Transaction<'_>,
    watch: &Watch,
    repository: &RepositoryKey,
    limit: u32,
) -> Result<bool, StoreError> {
    const CURSOR: Sql = Sql::portable("select derive_cursor from watches where id = $1");
    const ADVANCE: Sql = Sql::portable("update watches set derive_cursor = $1 where id = $2");
    const NEXT: KindStatements = of_kind!(
        "select id, number from",
        "where host = $1 and repository_id = $2 and id > $3 and updated_at >= $4
          order by id limit $5"
    );
    // what is derived of a thread's comments is derived again
    const DERIVE_COMMENTS: Sql = Sql::per_dialect(
        "update watched_threads set derive_cursor = ''
          where watch_id = $1 and repository_id = $2 and number in (select value from json_each($3))",
        "update watched_threads set derive_cursor = ''
          where watch_id = $1 and repository_id = $2 and number = any($3)",
    );
    let cursor =
        tx.query_first(CURSOR, &params![watch.id.0], |mut row| row.maybe_text("derive_cursor"))?;
    let Some(cursor) = cursor.flatten() else { return Ok(true) };
    let mut position = StoredPosition::parse(&cursor);
    let Some(kind) = THREAD_KINDS.get(position.kind).copied() else {
        tx.send_statement(ADVANCE, &params![None::<&str>, watch.id.0])?;
        return Ok(true);
    };
    // a thread that was not updated since has said nothing since; a label is looked for in all of them
    let floor = watch.floor.filter(|_| watch.subject.label.is_none());
    let floor = floor.filter(|floor| *floor != SourceInstant::BEGINNING);
    let floor = floor.map(|floor| SourceInstant(floor.0 - floor.0.rem_euclid(1_000)).to_string());
    let params = params![
        &repository.host,
        repository.id,
        position.after,
        floor.as_deref().unwrap_or_default(),
        i64::from(limit),
    ];
    let threads =
        tx.query(NEXT.for_kind(kind), &params, |mut row| Ok((row.int("id")?, row.int("number")?)))?;
    let ids: Vec<i64> = threads.iter().map(|(id, _)| *id).collect();
    emit_stored(tx, &repository.host, kind, &ids)?;
    let numbers: Vec<i64> = threads.iter().map(|(_, number)| *number).collect();
    let params = params![watch.id.0, repository.id, numbers.as_slice()];
    tx.send_statement(DERIVE_COMMENTS, &params)?;
    position = match threads.last() {
        Some((last, _)) if threads.len() >= limit as usize => {
            StoredPosition { after: *last, ..position }
        }
        _ => StoredPosition { kind: position.kind + 1, ..StoredPosition::START },
    };
    let cursor = position.to_text();
    tx.send_statement(ADVANCE, &params![cursor.as_str(), watch.id.0])?;
    Ok(false)
}

/// Passes over what is stored of the threads of a watch. Returns false if this transaction has done enough.
fn derive_comments(
    tx: &mut Transaction<'_>,
    watch: &Watch,
    repository: &RepositoryKey,
    limit: u32,
) -> Result<bool, StoreError> {
    const NEXT_THREADS: Sql = Sql::portable(
        "select number, derive_cursor from watched_threads
          where watch_id = $1 and derive_cursor is not null order by number limit $2",
    );
    const ADVANCE: Sql = Sql::portable(
        "update watched_threads set derive_cursor = $1
          where watch_id = $2 and repository_id = $3 and number = $4",
    );
    let params = params![watch.id.0, i64::from(limit)];
    let threads = tx.query(NEXT_THREADS, &params, |mut row| {
        Ok((row.int("number")?, row.text("derive_cursor")?))
    })?;
    let is_last = threads.len() < limit as usize;
    let mut rows_left = limit;
    for (number, cursor) in threads {
        let mut position = StoredPosition::parse(&cursor);
        while let Some(kind) = COMMENT_KINDS.get(position.kind).copied() {
            if rows_left == 0 {
                return Ok(false);
            }
            let ids = next_of_thread(tx, repository, number, kind, position.after, rows_left)?;
            emit_stored(tx, &repository.host, kind, &ids)?;
            let count = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            position = match ids.last() {
                Some(last) if count >= rows_left => StoredPosition { after: *last, ..position },
                _ => StoredPosition { kind: position.kind + 1, ..StoredPosition::START },
            };
            rows_left = rows_left.saturating_sub(count);
            let is_done = position.kind >= COMMENT_KINDS.len();
            let cursor = Some(position.to_text()).filter(|_| !is_done);
            let params = params![cursor.as_deref(), watch.id.0, repository.id, number];
            tx.send_statement(ADVANCE, &params)?;
        }
    }
    Ok(is_last)
}

/// Returns the next ids of one kind in a thread: the thread's own, or those of its comments.
fn next_of_thread(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    number: i64,
    kind: ObjectKind,
    after: i64,
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    const THREADS: KindStatements = of_kind!(
        "select id from",
        "where host = $1 and repository_id = $2 and number = $3 and id > $4 order by id limit $5"
    );
    const COMMENTS: KindStatements = of_kind!(
        "select id from",
        "where host = $1 and repository_id = $2 and thread_number = $3 and id > $4
          order by id limit $5"
    );
    let statements = if kind.is_thread() { THREADS } else { COMMENTS };
    let params = params![&repository.host, repository.id, number, after, i64::from(limit)];
    tx.query(statements.for_kind(kind), &params, |mut row| row.int("id"))
}

/// Emits what stored items say, as if they had just been seen.
fn emit_stored(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    if ids.is_empty() {
        return Ok(());
    }
    let items = views::items::items_by_ids(tx, host, kind, ids)?;
    let keys = ids.iter().map(|id| ObjectId { kind, id: *id });
    let stored = cells::read_cells(tx, host, keys)?;
    let seen: Vec<_> = items
        .iter()
        .filter_map(|item| {
            let sight = stored_sights(&stored.cells, item.key())?;
            Some(SeenItem { item, url: stored_url(item), sight })
        })
        .collect();
    emit(tx, host, &seen)
}

fn stored_url(item: &MirrorItem) -> &str {
    match item {
        MirrorItem::Thread(thread) => &thread.url,
        MirrorItem::Comment(comment) => &comment.url,
        MirrorItem::Repository(_) | MirrorItem::Post(_) => item.node_id(),
    }
}
