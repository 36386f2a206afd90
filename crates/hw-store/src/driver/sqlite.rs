//! SQLite: one writing connection behind a lock, and read-only ones for views.
//!
//! Calls run on the caller's thread. Other processes may write the same file: a write transaction is
//! `begin immediate`, waits for its turn, and is short.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, ErrorCode, ToSql};

use super::permits::{Permit, Permits};
use super::{Driver, EachRow, PATIENCE, READERS, Session};
use crate::error::DriverError;
use crate::sql::{Dialect, Param, Row, Sql, Value};

mod read_only;

use read_only::Opened;

const BUSY: Duration = Duration::from_secs(10);
const IDLE_READERS: usize = 4;
/// The cache of a writer and of a reader, in KiB.
const WRITER_CACHE: i64 = 32 * 1024;
/// How many statements a connection keeps ready.
const STATEMENTS: usize = 128;
const READER_CACHE: i64 = 32 * 1024;

pub(crate) struct Sqlite {
    /// None in a database in memory: its one connection does everything.
    path: Option<PathBuf>,
    /// Closed before the writer: the last connection to close moves the log into the file, and a
    /// read-only one cannot.
    readers: Mutex<Vec<Opened>>,
    reading: Permits,
    /// None when opened for reading only.
    writer: Option<Mutex<Connection>>,
}

impl Sqlite {
    pub(crate) fn memory() -> Result<Self, DriverError> {
        let connection = Connection::open_in_memory()?;
        set_up_writer(&connection)?;
        Ok(Self::over(None, Some(connection), vec![]))
    }

    pub(crate) fn create(path: &Path) -> Result<Self, DriverError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        use_wal(&connection)?;
        set_up_writer(&connection)?;
        Ok(Self::over(Some(path), Some(connection), vec![]))
    }

    pub(crate) fn existing(path: &Path) -> Result<Self, DriverError> {
        Ok(Self::over(Some(path), None, vec![open_reader(path)?]))
    }

    fn over(path: Option<&Path>, writer: Option<Connection>, readers: Vec<Opened>) -> Self {
        Self {
            path: path.map(Path::to_owned),
            readers: Mutex::new(readers),
            reading: Permits::new(READERS, PATIENCE),
            writer: writer.map(Mutex::new),
        }
    }
}

/// Switches to write-ahead logging, which needs the file for itself for a moment.
///
/// Two processes that create one file at once do not wait for each other there, so the one that is
/// refused waits for a write transaction, in which SQLite does, and asks again.
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
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

/// Copies a database into an empty file: one read transaction, so writers go on and the copy is of one moment.
pub(crate) fn copy(source: &Path, target: &Path) -> Result<(), DriverError> {
    let connection = read_only::open(source)?.connection;
    connection.busy_timeout(BUSY)?;
    let target = target.to_str().ok_or("the name of the copy is no text")?;
    connection.execute("vacuum into ?1", [target])?;
    Ok(())
}

fn open_reader(path: &Path) -> Result<Opened, rusqlite::Error> {
    let opened = read_only::open(path)?;
    let connection = &opened.connection;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(opened)
}

impl Driver for Sqlite {
    fn writer(&self) -> Result<Box<dyn Session + '_>, DriverError> {
        let writer = self.writer.as_ref().ok_or("opened for reading only")?;
        Ok(Box::new(Writer(writer.lock().unwrap_or_else(PoisonError::into_inner))))
    }

    fn reader(&self) -> Result<Box<dyn Session + '_>, DriverError> {
        let Some(path) = &self.path else { return self.writer() };
        let permit = self.reading.take()?;
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let opened = match idle.filter(|opened| opened.is_current(path)) {
            Some(opened) => opened,
            None => open_reader(path)?,
        };
        Ok(Box::new(Reader { home: &self.readers, opened: Some(opened), _permit: permit }))
    }

    fn drop_idle_readers(&self) {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

struct Writer<'a>(MutexGuard<'a, Connection>);

/// A reading connection, on loan.
struct Reader<'a> {
    home: &'a Mutex<Vec<Opened>>,
    opened: Option<Opened>,
    _permit: Permit<'a>,
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        let mut idle = self.home.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = self.opened.take()
            && opened.connection.is_autocommit()
            && idle.len() < IDLE_READERS
        {
            idle.push(opened);
        }
    }
}

/// Where the connection is; everything else about a session follows from it.
trait HasConnection {
    fn connection(&self) -> &Connection;
}

impl HasConnection for Writer<'_> {
    fn connection(&self) -> &Connection {
        &self.0
    }
}

impl HasConnection for Reader<'_> {
    fn connection(&self) -> &Connection {
        let opened = self.opened.as_ref();
        &opened.expect("a reader keeps its connection until it is dropped").connection
    }
}

impl<C: HasConnection> Session for C {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn begin_write(&mut self) -> Result<(), DriverError> {
        self.batch("begin immediate")
    }

    fn begin_read(&mut self) -> Result<(), DriverError> {
        self.batch("begin")
    }

    fn lift_time_limit(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn commit(&mut self) -> Result<(), DriverError> {
        self.batch("commit")
    }

    /// After some errors, those of a full disk among them, SQLite has rolled back by itself.
    fn rollback(&mut self) -> Result<(), DriverError> {
        if self.connection().is_autocommit() { Ok(()) } else { self.batch("rollback") }
    }

    fn batch(&mut self, script: &str) -> Result<(), DriverError> {
        Ok(self.connection().execute_batch(script)?)
    }

    fn execute(&mut self, sql: Sql<'_>, params: &[Param<'_>]) -> Result<u64, DriverError> {
        let mut statement = self.connection().prepare_cached(sql.text(Dialect::Sqlite))?;
        bind(&mut statement, params)?;
        Ok(statement.raw_execute()? as u64)
    }

    fn execute_each(&mut self, sql: Sql<'_>, rows: &[Vec<Param<'_>>]) -> Result<(), DriverError> {
        let mut statement = self.connection().prepare_cached(sql.text(Dialect::Sqlite))?;
        for params in rows {
            bind(&mut statement, params)?;
            statement.raw_execute()?;
        }
        Ok(())
    }

    fn query_each(
        &mut self,
        sql: Sql<'_>,
        params: &[Param<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<(), DriverError> {
        let mut statement = self.connection().prepare_cached(sql.text(Dialect::Sqlite))?;
        bind(&mut statement, params)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let values = (0..columns).map(|column| Ok(read(row.get_ref(column)?)));
            if each(Row(values.collect::<Result<_, DriverError>>()?)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn bind(statement: &mut CachedStatement<'_>, params: &[Param<'_>]) -> Result<(), DriverError> {
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

fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Real(value) => Value::Real(value),
        // what is no text is left to whoever wants one: the other rows can be read
        ValueRef::Text(value) => match str::from_utf8(value) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Bytes(value.to_vec()),
        },
        ValueRef::Blob(value) => Value::Bytes(value.to_vec()),
    }
}

impl ToSql for Param<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = |text: Result<String, serde_json::Error>| {
            let text = text.expect("a list of plain values is always JSON");
            ToSqlOutput::Owned(rusqlite::types::Value::Text(text))
        };
        Ok(match self {
            Self::Null => ToSqlOutput::Borrowed(ValueRef::Null),
            Self::Int(value) => ToSqlOutput::Borrowed(ValueRef::Integer(*value)),
            Self::Real(value) => ToSqlOutput::Borrowed(ValueRef::Real(*value)),
            Self::Text(value) => ToSqlOutput::Borrowed(ValueRef::Text(value.as_bytes())),
            Self::Bytes(value) => ToSqlOutput::Borrowed(ValueRef::Blob(value)),
            Self::Ints(values) => json(serde_json::to_string(values)),
            Self::Texts(values) => json(serde_json::to_string(values)),
            Self::Names(values) => json(serde_json::to_string(values)),
        })
    }
}
