//! The SQLite driver: one writing connection behind a lock, and read-only connections for views.
//!
//! Calls run on the caller's thread. Other processes may write the same file, so a write transaction begins with
//! `begin immediate`, waits for its turn, and is short.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ErrorCode, ToSql};

use super::semaphore::{SemaphorePermit, TimedSemaphore};
use super::{
    DatabaseDriver, DatabaseSession, Durability, MAX_READER_WAIT, MAX_READERS, PendingRows,
    RowCallback,
};
use crate::error::DriverError;
use crate::sql::{ColumnNames, Dialect, Sql, SqlParam, SqlRow, SqlValue};

mod read_only;

use read_only::ReadConnection;

const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
const BUSY_POLL_INTERVAL: Duration = Duration::from_millis(1);
const MAX_IDLE_READERS: usize = 4;
const WRITER_CACHE_KIB: i64 = 16 * 1024;
const READER_CACHE_KIB: i64 = 32 * 1024;
/// The number of prepared statements that each connection caches.
const STATEMENT_CACHE_SIZE: usize = 128;

pub(crate) struct SqliteDriver {
    /// None for a database in memory, whose only connection both reads and writes.
    path: Option<PathBuf>,
    /// Dropped before the writer: the last connection to close moves the log into the file, and a read-only one
    /// cannot do that.
    idle_readers: Mutex<Vec<ReadConnection>>,
    reader_permits: TimedSemaphore,
    /// None when opened for reading only.
    writer: Option<Mutex<Connection>>,
}

impl SqliteDriver {
    pub(crate) fn open_in_memory() -> Result<Self, DriverError> {
        let connection = Connection::open_in_memory()?;
        set_up_writer(&connection)?;
        Ok(Self::with_connections(None, Some(connection), vec![]))
    }

    pub(crate) fn open_or_create(path: &Path) -> Result<Self, DriverError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut connection = Connection::open(path)?;
        connection.busy_handler(Some(wait_for_writer))?;
        use_wal(&connection)?;
        set_up_writer(&connection)?;
        Ok(Self::with_connections(Some(path), Some(connection), vec![]))
    }

    pub(crate) fn open_existing(path: &Path) -> Result<Self, DriverError> {
        Ok(Self::with_connections(Some(path), None, vec![open_reader(path)?]))
    }

    fn with_connections(
        path: Option<&Path>,
        writer: Option<Connection>,
        readers: Vec<ReadConnection>,
    ) -> Self {
        Self {
            path: path.map(Path::to_owned),
            idle_readers: Mutex::new(readers),
            reader_permits: TimedSemaphore::new(MAX_READERS, MAX_READER_WAIT),
            writer: writer.map(Mutex::new),
        }
    }
}

/// Waits a moment for the transaction of another process, and returns false after [`BUSY_TIMEOUT`].
///
/// SQLite's own handler sleeps longer and longer, up to 100 ms. A process that writes one transaction after another leaves
/// gaps of a few milliseconds, and such sleeps would miss them for seconds.
#[expect(clippy::disallowed_methods, reason = "SQLite waits for another process on this thread")]
fn wait_for_writer(tries: i32) -> bool {
    thread::sleep(BUSY_POLL_INTERVAL);
    BUSY_POLL_INTERVAL * tries.unsigned_abs() < BUSY_TIMEOUT
}

/// Switches to write-ahead logging, which needs exclusive access to the file for a moment.
///
/// SQLite does not wait for that access when two processes create one file at once. It does wait for a write
/// transaction, so the process that is refused runs an empty one and retries.
fn use_wal(connection: &Connection) -> Result<(), rusqlite::Error> {
    for _ in 0..20 {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("begin immediate; commit")?;
            }
            done => return done,
        }
    }
    connection.pragma_update(None, "journal_mode", "wal")
}

fn set_up_writer(connection: &Connection) -> Result<(), rusqlite::Error> {
    set_durability(connection, Durability::Usual)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
    Ok(())
}

fn set_durability(connection: &Connection, durability: Durability) -> Result<(), rusqlite::Error> {
    let synchronous = match durability {
        Durability::Usual => "normal",
        Durability::Durable => "full",
    };
    connection.pragma_update(None, "synchronous", synchronous)
}

/// Copies a database into an empty file in one read transaction, so writers continue and the copy is consistent.
pub(crate) fn copy_database(source: &Path, target: &Path) -> Result<(), DriverError> {
    let connection = read_only::open_read_only(source)?.connection;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let target = target.to_str().ok_or("the path of the copy is not valid UTF-8")?;
    connection.execute("vacuum into ?1", [target])?;
    Ok(())
}

fn open_reader(path: &Path) -> Result<ReadConnection, rusqlite::Error> {
    let opened = read_only::open_read_only(path)?;
    let connection = &opened.connection;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_SIZE);
    Ok(opened)
}

impl DatabaseDriver for SqliteDriver {
    fn write_session(&self) -> Result<Box<dyn DatabaseSession + '_>, DriverError> {
        let writer = self.writer.as_ref().ok_or("opened for reading only")?;
        let connection = writer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Box::new(SqliteWriter { connection, durability: Durability::Usual }))
    }

    fn read_session(&self) -> Result<Box<dyn DatabaseSession + '_>, DriverError> {
        let Some(path) = &self.path else { return self.write_session() };
        let permit = self.reader_permits.acquire()?;
        let idle = self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let opened = match idle.filter(|opened| opened.is_current(path)) {
            Some(opened) => opened,
            None => open_reader(path)?,
        };
        Ok(Box::new(SqliteReader {
            idle_readers: &self.idle_readers,
            opened: Some(opened),
            _permit: permit,
        }))
    }

    fn drop_idle_readers(&self) {
        self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The writing connection.
struct SqliteWriter<'a> {
    connection: MutexGuard<'a, Connection>,
    durability: Durability,
}

/// Returns the connection to its usual durability, which no transaction can change once it has begun.
impl Drop for SqliteWriter<'_> {
    fn drop(&mut self) {
        if self.durability == Durability::Durable
            && let Err(error) = set_durability(&self.connection, Durability::Usual)
        {
            tracing::warn!(%error, "the database stays at synchronous = full, and writes more slowly");
        }
    }
}

/// A reading connection, returned to the idle ones when it is dropped.
struct SqliteReader<'a> {
    idle_readers: &'a Mutex<Vec<ReadConnection>>,
    opened: Option<ReadConnection>,
    _permit: SemaphorePermit<'a>,
}

impl Drop for SqliteReader<'_> {
    fn drop(&mut self) {
        let mut idle = self.idle_readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = self.opened.take()
            && opened.connection.is_autocommit()
            && idle.len() < MAX_IDLE_READERS
        {
            idle.push(opened);
        }
    }
}

/// Gives access to the connection, which is all that the two kinds of session differ in.
trait HasConnection {
    fn connection(&self) -> &Connection;

    /// Sets the promise of the commits to come. A reader has none.
    fn prepare_commits(&mut self, _: Durability) -> Result<(), DriverError> {
        Ok(())
    }
}

impl HasConnection for SqliteWriter<'_> {
    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn prepare_commits(&mut self, durability: Durability) -> Result<(), DriverError> {
        if self.durability != durability {
            set_durability(&self.connection, durability)?;
            self.durability = durability;
        }
        Ok(())
    }
}

impl HasConnection for SqliteReader<'_> {
    fn connection(&self) -> &Connection {
        let opened = self.opened.as_ref();
        &opened.expect("a reader keeps its connection until it is dropped").connection
    }
}

impl<C: HasConnection> DatabaseSession for C {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn begin_write(&mut self, durability: Durability) -> Result<(), DriverError> {
        self.prepare_commits(durability)?;
        self.execute_batch("begin immediate")
    }

    fn begin_read(&mut self) -> Result<(), DriverError> {
        self.execute_batch("begin")
    }

    fn lift_time_limit(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.execute_batch("commit")
    }

    /// SQLite has already rolled back by itself after some errors, such as a full disk.
    fn rollback(&mut self) -> Result<(), DriverError> {
        if self.connection().is_autocommit() { Ok(()) } else { self.execute_batch("rollback") }
    }

    fn execute_batch(&mut self, script: &str) -> Result<(), DriverError> {
        Ok(self.connection().execute_batch(script)?)
    }

    fn execute(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<u64, DriverError> {
        let mut statement = self.connection().prepare_cached(sql.text_for(Dialect::Sqlite))?;
        bind_params(&mut statement, params)?;
        Ok(statement.raw_execute()? as u64)
    }

    fn execute_each(
        &mut self,
        sql: Sql<'_>,
        rows: &[Vec<SqlParam<'_>>],
    ) -> Result<(), DriverError> {
        let mut statement = self.connection().prepare_cached(sql.text_for(Dialect::Sqlite))?;
        for params in rows {
            bind_params(&mut statement, params)?;
            statement.raw_execute()?;
        }
        Ok(())
    }

    fn send_statement(&mut self, sql: Sql<'_>, params: &[SqlParam<'_>]) -> Result<(), DriverError> {
        self.execute(sql, params).map(drop)
    }

    fn insert_rows(&mut self, sql: Sql<'_>, rows: &[Vec<SqlParam<'_>>]) -> Result<(), DriverError> {
        self.execute_each(sql, rows)
    }

    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
        each: &mut RowCallback<'_>,
    ) -> Result<(), DriverError> {
        let mut statement = self.connection().prepare_cached(sql.text_for(Dialect::Sqlite))?;
        bind_params(&mut statement, params)?;
        let columns = statement.column_count();
        let mut names = None;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| Ok(read_value(row.get_ref(column)?)));
            let values = values.collect::<Result<_, DriverError>>()?;
            let names = names.get_or_insert_with(|| ColumnNames::new(row.as_ref().column_names()));
            if each(SqlRow::new(names.clone(), values)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn send_query(
        &mut self,
        sql: Sql<'_>,
        params: &[SqlParam<'_>],
    ) -> Result<PendingRows, DriverError> {
        let mut rows = Vec::new();
        self.query_each(sql, params, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(PendingRows::Read(rows))
    }

    fn read_pending(&mut self, pending: PendingRows) -> Result<Vec<SqlRow>, DriverError> {
        match pending {
            PendingRows::Read(rows) => Ok(rows),
            PendingRows::Sent(_) => Err("the query was sent to another database".into()),
        }
    }
}

fn bind_params(
    statement: &mut CachedStatement<'_>,
    params: &[SqlParam<'_>],
) -> Result<(), DriverError> {
    for (index, param) in params.iter().enumerate() {
        debug_assert_eq!(
            statement.parameter_name(index + 1),
            Some(format!("${}", index + 1).as_str()),
            "parameters are first named in order"
        );
        statement.raw_bind_parameter(index + 1, param)?;
    }
    Ok(())
}

fn read_value(value: ValueRef<'_>) -> SqlValue {
    match value {
        ValueRef::Null => SqlValue::Null,
        ValueRef::Integer(value) => SqlValue::Int(value),
        ValueRef::Real(value) => SqlValue::Real(value),
        // invalid UTF-8 fails only where a text is read from it: the other rows stay readable
        ValueRef::Text(value) => match str::from_utf8(value) {
            Ok(text) => SqlValue::Text(text.to_owned()),
            Err(_) => SqlValue::Bytes(value.to_vec()),
        },
        ValueRef::Blob(value) => SqlValue::Bytes(value.to_vec()),
    }
}

impl ToSql for SqlParam<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(value) => ToSqlOutput::Borrowed(ValueRef::Integer(*value)),
            Self::Text(value) | Self::TextBytes(value) => {
                ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes()))
            }
            Self::Bytes(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
            Self::Ints(values) => json_list(values),
            Self::Texts(values) => json_list(values),
            Self::OwnedTexts(values) => json_list(values),
        })
    }
}

/// Encodes a list as JSON, which statements expand with `json_each`.
fn json_list(values: &impl serde::Serialize) -> ToSqlOutput<'static> {
    let text = serde_json::to_string(values).expect("a list of plain values is always JSON");
    ToSqlOutput::Owned(rusqlite::types::Value::Text(text))
}
