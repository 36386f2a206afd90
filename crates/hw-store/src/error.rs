//! The errors of the store, grouped by what the caller can do about them.

use std::path::PathBuf;

use hw_rules::item::{CommentKind, ObjectKind, ThreadKind};
use hw_rules::item_names::ItemNames;
use hw_rules::lane::Lane;
use hw_rules::removal_brake::RemovalBrake;
use hw_rules::source_time::SourceInstant;

/// An error of a database library. Only `driver::error_mapping` looks inside it.
pub(crate) type DriverError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the lease {name:?} now belongs to another process; nothing was written")]
    LeaseLost { name: String },
    #[error("interrupted at {0:?}")]
    Interrupted(&'static str),
    #[error("{}", .items.append_to(&brake_message(*.kind, .brake)))]
    Brake { kind: ObjectKind, brake: RemovalBrake, items: ItemNames },
    #[error("cannot create or lock the lock file {}", .path.display())]
    LockFile { path: PathBuf, source: std::io::Error },
    #[error("{lane}: the watermark would move back from {from} to {}; only a reset may do that", format_watermark(.to.as_ref()))]
    WatermarkRegression { lane: Box<Lane>, from: SourceInstant, to: Option<SourceInstant> },
    #[error("there is no consumer {name:?}")]
    UnknownConsumer { name: String },
    #[error("{lane}: there is no complete sweep to finish")]
    NoCompleteSweep { lane: Box<Lane> },
    #[error(
        "this database was written by a newer highwater (schema {found}, this one supports {known})"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error(
        "this database was written by an older highwater; the next command that writes upgrades it"
    )]
    OlderSchema,
    /// The mirror is in an older format, and this command does not fetch.
    #[error(
        "this database was written by an older highwater; run `highwater pull` first, which fetches its content again"
    )]
    RefetchNeeded,
    #[error(
        "the search index of this database was built by a newer highwater (index {found}, this one supports {known})"
    )]
    NewerIndex { found: i64, known: i64 },
    #[error("migration {number} ({name}) differs from the one applied to this database")]
    ChangedMigration { number: i64, name: String },
    #[error("there is no database at {0}")]
    NoDatabase(String),
    #[error("invalid PostgreSQL schema name {name:?}: {why}")]
    InvalidSchemaName { name: String, why: &'static str },
    #[error(
        "the PostgreSQL schema {schema:?} also contains {other:?}, which highwater did not create"
    )]
    SharedSchema { schema: String, other: String },
    #[error("that file is not a highwater database")]
    NotADatabase,
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file itself is broken, and nothing stored elsewhere can repair it.
    #[error("the database file cannot be repaired in place: {0}")]
    BeyondRepair(String),
    /// One row is damaged; the others are readable.
    #[error("a stored row cannot be read: {0}")]
    UnreadableRow(String),
    /// No space, a quota, or a failing disk.
    #[error("disk full or not writable: {0}")]
    DiskFull(String),
    #[error("the database is not writable: {0}")]
    NotWritable(String),
    #[error("the database is locked by another process: {0}")]
    DatabaseLocked(String),
    /// The server canceled a statement that exceeded its time limit.
    #[error("a statement exceeded the time limit of the database server: {0}")]
    StatementTimeout(String),
    #[error("PostgreSQL is unreachable: {0}")]
    Unreachable(String),
    #[error("cannot log in to PostgreSQL: {0}")]
    AccessDenied(String),
    /// A statement and the reader of its rows disagree, which is a mistake of this program.
    #[error("internal error: no column {column:?} among {columns}")]
    UnknownColumn { column: String, columns: String },
    #[error("database error ({step}): {reason}")]
    Database { step: &'static str, reason: String },
}

impl StoreError {
    /// Returns true if a retry a moment later may well succeed without any action by the user.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::DatabaseLocked(_)
                | Self::StatementTimeout(_)
                | Self::Unreachable(_)
                | Self::Database { .. }
        )
    }

    /// Returns true if another process has the lease of a write, or has upgraded the database, which revokes all leases.
    pub fn is_lease_revoked(&self) -> bool {
        matches!(self, Self::LeaseLost { .. } | Self::NewerSchema { .. } | Self::NewerIndex { .. })
    }

    /// Returns true if the connection to the database server was lost, so the caller repeats its work on a new one.
    pub fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

fn brake_message(kind: ObjectKind, brake: &RemovalBrake) -> String {
    format!("{} of {} {} would be removed at once", brake.removals, brake.stored, plural_name(kind))
}

fn format_watermark(mark: Option<&SourceInstant>) -> String {
    mark.map_or_else(|| "nothing".to_owned(), SourceInstant::to_string)
}

fn plural_name(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Repository => "repositories",
        ObjectKind::Thread(ThreadKind::Discussion) => "discussions",
        ObjectKind::Thread(ThreadKind::Issue) => "issues",
        ObjectKind::Thread(ThreadKind::PullRequest) => "pull requests",
        ObjectKind::Comment(CommentKind::Conversation)
        | ObjectKind::Comment(CommentKind::ReviewComment)
        | ObjectKind::Comment(CommentKind::DiscussionComment) => "comments",
        ObjectKind::Comment(CommentKind::Review) => "reviews",
        ObjectKind::Post => "posts",
    }
}
