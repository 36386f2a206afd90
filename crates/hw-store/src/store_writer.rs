//! The handle of everything that writes without a lease: requests, limits, and what a person decides.

use std::ops::Deref;
use std::sync::Arc;

use hw_rules::event_policy::EventPolicy;

use crate::driver::postgres::PostgresDriver;
use crate::driver::sqlite::SqliteDriver;
use crate::driver::{DatabaseDriver, DatabaseTimeouts};
use crate::error::StoreError;
use crate::migrations::{self, RefetchPolicy};
use crate::store_reader::StoreInner;
use crate::transaction::map_step_error;
use crate::{DatabaseLocation, ItemChange, Lease, LeasedStore, StoreReader};

/// Decides at a named point whether the process "crashes" there.
type CrashHook = Arc<dyn Fn(&'static str) -> bool + Send + Sync>;

/// Sees the changes of items.
pub type ChangeObserver = Arc<dyn Fn(&[ItemChange]) + Send + Sync>;

/// Reads a workspace's database, and writes what needs no lease. Clones share it.
///
/// Fetched data is written by a [`LeasedStore`]:
///
/// ```compile_fail,E0599
/// # fn try_to_ingest(writer: &hw_store::StoreWriter, page: &hw_store::IngestPage) {
/// writer.ingest_page(page);
/// # }
/// ```
#[derive(Clone)]
pub struct StoreWriter {
    reader: StoreReader,
    pub(crate) crash_hook: Option<CrashHook>,
    pub(crate) change_observer: Option<ChangeObserver>,
    pub(crate) event_policy: Arc<EventPolicy>,
}

impl StoreWriter {
    /// Opens the database for a pull; creates it when it is missing and brings its schema up to date. A mirror in an
    /// older format is emptied by a chore.
    pub fn open(location: &DatabaseLocation) -> Result<Self, StoreError> {
        Self::open_with_timeouts(location, DatabaseTimeouts::default())
    }

    /// Opens the database for other writers. Rejects a mirror in an older format, because they do not fetch.
    pub fn open_without_refetch(location: &DatabaseLocation) -> Result<Self, StoreError> {
        Self::open_writer(location, DatabaseTimeouts::default(), RefetchPolicy::Refused)
    }

    /// Opens the database for a pull, with other limits on the time a server may take.
    pub fn open_with_timeouts(
        location: &DatabaseLocation,
        timeouts: DatabaseTimeouts,
    ) -> Result<Self, StoreError> {
        Self::open_writer(location, timeouts, RefetchPolicy::Allowed)
    }

    fn open_writer(
        location: &DatabaseLocation,
        timeouts: DatabaseTimeouts,
        refetch: RefetchPolicy,
    ) -> Result<Self, StoreError> {
        location.check_schema_name()?;
        let mut is_new_schema = false;
        let driver: Box<dyn DatabaseDriver> = match location {
            DatabaseLocation::Memory => {
                Box::new(SqliteDriver::open_in_memory().map_err(map_step_error("open"))?)
            }
            DatabaseLocation::File(path) => {
                Box::new(SqliteDriver::open_or_create(path).map_err(map_step_error("open"))?)
            }
            DatabaseLocation::Postgres { url, schema } => {
                let driver = PostgresDriver::open_or_create(url, schema, timeouts)
                    .map_err(map_step_error("open"))?;
                is_new_schema = driver.is_new();
                Box::new(driver)
            }
        };
        let inner = StoreInner { is_new_schema, ..StoreInner::new(driver, location) };
        let reader = StoreReader { inner: Arc::new(inner) };
        let writer =
            Self { reader, crash_hook: None, change_observer: None, event_policy: Arc::default() };
        migrations::apply_migrations(&writer, refetch)?;
        Ok(writer)
    }

    /// Returns a reader of the same open database.
    pub fn reader(&self) -> StoreReader {
        self.reader.clone()
    }

    /// Returns a store that writes under this lease. Each write checks whether it is still held.
    pub fn with_lease(&self, lease: Lease) -> LeasedStore {
        LeasedStore::new(self.clone(), lease)
    }

    /// Returns true if opening this store created its PostgreSQL schema.
    pub fn is_new_schema(&self) -> bool {
        self.inner.is_new_schema
    }

    /// Installs a hook that decides at each named point of a write whether to crash there.
    ///
    /// A crash before the commit rolls the write back. After a crash behind the commit the write is stored, but the
    /// caller does not know it.
    #[must_use]
    pub fn with_crash_hook(self, hook: Arc<dyn Fn(&'static str) -> bool + Send + Sync>) -> Self {
        Self { crash_hook: Some(hook), ..self }
    }

    /// Installs an observer of every change of an item. It is called inside the transaction that makes the change, which
    /// may still be rolled back.
    #[must_use]
    pub fn with_change_observer(self, observer: ChangeObserver) -> Self {
        Self { change_observer: Some(observer), ..self }
    }

    /// Installs the settings that decide whose comments count as events.
    #[must_use]
    pub fn with_event_policy(self, policy: EventPolicy) -> Self {
        Self { event_policy: Arc::new(policy), ..self }
    }
}

impl Deref for StoreWriter {
    type Target = StoreReader;

    fn deref(&self) -> &StoreReader {
        &self.reader
    }
}
