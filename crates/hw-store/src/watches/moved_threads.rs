//! Threads that moved, as the activity list of their repository showed, until what changed in them was read.

use std::collections::BTreeMap;

use hw_rules::item::ThreadKind;
use hw_rules::moved_thread::{MovedThread, MovedThreadReads};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;

use super::parse_thread_kind;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};

/// A stored thread that moved, and what was read of it since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedThreadRow {
    pub number: i64,
    pub kind: ThreadKind,
    pub node_id: String,
    pub moved_at: SourceInstant,
    pub reads: MovedThreadReads,
}

/// What was read of a thread that moved at this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedThreadStep {
    pub number: i64,
    pub moved_at: SourceInstant,
    /// What the row said before. If it says something else now, the thread moved again.
    pub before: MovedThreadReads,
    /// None if nothing is left to be read.
    pub reads: Option<MovedThreadReads>,
}

const RECORD: TransactionStep = step!("record moved threads");

impl StoreReader {
    /// Returns the threads of a repository that moved, the longest ago first.
    pub fn moved_threads(
        &self,
        repository: &RepositoryKey,
    ) -> Result<Vec<MovedThreadRow>, StoreError> {
        const MOVED: Sql = Sql::portable(
            "select number, kind, node_id, updated_at_ms, looked_at_ms, reviews_read_at_ms from moved_threads
              where host = $1 and repository_id = $2 order by updated_at_ms, number",
        );
        let params = params![&repository.host, repository.id];
        self.read("moved threads", |tx| {
            tx.query(MOVED, &params, |mut row| {
                Ok(MovedThreadRow {
                    number: row.int("number")?,
                    kind: parse_thread_kind(&row.text("kind")?)?,
                    node_id: row.text("node_id")?,
                    moved_at: SourceInstant(row.int("updated_at_ms")?),
                    reads: MovedThreadReads {
                        looked_at: row.maybe_int("looked_at_ms")?.map(SourceInstant),
                        reviews_read_at: row.maybe_int("reviews_read_at_ms")?.map(SourceInstant),
                    },
                })
            })
        })
    }
}

impl LeasedStore {
    /// Records what was read of threads that moved, and forgets those of which nothing is left to be read.
    pub fn record_moved_threads(
        &self,
        repository: &RepositoryKey,
        steps: &[MovedThreadStep],
    ) -> Result<(), StoreError> {
        const UPDATE: Sql = Sql::portable(
            "update moved_threads set looked_at_ms = $1, reviews_read_at_ms = $2
              where host = $3 and repository_id = $4 and number = $5 and updated_at_ms = $6
                and coalesce(looked_at_ms, -1) = $7",
        );
        const FORGET: Sql = Sql::portable(
            "delete from moved_threads
              where host = $1 and repository_id = $2 and number = $3 and updated_at_ms = $4
                and coalesce(looked_at_ms, -1) = $5",
        );
        let RepositoryKey { host, id } = repository;
        let (mut updates, mut done) = (Vec::new(), Vec::new());
        for MovedThreadStep { number, moved_at, before, reads } in steps {
            let before = before.looked_at.map_or(-1, |at| at.0);
            match reads {
                Some(MovedThreadReads { looked_at, reviews_read_at }) => updates.push(
                    params![
                        looked_at.map(|at| at.0),
                        reviews_read_at.map(|at| at.0),
                        host,
                        *id,
                        *number,
                        moved_at.0,
                        before,
                    ]
                    .to_vec(),
                ),
                None => done.push(params![host, *id, *number, moved_at.0, before].to_vec()),
            }
        }
        self.write_with_lease(RECORD, |tx| {
            tx.execute_each(UPDATE, &updates)?;
            tx.execute_each(FORGET, &done)
        })
    }
}

/// Records threads that moved. A second change within one second cannot be told from the first by its time, so a row that is
/// shown again is read again.
pub(crate) fn store_moved(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    moved: &[MovedThread],
) -> Result<(), StoreError> {
    const STORE: Sql = Sql::per_dialect(
        concat!(insert_moved!(), " values ($1, $2, $3, $4, $5, $6)", replace_older!()),
        concat!(
            insert_moved!(),
            " select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])",
            replace_older!()
        ),
    );
    let RepositoryKey { host, id } = repository;
    let mut newest: BTreeMap<i64, &MovedThread> = BTreeMap::new();
    for thread in moved {
        let known = newest.entry(thread.number).or_insert(thread);
        if thread.updated_at > known.updated_at {
            *known = thread;
        }
    }
    let rows: Vec<_> = newest
        .values()
        .map(|thread| {
            let MovedThread { number, kind, node_id, updated_at } = thread;
            params![host, *id, *number, kind.name(), node_id, updated_at.instant().0].to_vec()
        })
        .collect();
    tx.insert_rows(STORE, &rows)
}

macro_rules! insert_moved {
    () => {
        "insert into moved_threads (host, repository_id, number, kind, node_id, updated_at_ms)"
    };
}
macro_rules! replace_older {
    () => {
        " on conflict (host, repository_id, number) do update
             set kind = excluded.kind, node_id = excluded.node_id, updated_at_ms = excluded.updated_at_ms,
                 looked_at_ms = null, reviews_read_at_ms = null
           where excluded.updated_at_ms >= moved_threads.updated_at_ms"
    };
}
use {insert_moved, replace_older};

/// Forgets the threads of a repository that nobody watches.
pub(crate) fn forget_unwatched(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
) -> Result<(), StoreError> {
    const FORGET: Sql = Sql::portable(
        "delete from moved_threads
          where host = $1 and repository_id = $2
            and not exists (select 1 from watches
                             where watches.host = moved_threads.host
                               and watches.repository_id = moved_threads.repository_id)",
    );
    tx.send_statement(FORGET, &params![&repository.host, repository.id])
}
