//! The handle of everything that only reads.

use std::sync::Arc;

use crate::DatabaseLocation;
use crate::driver::postgres::PostgresDriver;
use crate::driver::sqlite::SqliteDriver;
use crate::driver::{DatabaseDriver, DatabaseTimeouts};
use crate::error::StoreError;
use crate::locks::DatabaseLocks;
use crate::migrations;
use crate::sql::Dialect;
use crate::transaction::map_step_error;

/// Answers questions about a workspace's database. Clones share it.
///
/// It has no methods that write:
///
/// ```compile_fail,E0599
/// # fn try_to_write(reader: &hw_store::StoreReader, pause: hw_store::NewPause<'_>) {
/// reader.store_pause(pause);
/// # }
/// ```
#[derive(Clone)]
pub struct StoreReader {
    pub(crate) inner: Arc<StoreInner>,
}

/// An open database, which all handles share.
pub(crate) struct StoreInner {
    pub(crate) driver: Box<dyn DatabaseDriver>,
    pub(crate) locks: DatabaseLocks,
    pub(crate) location: DatabaseLocation,
    /// Opening this database created its schema.
    pub(crate) is_new_schema: bool,
}

impl StoreReader {
    /// Opens an existing database for views; never creates, migrates or writes.
    pub fn open(location: &DatabaseLocation) -> Result<Self, StoreError> {
        Self::open_with_timeouts(location, DatabaseTimeouts::default())
    }

    /// Opens an existing database for views, with other limits on the time a server may take.
    pub fn open_with_timeouts(
        location: &DatabaseLocation,
        timeouts: DatabaseTimeouts,
    ) -> Result<Self, StoreError> {
        location.check_schema_name()?;
        let driver: Box<dyn DatabaseDriver> = match location {
            DatabaseLocation::Memory => return Err(location.no_database()),
            DatabaseLocation::File(path) if !path.is_file() => return Err(location.no_database()),
            DatabaseLocation::File(path) => {
                Box::new(SqliteDriver::open_existing(path).map_err(map_step_error("open"))?)
            }
            DatabaseLocation::Postgres { url, schema } => {
                let found = PostgresDriver::open_existing(url, schema, timeouts)
                    .map_err(map_step_error("open"))?;
                Box::new(found.ok_or_else(|| location.no_database())?)
            }
        };
        let reader = Self { inner: Arc::new(StoreInner::new(driver, location)) };
        migrations::check_schema(&reader)?;
        Ok(reader)
    }

    /// Returns true if every call waits for a server, which may be on another machine.
    pub fn has_server(&self) -> bool {
        self.dialect() == Dialect::Postgres
    }

    /// Returns how often this store has waited for its server's answer. SQLite has no server.
    pub fn round_trips(&self) -> u64 {
        self.inner.driver.round_trips()
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self.inner.location {
            DatabaseLocation::Memory | DatabaseLocation::File(_) => Dialect::Sqlite,
            DatabaseLocation::Postgres { .. } => Dialect::Postgres,
        }
    }

    /// Returns true if both are clones of one opened store.
    pub(crate) fn is_same_database(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl StoreInner {
    pub(crate) fn new(driver: Box<dyn DatabaseDriver>, location: &DatabaseLocation) -> Self {
        let (locks, location) = (location.database_locks(), location.clone());
        Self { driver, locks, location, is_new_schema: false }
    }
}
