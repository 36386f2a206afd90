//! The memory of highwater: one store over SQLite or PostgreSQL. It never reaches a source, and never
//! asks a clock.
//!
//! What is kept and how far we got are kept together: a page's texts, search rows, versions and the
//! lane's coverage commit in one write transaction, and the comparison with what is held happens inside
//! it. At most one write transaction is open per workspace, in either database, so the pure rules of
//! `hw_rules` decide on a state that cannot move under them.
//!
//! The store is synchronous. SQLite works on the caller's thread anyway, a write is a few milliseconds,
//! and a test that calls it a million times in one order gets the same answer each time. The PostgreSQL
//! driver keeps a small runtime of its own for its sockets. Callers on an async runtime wrap their calls
//! in `block_in_place`.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

mod backup;
mod cells;
mod driver;
mod engine;
mod error;
mod identity;
mod ingest;
mod integrity;
mod lanes;
mod late_threads;
mod leases;
mod locks;
mod migrate;
mod mirror;
mod principals;
mod quarantine;
mod removal_tally;
mod removals;
mod removed_items;
mod repair;
mod search;
mod source_clocks;
mod sql;
mod sweeps;
mod tables;
mod talks;
mod tx;
mod verify;
mod views;
mod workspace;
mod workspace_removal;

pub use driver::DatabaseTimeouts;
pub use driver::postgres::{check_postgres, list_schemas};
pub use engine::{Found, Hit, Matches, Ranked, Said, Search, SearchEngine};
pub use error::Error;
pub use ingest::{Etag, IngestPage, Ingested};
pub use integrity::{IntegrityCheck, IntegrityReport};
pub use lanes::{Failure, LaneRow};
pub use leases::{HeldBy, Lease};
pub use migrate::SCHEMA_GUID;
pub use principals::{Reservation, Reserved, reserve_name};
pub use quarantine::{Quarantined, Unreadable};
pub use removal_tally::ItemTally;
pub use removed_items::{KEPT_MS, RemovalReason, RemovedItem, RemovedQuery, Restored};
pub use sweeps::{StagedPage, SweepFindings, SweepPage, SweepState, Swept};
pub use talks::DueTalk;
pub use verify::{DamagedItem, VerifiedPage, VerifyCursor};
pub use views::after::{After, AfterComment, NotACursor};
pub use views::behind::Behind;
pub use views::comments::{CommentFilter, CommentRow};
pub use views::counts::Counts;
pub use views::health::{LeaseRow, PauseRow};
pub use views::lane_names::LaneNames;
pub use views::pulls::{FailedPull, LastPull};
pub use views::skipped::{ReadableRows, SkippedRows};
pub use views::thread::ThreadView;
pub use views::thread_outline::{CommentExcerpt, CommentOutline, ThreadOutline};
pub use views::threads::{ThreadFilter, ThreadRow, ThreadsFound};
pub use workspace::Workspace;
pub use workspace_removal::{RemoveCondition, WorkspaceRemoval, remove_database_file};

use driver::postgres::Postgres;
use driver::sqlite::Sqlite;
use driver::{Driver, sorting};
use error::DriverError;
use locks::Locks;

/// Where a workspace's database is.
#[derive(Clone, PartialEq, Eq)]
pub enum Place {
    /// A database that ends with its store.
    Memory,
    File(PathBuf),
    /// A schema of its own in a PostgreSQL database.
    Postgres {
        url: String,
        schema: String,
    },
}

/// PostgreSQL cuts longer names, and two workspaces could meet in one schema.
const LONGEST_SCHEMA: usize = 63;

/// Tells at a named point whether the process is to "crash" there.
type Interrupts = Arc<dyn Fn(&'static str) -> bool + Send + Sync>;

/// A workspace's database. Clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
    interrupts: Option<Interrupts>,
}

struct Inner {
    driver: Box<dyn Driver>,
    read_only: bool,
    locks: Locks,
    place: Place,
    /// Whether the schema was made when this store was opened.
    is_new_schema: bool,
}

impl Store {
    /// Opens the database for writing; creates it when it is missing and brings its schema up to date.
    pub fn open(place: &Place) -> Result<Self, Error> {
        Self::open_with(place, DatabaseTimeouts::default())
    }

    /// The same, with other limits on how long a server may take.
    pub fn open_with(place: &Place, timeouts: DatabaseTimeouts) -> Result<Self, Error> {
        place.check()?;
        let failed = |error: DriverError| sorting::sorted("open", &*error);
        let mut is_new_schema = false;
        let driver: Box<dyn Driver> = match place {
            Place::Memory => Box::new(Sqlite::memory().map_err(failed)?),
            Place::File(path) => Box::new(Sqlite::create(path).map_err(failed)?),
            Place::Postgres { url, schema } => {
                let driver = Postgres::create(url, schema, timeouts).map_err(failed)?;
                is_new_schema = driver.is_new();
                Box::new(driver)
            }
        };
        let inner = Inner::new(driver, place);
        let inner = Arc::new(Inner { is_new_schema, ..inner });
        let store = Self { inner, interrupts: None };
        migrate::bring_up_to_date(&store)?;
        Ok(store)
    }

    /// Opens an existing database for views; never creates, migrates or writes.
    pub fn open_reader(place: &Place) -> Result<Self, Error> {
        Self::open_reader_with(place, DatabaseTimeouts::default())
    }

    /// The same, with other limits on how long a server may take.
    pub fn open_reader_with(place: &Place, timeouts: DatabaseTimeouts) -> Result<Self, Error> {
        place.check()?;
        let missing = || Error::NoDatabase(place.shown());
        let failed = |error: DriverError| sorting::sorted("open", &*error);
        let driver: Box<dyn Driver> = match place {
            Place::Memory => return Err(missing()),
            Place::File(path) if !path.is_file() => return Err(missing()),
            Place::File(path) => Box::new(Sqlite::existing(path).map_err(failed)?),
            Place::Postgres { url, schema } => {
                let found = Postgres::existing(url, schema, timeouts).map_err(failed)?;
                Box::new(found.ok_or_else(missing)?)
            }
        };
        let inner = Arc::new(Inner { read_only: true, ..Inner::new(driver, place) });
        let store = Self { inner, interrupts: None };
        migrate::check(&store, missing)?;
        Ok(store)
    }

    /// Whether opening this store made its PostgreSQL schema.
    pub fn is_new_schema(&self) -> bool {
        self.inner.is_new_schema
    }

    /// The same store, with a hook that is asked at each named point of a write whether to crash there.
    ///
    /// Before a commit that means: rolled back. After it: written, but the caller does not know.
    #[must_use]
    pub fn with_interrupts(self, hook: Arc<dyn Fn(&'static str) -> bool + Send + Sync>) -> Self {
        Self { inner: self.inner, interrupts: Some(hook) }
    }

    /// Whether it is the same opened database.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Inner {
    fn new(driver: Box<dyn Driver>, place: &Place) -> Self {
        let (locks, place) = (place.locks(), place.clone());
        Self { driver, read_only: false, locks, place, is_new_schema: false }
    }
}

/// Without the URL: it may carry a password.
impl fmt::Debug for Place {
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

impl Place {
    /// Refuses a schema name that PostgreSQL would cut short, or keeps for itself.
    fn check(&self) -> Result<(), Error> {
        let Self::Postgres { schema, .. } = self else { return Ok(()) };
        let why = match schema.as_str() {
            "" => "it is empty",
            name if LONGEST_SCHEMA < name.len() => "it is longer than 63 bytes",
            name if name.starts_with("pg_") => "names that begin with pg_ are PostgreSQL's own",
            name if name.contains('\0') => "it contains U+0000",
            _ => return Ok(()),
        };
        Err(Error::SchemaName { name: schema.clone(), why })
    }

    fn locks(&self) -> Locks {
        match self {
            Self::File(path) => Locks::beside(path),
            Self::Memory | Self::Postgres { .. } => Locks::none(),
        }
    }

    /// The place for people: without the password of a database.
    pub fn shown(&self) -> String {
        match self {
            Self::Memory => "memory".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Postgres { schema, .. } => format!("the PostgreSQL schema {schema:?}"),
        }
    }
}
