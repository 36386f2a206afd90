//! The seam between what highwater means and how a database runs it.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::error::DriverError;
use crate::sql::{Dialect, Param, Row, Sql};

mod permits;
pub(crate) mod postgres;
pub(crate) mod sorting;
pub(crate) mod sqlite;
mod timeouts;

pub use timeouts::DatabaseTimeouts;

/// How many may read at once, each on a connection of its own, and how long one more waits.
const READERS: usize = 8;
const PATIENCE: Duration = Duration::from_secs(30);

/// A database: hands out sessions.
pub(crate) trait Driver: Send + Sync {
    /// A session that may write.
    fn writer(&self) -> Result<Box<dyn Session + '_>, DriverError>;
    /// A session for views; waits while too many are reading.
    fn reader(&self) -> Result<Box<dyn Session + '_>, DriverError>;
    /// Closes the connections that wait for a reader, where they remember anything of the database.
    fn drop_idle_readers(&self) {}
}

/// What is called with each row of an answer; `Break` ends the reading.
pub(crate) type EachRow<'a> = dyn FnMut(Row) -> ControlFlow<()> + 'a;

/// One connection, used by one caller at a time.
pub(crate) trait Session {
    fn dialect(&self) -> Dialect;

    /// Begins a write transaction. At most one is open per workspace, across processes: what it reads
    /// stays true until it commits.
    fn begin_write(&mut self) -> Result<(), DriverError>;
    /// Begins a transaction that sees one state of the database throughout.
    fn begin_read(&mut self) -> Result<(), DriverError>;
    /// Lets the statements of this transaction take as long as they need: a migration rewrites whole tables.
    fn lift_time_limit(&mut self) -> Result<(), DriverError>;
    fn commit(&mut self) -> Result<(), DriverError>;
    fn rollback(&mut self) -> Result<(), DriverError>;

    /// Runs a script without parameters.
    fn batch(&mut self, script: &str) -> Result<(), DriverError>;
    /// Runs a statement; tells how many rows it changed.
    fn execute(&mut self, sql: Sql<'_>, params: &[Param<'_>]) -> Result<u64, DriverError>;
    /// Runs one statement for each row of parameters, in order, without waiting in between.
    fn execute_each(&mut self, sql: Sql<'_>, rows: &[Vec<Param<'_>>]) -> Result<(), DriverError>;
    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), DriverError>;
}
