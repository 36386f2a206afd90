//! Stores the mirror and its progress in SQLite or PostgreSQL. It never contacts a source and never reads a
//! clock.
//!
//! Data and progress commit together: a page's texts, search rows, versions and the lane's coverage are written in
//! one transaction, and the comparison with the stored versions happens inside it. At most one write transaction is
//! open per workspace, in either database, so the pure rules of `hw_rules` decide on a state that cannot change
//! under them.
//!
//! The store is synchronous. SQLite works on the caller's thread anyway, a write takes a few milliseconds, and a test
//! that repeats the same calls in the same order gets the same results. The PostgreSQL driver has a small runtime of
//! its own for its sockets. Callers on an async runtime wrap their calls in `block_in_place`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

mod backup;
mod cells;
mod chores;
mod closing_references;
mod comment_queue;
mod driver;
mod engine;
mod error;
mod id_conflicts;
mod ingest;
mod integrity;
mod lanes;
mod late_threads;
mod leases;
mod locks;
mod migrations;
mod mirror;
mod pauses;
mod quarantine;
mod removal_tally;
mod removals;
mod removed_items;
mod repair;
mod request_reservations;
mod search;
mod source_clocks;
mod sources;
mod sql;
mod sweeps;
mod tables;
mod transaction;
mod verification;
mod views;
mod workspace;
mod workspace_handle;
mod workspace_removal;

pub use chores::ChoreChunk;
pub use closing_references::{OpenPullRequest, ReadReferences, ReferencesSelection};
pub use comment_queue::DueThread;
pub use driver::DatabaseTimeouts;
pub use driver::postgres::{check_postgres_url, list_schemas};
pub use engine::{
    Hit, MatchCount, MatchedComment, RankedMatches, SearchEngine, SearchRequest, SearchResults,
};
pub use error::StoreError;
pub use ingest::{Etag, IngestCounts, IngestPage};
pub use integrity::{IntegrityCheck, IntegrityReport};
pub use lanes::{LaneRow, TurnFailure};
pub use leases::{Lease, LeaseHolder};
pub use migrations::SCHEMA_GUID;
pub use pauses::{NewPause, PauseRow};
pub use quarantine::{QuarantinedItem, UnreadableItem};
pub use removal_tally::ItemTally;
pub use removed_items::{RETENTION_MS, RemovalReason, RemovedItem, RemovedQuery, RestoreResult};
pub use request_reservations::{RequestReservation, ReserveOutcome};
pub use sources::{RepositoryList, StoredSource};
pub use sweeps::{RemovalResult, StageOutcome, SweepFindings, SweepPage, SweepState};
pub use verification::{DamagedItem, VerifiedPage, VerifyCursor};
pub use views::comment_list::{CommentFilter, CommentRow};
pub use views::completeness::Completeness;
pub use views::counts::ObjectCounts;
pub use views::cursor::{CommentCursor, InvalidListCursor, ThreadCursor};
pub use views::health::LeaseRow;
pub use views::lane_names::LaneNames;
pub use views::pulls::{FailedPull, LastPull};
pub use views::skipped_rows::{ReadableRows, SkippedRows};
pub use views::thread_list::{ThreadFilter, ThreadRow, ThreadTotals};
pub use views::thread_outline::{CommentExcerpt, CommentOutline, ThreadOutline};
pub use views::thread_view::ThreadView;
pub use workspace::Workspace;
pub use workspace_handle::{OpenWorkspaceError, WorkspaceHandle};
pub use workspace_removal::{RemoveCondition, WorkspaceRemoval, remove_database_file};

use driver::DatabaseDriver;
use driver::postgres::PostgresDriver;
use driver::sqlite::SqliteDriver;
use locks::DatabaseLocks;
use migrations::RefetchPolicy;
use transaction::map_step_error;

/// The location of a workspace's database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// A database that exists as long as its store.
    Memory,
    File(PathBuf),
    /// A schema of its own in a PostgreSQL database.
    Postgres {
        url: String,
        schema: String,
    },
}

/// PostgreSQL truncates longer names, so two workspaces could end up in one schema.
const MAX_SCHEMA_NAME_BYTES: usize = 63;

/// Decides at a named point whether the process "crashes" there.
type CrashHook = Arc<dyn Fn(&'static str) -> bool + Send + Sync>;

/// A workspace's database. Clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<StoreInner>,
    crash_hook: Option<CrashHook>,
}

struct StoreInner {
    driver: Box<dyn DatabaseDriver>,
    read_only: bool,
    locks: DatabaseLocks,
    location: DatabaseLocation,
    /// Opening this store created the schema.
    is_new_schema: bool,
}

impl Store {
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
        let inner = StoreInner::new(driver, location);
        let inner = Arc::new(StoreInner { is_new_schema, ..inner });
        let store = Self { inner, crash_hook: None };
        migrations::apply_migrations(&store, refetch)?;
        Ok(store)
    }

    /// Opens an existing database for views; never creates, migrates or writes.
    pub fn open_reader(location: &DatabaseLocation) -> Result<Self, StoreError> {
        Self::open_reader_with_timeouts(location, DatabaseTimeouts::default())
    }

    /// Opens an existing database for views, with other limits on the time a server may take.
    pub fn open_reader_with_timeouts(
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
        let inner = Arc::new(StoreInner { read_only: true, ..StoreInner::new(driver, location) });
        let store = Self { inner, crash_hook: None };
        migrations::check_schema(&store)?;
        Ok(store)
    }

    /// Returns true if opening this store created its PostgreSQL schema.
    pub fn is_new_schema(&self) -> bool {
        self.inner.is_new_schema
    }

    /// Returns how often this store has waited for its server's answer. SQLite has no server.
    pub fn round_trips(&self) -> u64 {
        self.inner.driver.round_trips()
    }

    /// Installs a hook that decides at each named point of a write whether to crash there.
    ///
    /// A crash before the commit rolls the write back. After a crash behind the commit the write is stored, but the
    /// caller does not know it.
    #[must_use]
    pub fn with_crash_hook(self, hook: Arc<dyn Fn(&'static str) -> bool + Send + Sync>) -> Self {
        Self { inner: self.inner, crash_hook: Some(hook) }
    }

    /// Returns true if both are clones of one opened store.
    pub(crate) fn is_same_database(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl StoreInner {
    fn new(driver: Box<dyn DatabaseDriver>, location: &DatabaseLocation) -> Self {
        let (locks, location) = (location.database_locks(), location.clone());
        Self { driver, read_only: false, locks, location, is_new_schema: false }
    }
}

/// Omits the URL, which may contain a password.
impl fmt::Debug for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("Memory"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Postgres { schema, .. } => {
                f.debug_struct("Postgres").field("schema", schema).finish_non_exhaustive()
            }
        }
    }
}

impl DatabaseLocation {
    /// Rejects a schema name that PostgreSQL would truncate or reserves for itself.
    fn check_schema_name(&self) -> Result<(), StoreError> {
        let Self::Postgres { schema, .. } = self else { return Ok(()) };
        let why = match schema.as_str() {
            "" => "it is empty",
            name if name.len() > MAX_SCHEMA_NAME_BYTES => "it is longer than 63 bytes",
            name if name.starts_with("pg_") => "names starting with pg_ are reserved by PostgreSQL",
            name if name.contains('\0') => "it contains U+0000",
            _ => return Ok(()),
        };
        Err(StoreError::InvalidSchemaName { name: schema.clone(), why })
    }

    fn database_locks(&self) -> DatabaseLocks {
        match self {
            Self::File(path) => DatabaseLocks::beside_file(path),
            Self::Memory | Self::Postgres { .. } => DatabaseLocks::none(),
        }
    }

    fn no_database(&self) -> StoreError {
        StoreError::NoDatabase(self.display_name())
    }

    /// Formats the location for people, without the database password.
    pub fn display_name(&self) -> String {
        match self {
            Self::Memory => "memory".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Postgres { schema, .. } => format!("the PostgreSQL schema {schema:?}"),
        }
    }
}
