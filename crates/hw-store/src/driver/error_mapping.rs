//! Maps the errors of the database libraries to `StoreError`, grouped by what the caller can do about them.
//!
//! An error carries the database's reason, but never a statement, which means nothing to a user.

use std::error::Error as StdError;
use std::io;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use super::postgres::ResponseTimeout;
use crate::error::StoreError;

/// Maps the error that a step failed with.
pub(crate) fn map_error(
    step: &'static str,
    error: &(dyn StdError + Send + Sync + 'static),
) -> StoreError {
    if let Some(error) = error.downcast_ref::<rusqlite::Error>() {
        return map_sqlite_error(step, error);
    }
    if let Some(error) = error.downcast_ref::<tokio_postgres::Error>() {
        return map_postgres_error(step, error);
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return map_io_error(step, error);
    }
    let reason = error.to_string();
    if error.is::<ResponseTimeout>() {
        StoreError::Unreachable(reason)
    } else if error.is::<std::str::Utf8Error>() {
        StoreError::Damaged(reason)
    } else {
        StoreError::Database { step, reason }
    }
}

fn map_sqlite_error(step: &'static str, error: &rusqlite::Error) -> StoreError {
    use rusqlite::Error as Sqlite;
    let reason =
        if let Sqlite::SqlInputError { msg, .. } = error { msg.clone() } else { error.to_string() };
    if matches!(error, Sqlite::Utf8Error(..)) {
        return StoreError::Damaged(reason);
    }
    let Some(failure) = error.sqlite_error() else { return StoreError::Database { step, reason } };
    if is_write_failure(failure.extended_code) {
        return StoreError::DiskFull(reason);
    }
    #[expect(clippy::wildcard_enum_match_arm, reason = "SQLite's list of codes grows")]
    match failure.code {
        ErrorCode::NotADatabase => StoreError::NotADatabase,
        ErrorCode::DatabaseCorrupt => StoreError::Damaged(reason),
        ErrorCode::DiskFull => StoreError::DiskFull(reason),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
            StoreError::NotWritable(reason)
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::DatabaseLocked(reason),
        _ if failure.extended_code == ffi::SQLITE_IOERR_SHORT_READ => StoreError::Damaged(reason),
        _ => StoreError::Database { step, reason },
    }
}

/// Returns true if writing failed. SQLite reports a full disk only for one errno; a quota and a file size limit have
/// others.
fn is_write_failure(extended_code: i32) -> bool {
    matches!(
        extended_code,
        ffi::SQLITE_IOERR_WRITE
            | ffi::SQLITE_IOERR_FSYNC
            | ffi::SQLITE_IOERR_DIR_FSYNC
            | ffi::SQLITE_IOERR_TRUNCATE
            | ffi::SQLITE_IOERR_SHMSIZE
            | ffi::SQLITE_IOERR_SHMOPEN
    )
}

fn map_postgres_error(step: &'static str, error: &tokio_postgres::Error) -> StoreError {
    if let Some(reported) = error.as_db_error() {
        return map_sql_state(step, reported.code().code(), reported.message().to_owned());
    }
    let root = root_cause(error);
    let reason = plain_message(root);
    if error.is_closed() || root.is::<io::Error>() {
        return StoreError::Unreachable(reason);
    }
    // the library's error kinds are private, so only their texts identify them
    match error.to_string().as_str() {
        "timeout waiting for server" | "error connecting to server" => {
            StoreError::Unreachable(reason)
        }
        "authentication error" | "invalid configuration" | "error performing TLS handshake" => {
            StoreError::AccessDenied(reason)
        }
        _ => StoreError::Database { step, reason },
    }
}

/// Maps PostgreSQL's five-character error code, whose first two characters are a class.
fn map_sql_state(step: &'static str, state: &str, reason: String) -> StoreError {
    match state {
        "53100" => StoreError::DiskFull(reason),
        "55P03" => StoreError::DatabaseLocked(reason),
        "57014" => StoreError::StatementTimeout(reason),
        "25006" | "42501" => StoreError::NotWritable(reason),
        "3D000" => StoreError::AccessDenied(reason),
        "53300" => StoreError::Unreachable(reason),
        "XX001" | "XX002" => StoreError::Damaged(reason),
        _ if state.starts_with("57P") || state.starts_with("08") => StoreError::Unreachable(reason),
        _ if state.starts_with("28") => StoreError::AccessDenied(reason),
        _ => StoreError::Database { step, reason },
    }
}

/// Maps a failure to create the directory of a database file.
fn map_io_error(step: &'static str, error: &io::Error) -> StoreError {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let reason = plain_message(error);
    if matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge) {
        StoreError::DiskFull(reason)
    } else if step == "open" {
        StoreError::NotWritable(reason)
    } else {
        StoreError::Database { step, reason }
    }
}

fn root_cause<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut root = error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    root
}

/// Returns the message of an error without the operating system's error number.
fn plain_message(error: &(dyn StdError + 'static)) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_error_codes_map_to_store_errors() {
        assert!(matches!(map_code(ffi::SQLITE_NOTADB), StoreError::NotADatabase));
        assert!(matches!(map_code(ffi::SQLITE_CORRUPT), StoreError::Damaged(_)));
        assert!(matches!(map_code(ffi::SQLITE_IOERR_SHORT_READ), StoreError::Damaged(_)));
        assert!(matches!(map_code(ffi::SQLITE_FULL), StoreError::DiskFull(_)));
        assert!(matches!(map_code(ffi::SQLITE_IOERR_WRITE), StoreError::DiskFull(_)));
        assert!(matches!(map_code(ffi::SQLITE_READONLY_DIRECTORY), StoreError::NotWritable(_)));
        assert!(matches!(map_code(ffi::SQLITE_CANTOPEN), StoreError::NotWritable(_)));
        assert!(matches!(map_code(ffi::SQLITE_BUSY_SNAPSHOT), StoreError::DatabaseLocked(_)));
        assert!(matches!(
            map_code(ffi::SQLITE_IOERR_READ),
            StoreError::Database { step: "ingest", .. }
        ));
    }

    #[test]
    fn postgres_error_codes_map_to_store_errors() {
        assert!(matches!(map_state("28P01"), StoreError::AccessDenied(_)));
        assert!(matches!(map_state("28000"), StoreError::AccessDenied(_)));
        assert!(matches!(map_state("3D000"), StoreError::AccessDenied(_)));
        assert!(matches!(map_state("57P03"), StoreError::Unreachable(_)));
        assert!(matches!(map_state("53100"), StoreError::DiskFull(_)));
        assert!(matches!(map_state("55P03"), StoreError::DatabaseLocked(_)));
        assert!(matches!(map_state("57014"), StoreError::StatementTimeout(_)));
        assert!(matches!(map_state("25006"), StoreError::NotWritable(_)));
        assert!(matches!(map_state("XX001"), StoreError::Damaged(_)));
        assert!(matches!(map_state("XX000"), StoreError::Database { .. }));
        assert!(matches!(map_state("42601"), StoreError::Database { .. }));
    }

    #[test]
    fn error_message_never_contains_a_statement() {
        let memory = rusqlite::Connection::open_in_memory().unwrap();
        let error = memory.prepare("select secret from nowhere").unwrap_err();
        let message = map_error("threads", &error).to_string();
        assert_eq!(message, "database error (threads): no such table: nowhere");
    }

    #[test]
    fn full_disk_is_reported_before_there_is_a_database() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(matches!(map_error("open", &full), StoreError::DiskFull(_)));
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(matches!(map_error("open", &denied), StoreError::NotWritable(_)));
    }

    fn map_code(code: i32) -> StoreError {
        let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        map_error("ingest", &error)
    }

    fn map_state(state: &str) -> StoreError {
        map_sql_state("ingest", state, String::new())
    }
}
