//! The interface that both databases implement: sessions, transactions and statements.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::error::DriverError;
use crate::sql::{Dialect, Sql, SqlParam, SqlRow};

pub(crate) mod error_mapping;
pub(crate) mod postgres;
mod semaphore;
pub(crate) mod sqlite;
mod timeouts;

pub use timeouts::DatabaseTimeouts;

/// The number of concurrent readers. Each has a connection of its own.
const MAX_READERS: usize = 8;
/// The time a further reader waits for one of them to finish.
const MAX_READER_WAIT: Duration = Duration::from_secs(30);

/// A database that hands out sessions.
pub(crate) trait DatabaseDriver: Send + Sync {
    /// Returns a session that may write.
    fn write_session(&self) -> Result<Box<dyn DatabaseSession + '_>, DriverError>;
    /// Returns a session for views. Waits while too many readers are active.
    fn read_session(&self) -> Result<Box<dyn DatabaseSession + '_>, DriverError>;
    /// Closes the idle reading connections if they cache anything of the database.
    fn drop_idle_readers(&self) {}
    /// Returns how often sessions have waited for a server; 0 if there is none.
    fn round_trips(&self) -> u64 {
        0
    }
}

/// The promise of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A power cut may lose the last commits, never a part of one. What they stored is fetched again.
    Usual,
    /// The commit is on the disk when it returns.
    Durable,
}

/// Receives each row of a result; `Break` ends the query.
pub(crate) type RowCallback<'a> = dyn FnMut(SqlRow) -> ControlFlow<()> + 'a;

/// One connection, used by one caller at a time.
pub(crate) trait DatabaseSession {
    fn dialect(&self) -> Dialect;

    /// Begins a write transaction. At most one is open per workspace, across processes, so the rows it reads cannot
    /// change until it commits.
    fn begin_write(&mut self, durability: Durability) -> Result<(), DriverError>;
    /// Begins a transaction that sees one state of the database throughout.
    fn begin_read(&mut self) -> Result<(), DriverError>;
    /// Removes the time limit from this transaction's statements: a migration rewrites whole tables.
    fn lift_time_limit(&mut self) -> Result<(), DriverError>;
    fn commit(&mut self) -> Result<(), DriverError>;
    fn rollback(&mut self) -> Result<(), DriverError>;

    /// Runs a script without parameters.
    fn execute_batch(&mut self, script: &str) -> Result<(), DriverError>;
    /// Runs a statement and returns the number of rows it changed.
    fn execute(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<u64, DriverError>;
    /// Runs a statement without waiting for its answer. A later call reports its failure, at the latest the commit.
    fn send_statement(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<(), DriverError>;
    /// Runs one statement for each row of parameters, in order, without waiting for the answers.
    fn execute_each(&mut self, sql: Sql<'_>, rows: &[Vec<SqlParam<'_>>])
    -> Result<(), DriverError>;
    /// Inserts rows without waiting for the answer. PostgreSQL's text of the statement inserts all of them: its
    /// parameters are the columns, as arrays.
    fn insert_rows(&mut self, sql: Sql<'_>, rows: &[Vec<SqlParam<'_>>]) -> Result<(), DriverError>;
    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        each: &mut RowCallback<'_>,
    ) -> Result<(), DriverError>;
    /// Sends a query without waiting for its rows, so that several of them share a round trip.
    fn send_query(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
    ) -> Result<PendingRows, DriverError>;
    /// Returns the rows of a query that was sent in this session.
    fn read_pending(&mut self, pending: PendingRows) -> Result<Vec<SqlRow>, DriverError>;
}

/// The rows of a query that was sent.
pub(crate) enum PendingRows {
    /// Read at once: this database has no round trips to save.
    Read(Vec<SqlRow>),
    /// The position of the query among those of its session.
    Sent(usize),
}
