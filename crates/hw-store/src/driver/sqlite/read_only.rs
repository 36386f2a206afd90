//! Connections that only read, also where nothing can be written.
//!
//! A reader of a database in write-ahead mode shares a small file with the others, and makes it when it is missing. In a
//! folder that may not be written to that fails. As long as there is no write-ahead log, the file alone is the database,
//! and it is opened as one that nobody changes.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, ErrorCode, OpenFlags};

const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// A connection for reading.
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// What the file was when it was opened as one that nobody changes; none where changes are noticed.
    unchanged: Option<FileState>,
}

#[derive(PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
}

impl Opened {
    /// Whether the connection still sees what is in the file.
    pub(super) fn is_current(&self, path: &Path) -> bool {
        let Some(unchanged) = &self.unchanged else { return true };
        !has_log(path) && state(path).as_ref() == Some(unchanged)
    }
}

/// Opens a database for reading, whether or not its folder may be written to.
pub(super) fn open(path: &Path) -> Result<Opened, rusqlite::Error> {
    let refused = match open_shared(path) {
        Ok(connection) => return Ok(Opened { connection, unchanged: None }),
        Err(error) => error,
    };
    let is_read_only = matches!(
        refused.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied)
    );
    let Some(unchanged) = state(path).filter(|_| is_read_only && !has_log(path)) else {
        return Err(refused);
    };
    let connection = Connection::open_with_flags(
        format!("file:{}?immutable=1", escaped(path)),
        READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    )?;
    look(&connection)?;
    Ok(Opened { connection, unchanged: Some(unchanged) })
}

fn open_shared(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = Connection::open_with_flags(path, READ_ONLY)?;
    look(&connection)?;
    Ok(connection)
}

/// The first look at a database is what fails, and not its opening.
fn look(connection: &Connection) -> Result<(), rusqlite::Error> {
    match connection.query_row("select count(*) from sqlite_master", [], |_| Ok(())) {
        // what is busy or broken is reported by whoever wants something of it
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) => Err(error),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ReadOnly) => Err(error),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::PermissionDenied) => Err(error),
        _ => Ok(()),
    }
}

/// Whether some of the database is in its write-ahead log.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(PathBuf::from(log)).is_ok_and(|log| log.len() > 0)
}

fn state(path: &Path) -> Option<FileState> {
    let file = std::fs::metadata(path).ok()?;
    Some(FileState { length: file.len(), modified: file.modified().ok() })
}

/// A path as a part of a URI.
fn escaped(path: &Path) -> String {
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
