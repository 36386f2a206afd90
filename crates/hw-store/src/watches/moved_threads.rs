//! Threads that moved, as the activity list of their repository showed, and were not looked at since.

use hw_rules::item::ThreadKind;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;

use super::parse_thread_kind;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::{LeasedStore, StoreReader};

/// A thread that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedThread {
    pub number: i64,
    pub kind: ThreadKind,
    pub node_id: String,
    pub updated_at: SourceInstant,
}

const CLEAR: TransactionStep = step!("clear moved threads");

impl StoreReader {
    /// Returns the threads of a repository that moved, the longest ago first.
    pub fn moved_threads(
        &self,
        repository: &RepositoryKey,
        limit: u32,
    ) -> Result<Vec<MovedThread>, StoreError> {
        const MOVED: Sql = Sql::portable(
            "select number, kind, node_id, updated_at_ms from moved_threads
              where host = $1 and repository_id = $2 order by updated_at_ms, number limit $3",
        );
        let params = params![&repository.host, repository.id, i64::from(limit)];
        self.read("moved threads", |tx| {
            tx.query(MOVED, &params, |mut row| {
                Ok(MovedThread {
                    number: row.int("number")?,
                    kind: parse_thread_kind(&row.text("kind")?)?,
                    node_id: row.text("node_id")?,
                    updated_at: SourceInstant(row.int("updated_at_ms")?),
                })
            })
        })
    }
}

impl LeasedStore {
    /// Forgets threads that were looked at, unless they moved on since.
    pub fn clear_moved(
        &self,
        repository: &RepositoryKey,
        looked_at: &[MovedThread],
    ) -> Result<(), StoreError> {
        const CLEAR_ONE: Sql = Sql::portable(
            "delete from moved_threads
              where host = $1 and repository_id = $2 and number = $3 and updated_at_ms <= $4",
        );
        let RepositoryKey { host, id } = repository;
        let rows: Vec<_> = looked_at
            .iter()
            .map(|thread| params![host, *id, thread.number, thread.updated_at.0].to_vec())
            .collect();
        self.write_with_lease(CLEAR, |tx| tx.execute_each(CLEAR_ONE, &rows))
    }
}

/// Records threads that moved. An older answer changes nothing.
pub(crate) fn store_moved(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    moved: &[MovedThread],
) -> Result<(), StoreError> {
    const STORE: Sql = Sql::per_dialect(
        "insert into moved_threads (host, repository_id, number, kind, node_id, updated_at_ms)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (host, repository_id, number) do update
            set kind = excluded.kind, node_id = excluded.node_id, updated_at_ms = excluded.updated_at_ms
          where excluded.updated_at_ms > moved_threads.updated_at_ms",
        "insert into moved_threads (host, repository_id, number, kind, node_id, updated_at_ms)
         select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
         on conflict (host, repository_id, number) do update
            set kind = excluded.kind, node_id = excluded.node_id, updated_at_ms = excluded.updated_at_ms
          where excluded.updated_at_ms > moved_threads.updated_at_ms",
    );
    let RepositoryKey { host, id } = repository;
    let mut newest = std::collections::BTreeMap::new();
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
            params![host, *id, *number, kind.name(), node_id, updated_at.0].to_vec()
        })
        .collect();
    tx.insert_rows(STORE, &rows)
}

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
