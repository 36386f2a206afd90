//! Opens read-only connections, even in a directory that is not writable.
//!
//! A reader of a database in write-ahead mode shares a small file with the other connections, and creates it if it is
//! missing. That fails in a read-only directory. As long as there is no write-ahead log, the database file is complete
//! by itself, and is opened as immutable.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, ErrorCode, OpenFlags};

const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A connection for reading.
pub(super) struct ReadConnection {
    pub(super) connection: Connection,
    /// The file's state when it was opened as immutable; none for a connection that notices changes.
    state_when_opened: Option<FileState>,
}

#[derive(PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
}

impl ReadConnection {
    /// Returns true if the connection still sees the file's current content.
    pub(super) fn is_current(&self, path: &Path) -> bool {
        let Some(unchanged) = &self.state_when_opened else { return true };
        !has_wal(path) && file_state(path).as_ref() == Some(unchanged)
    }
}

/// Opens a database for reading, even if its directory is not writable.
pub(super) fn open_read_only(path: &Path) -> Result<ReadConnection, rusqlite::Error> {
    let refused = match open_shared(path) {
        Ok(connection) => return Ok(ReadConnection { connection, state_when_opened: None }),
        Err(error) => error,
    };
    let is_read_only = matches!(
        refused.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    );
    let Some(unchanged) = file_state(path).filter(|_| is_read_only && !has_wal(path)) else {
        return Err(refused);
    };
    let connection = Connection::open_with_flags(
        format!("file:{}?immutable=1", escape_uri_path(path)),
        READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )?;
    check_readable(&connection)?;
    Ok(ReadConnection { connection, state_when_opened: Some(unchanged) })
}

fn open_shared(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(path, READ_ONLY)?;
    check_readable(&connection)?;
    Ok(connection)
}

/// Runs a query: SQLite reports an unusable file at the first query, not when it opens the file.
fn check_readable(connection: &Connection) -> Result<(), rusqlite::Error> {
    match connection.query_row("select count(*) from sqlite_master", [], |_| Ok(())) {
        // a busy or damaged database fails later, in the query that needs it
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => Err(error),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => Err(error),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::PermissionDenied) => Err(error),
        _ => Ok(()),
    }
}

/// Returns true if a part of the database is in its write-ahead log.
fn has_wal(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(PathBuf::from(log)).is_ok_and(|log| log.len() > 0)
}

fn file_state(path: &Path) -> Option<FileState> {
    let file = std::fs::metadata(path).ok()?;
    Some(FileState { length: file.len(), modified: file.modified().ok() })
}

/// Percent-encodes a path for a URI.
fn escape_uri_path(path: &Path) -> String {
    let mut escaped = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => escaped.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => escaped.push(char::from(*byte)),
            byte => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
