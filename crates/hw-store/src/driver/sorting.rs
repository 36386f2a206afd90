//! What the databases' own errors mean, sorted by what one can do about them.
//!
//! Only their reasons go on from here: never a statement, which nobody outside could make sense of.

use std::error::Error as StdError;
use std::io;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use super::postgres::Silent;
use crate::error::Error;

/// The error that a step ended with.
pub(crate) fn sorted(step: &'static str, error: &(dyn StdError + Send + Sync + 'static)) -> Error {
    if let Some(error) = error.downcast_ref::<rusqlite::Error>() {
        return of_sqlite(step, error);
    }
    if let Some(error) = error.downcast_ref::<tokio_postgres::Error>() {
        return of_postgres(step, error);
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return of_file(step, error);
    }
    let reason = error.to_string();
    if error.is::<Silent>() {
        Error::Unreachable(reason)
    } else if error.is::<std::str::Utf8Error>() {
        Error::Damaged(reason)
    } else {
        Error::Database { step, reason }
    }
}

fn of_sqlite(step: &'static str, error: &rusqlite::Error) -> Error {
    use rusqlite::Error as Sqlite;
    let reason =
        if let Sqlite::SqlInputError { msg, .. } = error { msg.clone() } else { error.to_string() };
    if matches!(error, Sqlite::Utf8Error(..)) {
        return Error::Damaged(reason);
    }
    let Some(failure) = error.sqlite_error() else { return Error::Database { step, reason } };
    if is_write(failure.extended_code) {
        return Error::Full(reason);
    }
    #[expect(clippy::wildcard_enum_match_arm, reason = "SQLite's list of codes grows")]
    match failure.code {
        ErrorCode::NotADatabase => Error::NotADatabase,
        ErrorCode::DatabaseCorrupt => Error::Damaged(reason),
        ErrorCode::DiskFull => Error::Full(reason),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
            Error::NotWritable(reason)
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::Locked(reason),
        _ if failure.extended_code == ffi::SQLITE_IOERR_SHORT_READ => Error::Damaged(reason),
        _ => Error::Database { step, reason },
    }
}

/// Whether writing failed. SQLite knows a full disk by one errno alone; a quota and a limit have others.
fn is_write(extended_code: i32) -> bool {
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

fn of_postgres(step: &'static str, error: &tokio_postgres::Error) -> Error {
    if let Some(told) = error.as_db_error() {
        return of_state(step, told.code().code(), told.message().to_owned());
    }
    let root = root(error);
    let reason = plain(root);
    let is_of_the_line = error.is_closed() || root.is::<io::Error>();
    // the library keeps its kinds to itself, but for these words
    match error.to_string().as_str() {
        _ if is_of_the_line => Error::Unreachable(reason),
        "timeout waiting for server" | "error connecting to server" => Error::Unreachable(reason),
        "authentication error" | "invalid configuration" | "error performing TLS handshake" => {
            Error::Refused(reason)
        }
        _ => Error::Database { step, reason },
    }
}

/// By PostgreSQL's five letters, of which the first two are a class.
fn of_state(step: &'static str, state: &str, reason: String) -> Error {
    match state {
        "53100" => Error::Full(reason),
        "55P03" => Error::Locked(reason),
        "57014" => Error::StatementTimeout(reason),
        "25006" | "42501" => Error::NotWritable(reason),
        "3D000" => Error::Refused(reason),
        "53300" => Error::Unreachable(reason),
        "XX001" | "XX002" => Error::Damaged(reason),
        _ if state.starts_with("57P") || state.starts_with("08") => Error::Unreachable(reason),
        _ if state.starts_with("28") => Error::Refused(reason),
        _ => Error::Database { step, reason },
    }
}

/// Making the folder of a database file failed.
fn of_file(step: &'static str, error: &io::Error) -> Error {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let reason = plain(error);
    if matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge) {
        Error::Full(reason)
    } else if step == "open" {
        Error::NotWritable(reason)
    } else {
        Error::Database { step, reason }
    }
}

fn root<'a>(error: &'a (dyn StdError + 'static)) -> &'a (dyn StdError + 'static) {
    let mut root = error;
    while let Some(cause) = root.source() {
        root = cause;
    }
    root
}

/// What an error says, without the number that the operating system gives it.
fn plain(error: &(dyn StdError + 'static)) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlites_codes_are_told_apart() {
        let told = |code: i32| {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            sorted("ingest", &error)
        };
        assert!(matches!(told(ffi::SQLITE_NOTADB), Error::NotADatabase));
        assert!(matches!(told(ffi::SQLITE_CORRUPT), Error::Damaged(_)));
        assert!(matches!(told(ffi::SQLITE_IOERR_SHORT_READ), Error::Damaged(_)));
        assert!(matches!(told(ffi::SQLITE_FULL), Error::Full(_)));
        assert!(matches!(told(ffi::SQLITE_IOERR_WRITE), Error::Full(_)));
        assert!(matches!(told(ffi::SQLITE_READONLY_DIRECTORY), Error::NotWritable(_)));
        assert!(matches!(told(ffi::SQLITE_CANTOPEN), Error::NotWritable(_)));
        assert!(matches!(told(ffi::SQLITE_BUSY_SNAPSHOT), Error::Locked(_)));
        assert!(matches!(told(ffi::SQLITE_IOERR_READ), Error::Database { step: "ingest", .. }));
    }

    #[test]
    fn postgres_states_are_told_apart() {
        let told = |state: &str| of_state("ingest", state, String::new());
        assert!(matches!(told("28P01"), Error::Refused(_)));
        assert!(matches!(told("28000"), Error::Refused(_)));
        assert!(matches!(told("3D000"), Error::Refused(_)));
        assert!(matches!(told("57P03"), Error::Unreachable(_)));
        assert!(matches!(told("53100"), Error::Full(_)));
        assert!(matches!(told("55P03"), Error::Locked(_)));
        assert!(matches!(told("57014"), Error::StatementTimeout(_)));
        assert!(matches!(told("25006"), Error::NotWritable(_)));
        assert!(matches!(told("XX001"), Error::Damaged(_)));
        assert!(matches!(told("XX000"), Error::Database { .. }));
        assert!(matches!(told("42601"), Error::Database { .. }));
    }

    #[test]
    fn no_statement_is_ever_shown() {
        let memory = rusqlite::Connection::open_in_memory().unwrap();
        let error = memory.prepare("select secret from nowhere").unwrap_err();
        let told = sorted("threads", &error).to_string();
        assert_eq!(told, "the database failed at \"threads\": no such table: nowhere");
    }

    #[test]
    fn a_full_disk_is_known_before_there_is_a_database() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(matches!(sorted("open", &full), Error::Full(_)));
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        assert!(matches!(sorted("open", &denied), Error::NotWritable(_)));
    }
}
