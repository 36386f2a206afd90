//! Queues threads whose comments are read thread by thread, whenever the thread changes.
//!
//! A thread is queued in the transaction that stores its change, as soon as the lane of its comments is followed.

use std::collections::BTreeSet;

use hw_rules::OVERLAP_MS;
use hw_rules::item::{MirrorItem, ObjectKind, Thread, ThreadKind};
use hw_rules::lane::{Lane, Scope, Surface};
use hw_rules::repository_key::RepositoryKey;

use crate::changes::{BatchChange, ChangeBatch};
use crate::error::StoreError;
use crate::lanes::lane_progress::PendingProgress;
use crate::lanes::lane_rows::FollowedLanes;
use crate::lanes::{self, StoredLane};
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};

/// A thread whose comments are due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueThread {
    pub id: i64,
    pub node_id: String,
}

const QUEUE: TransactionStep = step!("queue comments");

impl StoreReader {
    /// Returns the lanes that have queued threads.
    pub fn lanes_with_due_threads(&self) -> Result<BTreeSet<Lane>, StoreError> {
        const DUE: Sql =
            Sql::portable("select distinct host, kind, repository_id from comment_queue");
        let rows = self.read("queued threads", |tx| {
            tx.query(DUE, &[], |mut row| {
                Ok((row.text("host")?, row.text("kind")?, row.int("repository_id")?))
            })
        })?;
        let lanes = rows.into_iter().filter_map(|(host, kind, repository_id)| {
            let surface = Surface::per_thread_surface(ObjectKind::from_name(&kind)?.as_thread()?)?;
            Some(Lane::for_repository(RepositoryKey::new(&host, repository_id), surface))
        });
        Ok(lanes.collect())
    }

    /// Returns the next queued threads of a lane, by id.
    pub fn due_threads(
        &self,
        lane: &Lane,
        after: i64,
        limit: u32,
    ) -> Result<Vec<DueThread>, StoreError> {
        const DUE: KindStatements = of_kind!(
            "select threads.id, threads.node_id from comment_queue join",
            "as threads on threads.host = comment_queue.host and threads.id = comment_queue.id
              where comment_queue.host = $1 and comment_queue.kind = $2 and comment_queue.repository_id = $3
                and $4 < comment_queue.id
              order by comment_queue.id limit $5"
        );
        self.read_lane_threads(lane, after, limit, DUE)
    }

    /// Returns the next threads of a lane, by id, whether they are queued or not.
    pub fn lane_threads(
        &self,
        lane: &Lane,
        after: i64,
        limit: u32,
    ) -> Result<Vec<DueThread>, StoreError> {
        const ALL: KindStatements = of_kind!(
            "select id, node_id from",
            "where host = $1 and $2 = $2 and repository_id = $3 and $4 < id order by id limit $5"
        );
        self.read_lane_threads(lane, after, limit, ALL)
    }

    /// Returns the threads of a lane with these numbers.
    pub fn numbered_threads(
        &self,
        lane: &Lane,
        numbers: &[i64],
    ) -> Result<Vec<DueThread>, StoreError> {
        const NUMBERED: KindStatements = of_kind!(
            "select id, node_id from",
            "where host = $1 and repository_id = $2 and number in (select value from json_each($3)) order by id",
            "where host = $1 and repository_id = $2 and number = any($3) order by id"
        );
        let Some((kind, repository)) = thread_scope(lane) else { return Ok(Vec::new()) };
        let params = params![&lane.host, repository, numbers];
        self.read("numbered threads", |tx| {
            tx.query(NUMBERED.for_kind(kind), &params, |mut row| {
                Ok(DueThread { id: row.int("id")?, node_id: row.text("node_id")? })
            })
        })
    }

    fn read_lane_threads(
        &self,
        lane: &Lane,
        after: i64,
        limit: u32,
        sql: KindStatements,
    ) -> Result<Vec<DueThread>, StoreError> {
        let Some((kind, repository)) = thread_scope(lane) else { return Ok(Vec::new()) };
        let params = params![&lane.host, kind.name(), repository, after, i64::from(limit)];
        self.read("queued threads", |tx| {
            tx.query(sql.for_kind(kind), &params, |mut row| {
                Ok(DueThread { id: row.int("id")?, node_id: row.text("node_id")? })
            })
        })
    }
}

impl LeasedStore {
    /// Follows the comments of all stored and future threads. A lane that is already followed stays unchanged, even if
    /// its first read is incomplete.
    pub fn follow_thread_comments(&self, lane: &Lane) -> Result<(), StoreError> {
        const ALL: KindStatements = of_kind!(
            "insert into comment_queue (host, kind, id, repository_id)
             select host, $1, id, repository_id from",
            "where host = $2 and repository_id = $3 on conflict (host, kind, id) do nothing"
        );
        let Some((kind, repository)) = thread_scope(lane) else { return Ok(()) };
        self.write_with_lease(QUEUE, |tx| {
            let id = lanes::ensure_lane_id(tx, lane)?;
            let stored = PendingProgress::send_for_id(tx, id)?.read(tx)?;
            if stored.coverage.from.is_some() {
                return Ok(());
            }
            let params = params![kind.name(), &lane.host, repository];
            tx.send_statement(ALL.for_kind(kind), &params)?;
            let opened = stored.coverage.clone().open_per_thread();
            lanes::advance_coverage(tx, StoredLane { id, lane }, &opened, &stored)
        })
    }
}

fn thread_scope(lane: &Lane) -> Option<(ThreadKind, i64)> {
    match lane.scope {
        Scope::Repository(id) => Some((lane.surface.per_thread_kind()?, id.0)),
        Scope::Owner(_) | Scope::SingleRepositories | Scope::Account(_) => None,
    }
}

/// Queues the changed threads whose comments are followed, and removes those from the queue that are gone or forgotten.
pub(crate) fn update_queue(
    tx: &mut Transaction<'_>,
    batch: &ChangeBatch<'_>,
) -> Result<(), StoreError> {
    for (kind, ids) in batch.ids_by_kind(BatchChange::is_loss) {
        forget_threads(tx, batch.host, kind, &ids)?;
    }
    let Some(followed) = batch.followed else { return Ok(()) };
    let items: Vec<_> = batch.changes.iter().filter_map(BatchChange::new_item).collect();
    queue_threads(tx, batch.host, followed, &items)
}

/// Returns the lane that reads a thread's comments thread by thread, if there is such a lane.
pub(crate) fn per_thread_lane(host: &str, thread: &Thread) -> Option<Lane> {
    let surface = Surface::per_thread_surface(thread.kind())?;
    Some(Lane::for_repository(RepositoryKey::new(host, thread.repository_id), surface))
}

/// Returns the lanes that read the comments of these items' threads thread by thread.
pub(crate) fn per_thread_lanes(host: &str, items: &[&MirrorItem]) -> BTreeSet<Lane> {
    threads_among(items).filter_map(|thread| per_thread_lane(host, thread)).collect()
}

/// Queues the threads among these items whose comments are followed.
fn queue_threads(
    tx: &mut Transaction<'_>,
    host: &str,
    followed: &FollowedLanes,
    items: &[&MirrorItem],
) -> Result<(), StoreError> {
    const QUEUE: Sql = Sql::per_dialect(
        "insert into comment_queue (host, kind, id, repository_id) values ($1, $2, $3, $4)
         on conflict (host, kind, id) do update set repository_id = excluded.repository_id",
        "insert into comment_queue (host, kind, id, repository_id)
         select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[])
         on conflict (host, kind, id) do update set repository_id = excluded.repository_id",
    );
    let rows: Vec<_> = threads_among(items)
        .filter(|thread| {
            let lane = per_thread_lane(host, thread).and_then(|lane| followed.get(&lane));
            // a lane that only watches read claims nothing, and its threads are not read from this queue
            lane.is_some_and(|lane| lane.coverage.from.is_some())
        })
        .map(|thread| params![host, thread.kind().name(), thread.id, thread.repository_id].to_vec())
        .collect();
    tx.insert_rows(QUEUE, &rows)
}

fn threads_among<'a>(items: &[&'a MirrorItem]) -> impl Iterator<Item = &'a Thread> {
    items.iter().filter_map(|item| match item {
        MirrorItem::Thread(thread) => Some(thread),
        MirrorItem::Repository(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
    })
}

/// Removes threads from the queue whose comments were read completely. A thread that changed shortly before its
/// comments were read stays queued, because another comment may have been written in the same second.
pub(crate) fn dequeue_read_threads(
    tx: &mut Transaction<'_>,
    lane: &Lane,
    read: &[(i64, i64)],
) -> Result<(), StoreError> {
    const DONE: Sql = Sql::portable(
        "delete from comment_queue
          where host = $1 and kind = $2 and id = $3
            and exists (select 1 from cells
                         where cells.host = comment_queue.host and cells.kind = comment_queue.kind
                           and cells.id = comment_queue.id and cells.updated_at_ms < $4)",
    );
    let Some((kind, _)) = thread_scope(lane) else { return Ok(()) };
    let rows: Vec<_> = read
        .iter()
        .map(|(id, began_at_ms)| {
            let settled_ms = began_at_ms.saturating_sub(OVERLAP_MS);
            params![&lane.host, kind.name(), *id, settled_ms].to_vec()
        })
        .collect();
    tx.execute_each(DONE, &rows)
}

/// Removes threads from the queue.
fn forget_threads(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    const FORGET: Sql = Sql::per_dialect(
        "delete from comment_queue
          where host = $1 and kind = $2 and id in (select value from json_each($3))",
        "delete from comment_queue where host = $1 and kind = $2 and id = any($3)",
    );
    if kind.as_thread().and_then(Surface::per_thread_surface).is_none() {
        return Ok(());
    }
    tx.send_statement(FORGET, &params![host, kind.name(), ids])
}
