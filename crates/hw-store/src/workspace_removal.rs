//! Measures the size of a workspace, and removes it without touching anything else.
//!
//! A file is removed under a lock that keeps workers out, and a schema in a transaction that finds no other worker. A
//! schema that contains anything but highwater's own tables stays: `drop schema … cascade` would drop the rest as well.

use std::path::{Path, PathBuf};

use crate::duties::DutyHolder;
use crate::error::StoreError;
use crate::locks;
use crate::sql::{Sql, params};
use crate::transaction::{Transaction, TransactionStep, step};
use crate::workers::{self, DeadWorker, WorkerHandle};
use crate::{DatabaseLocation, StoreReader, migrations};

const REMOVE: TransactionStep = step!("remove workspace");

/// The condition under which a workspace is removed with its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveCondition {
    Always,
    /// Only if no repository, no post, no followed account and no pause for a rate limit is stored.
    IfUntouched,
}

/// The outcome of removing a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRemoval {
    Removed,
    /// The workspace stays because it has content.
    InUse,
    /// The workspace stays because a worker is busy in it; with its name and start if the database is readable.
    Busy(Option<DutyHolder>),
}

/// Removes a database file with the files that SQLite and the locks left beside it. This process must not have it open.
pub fn remove_database_file(
    path: &Path,
    condition: RemoveCondition,
) -> Result<WorkspaceRemoval, StoreError> {
    let path =
        path.canonicalize().map_err(|_| StoreError::NoDatabase(path.display().to_string()))?;
    let Some(_lock) = locks::lock_for_removal(&path)? else {
        let reader = StoreReader::open(&DatabaseLocation::File(path)).ok();
        return Ok(WorkspaceRemoval::Busy(reader.and_then(|store| running_worker(&store))));
    };
    if condition == RemoveCondition::IfUntouched
        && !StoreReader::open(&DatabaseLocation::File(path.clone()))?.is_untouched()?
    {
        return Ok(WorkspaceRemoval::InUse);
    }
    // the log goes first: an interruption then leaves an older state in the file, instead of a log without its file
    let beside = ["-wal", "-shm", "-journal", ""].map(|suffix| path_with_suffix(&path, suffix));
    for file in beside.into_iter().chain(locks::all_lock_paths(&path)) {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::NotWritable(format!("{}: {error}", file.display())));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(WorkspaceRemoval::Removed)
}

/// Returns the first worker whose process runs.
fn running_worker(store: &StoreReader) -> Option<DutyHolder> {
    let mut workers = store.workers().ok()?.into_iter();
    let running = workers.find(|worker| worker.is_running == Some(true))?;
    Some(DutyHolder { worker: running.identity.display_name(), since_ms: running.started_ms })
}

fn path_with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

impl StoreReader {
    /// Returns the size of the workspace, including its indexes and its write-ahead log.
    pub fn size_bytes(&self) -> Result<u64, StoreError> {
        const SIZE: Sql = Sql::per_dialect(
            "select 0 as bytes",
            "select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint as bytes
               from pg_class join pg_namespace on pg_namespace.oid = relnamespace
              where nspname = current_schema() and relkind = 'r'",
        );
        if let DatabaseLocation::File(path) = &self.inner.location {
            let files = ["", "-wal"].map(|suffix| path_with_suffix(path, suffix));
            return Ok(files
                .iter()
                .filter_map(|file| std::fs::metadata(file).ok())
                .map(|file| file.len())
                .sum());
        }
        let size = self.read("size", |tx| tx.query_first(SIZE, &[], |mut row| row.int("bytes")))?;
        Ok(size.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0))
    }

    /// Returns true if no pull has stored anything yet, and nobody follows an account.
    fn is_untouched(&self) -> Result<bool, StoreError> {
        let counts = self.object_counts()?;
        let has_objects = counts.repositories > 0 || counts.posts > 0;
        Ok(!has_objects && self.accounts()?.is_empty() && !self.has_pauses()?)
    }
}

impl WorkerHandle {
    /// Removes the PostgreSQL schema of this workspace, unless another worker than these dead ones is registered.
    pub fn remove_schema(
        &self,
        condition: RemoveCondition,
        dead: &[DeadWorker],
    ) -> Result<WorkspaceRemoval, StoreError> {
        const SCHEMA: Sql =
            Sql::per_dialect("select null as schema", "select current_schema()::text as schema");
        const OTHERS: Sql = Sql::portable(
            "select machine, process, started_ms from workers where id <> $1 order by started_ms",
        );
        let store = self.store();
        if condition == RemoveCondition::IfUntouched && !store.is_untouched()? {
            return Ok(WorkspaceRemoval::InUse);
        }
        store.write(REMOVE, |tx| {
            workers::remove_dead(tx, dead)?;
            let other = tx.query_first(OTHERS, &params![&self.identity().id], |mut row| {
                let worker = workers::display_name(&row.text("machine")?, row.int("process")?);
                Ok(DutyHolder { worker, since_ms: row.int("started_ms")? })
            })?;
            if other.is_some() {
                return Ok(WorkspaceRemoval::Busy(other));
            }
            tx.lift_time_limit()?;
            let schema = tx.query_first(SCHEMA, &[], |mut row| row.maybe_text("schema"))?.flatten();
            let Some(schema) = schema else {
                let reason = "only a PostgreSQL schema can be dropped".to_owned();
                return Err(StoreError::Database { step: REMOVE.name, reason });
            };
            refuse_foreign_relations(tx, &schema)?;
            tx.execute_batch(&format!("drop schema \"{}\" cascade", schema.replace('"', "\"\"")))?;
            Ok(WorkspaceRemoval::Removed)
        })
    }
}

/// Rejects a schema that contains anything highwater did not create.
fn refuse_foreign_relations(tx: &mut Transaction<'_>, schema: &str) -> Result<(), StoreError> {
    const RELATIONS: Sql = Sql::per_dialect(
        "select name from sqlite_master where 1 = 0 and name = $1",
        "select relname::text as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
          where nspname::text = $1 and relkind in ('r', 'p', 'v', 'm', 'f') order by relname",
    );
    let found = tx.query(RELATIONS, &params![schema], |mut row| row.text("name"))?;
    match found.iter().find(|name| !migrations::is_our_relation(name)) {
        Some(name) => {
            Err(StoreError::SharedSchema { schema: schema.to_owned(), other: name.clone() })
        }
        None => Ok(()),
    }
}
