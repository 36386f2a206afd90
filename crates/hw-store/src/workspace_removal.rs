//! Finds out how large a workspace is, and removes it and nothing else.
//!
//! A file is removed while the lock of its pull is held; a schema in the transaction that checks the lease. A schema
//! that holds anything but highwater's own tables stays: `drop schema … cascade` would take the rest with it.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::leases::{self, HeldBy, Lease};
use crate::locks::{Grip, Locks, lock_path};
use crate::sql::{Sql, params};
use crate::tx::{Step, Tx, step};
use crate::{Place, Store, migrate};

const REMOVE: Step = step!("remove workspace");

/// Whether a workspace is removed with all that is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveCondition {
    Always,
    /// Only while no repository was stored and no limit has to be waited for.
    IfUntouched {
        now_ms: i64,
    },
}

/// The outcome of removing a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRemoval {
    Removed,
    /// Something is stored in it, so it stays.
    InUse,
    /// A pull is at work in it, so it stays; its lease, where the database can be read.
    Busy(Option<HeldBy>),
}

/// Removes a database file and what SQLite and the locks left beside it. This process must not have it open.
pub fn remove_database_file(
    path: &Path,
    lease: &str,
    condition: RemoveCondition,
) -> Result<WorkspaceRemoval, Error> {
    let path = path.canonicalize().map_err(|_| Error::NoDatabase(path.display().to_string()))?;
    let locks = Locks::beside(&path);
    let _lock = match locks.keys().grip(lease)? {
        Grip::Elsewhere => {
            let reader = Store::open_reader(&Place::File(path)).ok();
            let holder = reader.and_then(|store| store.lease_holder(lease).ok().flatten());
            return Ok(WorkspaceRemoval::Busy(holder));
        }
        lock @ (Grip::Nothing | Grip::New(_)) => lock,
    };
    if let RemoveCondition::IfUntouched { now_ms } = condition
        && !Store::open_reader(&Place::File(path.clone()))?.is_untouched(now_ms)?
    {
        return Ok(WorkspaceRemoval::InUse);
    }
    // the log goes first: without it an older state would be in the file, with it nothing is
    let beside = ["-wal", "-shm", "-journal", ""].map(|suffix| with_suffix(&path, suffix));
    for file in beside.into_iter().chain([lock_path(&path, lease)]) {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::NotWritable(format!("{}: {error}", file.display())));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(WorkspaceRemoval::Removed)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    PathBuf::from(path)
}

impl Store {
    /// Removes the PostgreSQL schema of this workspace, for the holder of its lease.
    pub fn remove_schema(
        &self,
        lease: &Lease,
        condition: RemoveCondition,
    ) -> Result<WorkspaceRemoval, Error> {
        const SCHEMA: Sql = Sql::each("select null", "select current_schema()::text");
        if let RemoveCondition::IfUntouched { now_ms } = condition
            && !self.is_untouched(now_ms)?
        {
            return Ok(WorkspaceRemoval::InUse);
        }
        // `write_for` would note the change in a table that is gone by then
        self.write(REMOVE, |tx| {
            leases::check(tx, lease)?;
            tx.lift_time_limit()?;
            let schema = tx.first(SCHEMA, &[], |mut row| row.maybe_text(0))?.flatten();
            let Some(schema) = schema else { return Err(Error::ReadOnly) };
            refuse_strangers(tx, &schema)?;
            tx.batch(&format!("drop schema \"{}\" cascade", schema.replace('"', "\"\"")))?;
            Ok(WorkspaceRemoval::Removed)
        })
    }

    /// Returns how much room the workspace takes, its indexes and its write-ahead log included.
    pub fn size_bytes(&self) -> Result<u64, Error> {
        const SIZE: Sql = Sql::each(
            "select 0",
            "select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::bigint
               from pg_class join pg_namespace on pg_namespace.oid = relnamespace
              where nspname = current_schema() and relkind = 'r'",
        );
        if let Place::File(path) = &self.inner.place {
            let files = ["", "-wal"].map(|suffix| with_suffix(path, suffix));
            return Ok(files
                .iter()
                .filter_map(|file| std::fs::metadata(file).ok())
                .map(|file| file.len())
                .sum());
        }
        let size = self.read("size", |tx| tx.first(SIZE, &[], |mut row| row.int(0)))?;
        Ok(size.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0))
    }

    /// Whether no pull has stored anything yet, and no limit has to be waited for.
    fn is_untouched(&self, now_ms: i64) -> Result<bool, Error> {
        Ok(self.counts()?.repositories == 0 && self.pauses(now_ms)?.is_empty())
    }
}

/// Refuses a schema in which there is something that highwater did not make.
fn refuse_strangers(tx: &mut Tx<'_>, schema: &str) -> Result<(), Error> {
    const RELATIONS: Sql = Sql::each(
        "select name from sqlite_master where 1 = 0 and name = $1",
        "select relname::text from pg_class join pg_namespace on pg_namespace.oid = relnamespace
          where nspname::text = $1 and relkind in ('r', 'p', 'v', 'm', 'f') order by relname",
    );
    let found = tx.query(RELATIONS, &params![schema], |mut row| row.text(0))?;
    match found.iter().find(|name| !migrate::is_our_relation(name)) {
        Some(name) => Err(Error::SharedSchema { schema: schema.to_owned(), other: name.clone() }),
        None => Ok(()),
    }
}
