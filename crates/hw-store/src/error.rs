//! What can go wrong with the store, sorted by what one can do about it.

use std::path::PathBuf;

use hw_rules::item::Kind;
use hw_rules::item_names::ItemNames;
use hw_rules::lane::Lane;
use hw_rules::reconcile::Brake;
use hw_rules::time::Mark;

/// What a driver reports; its library stays behind the seam.
pub(crate) type DriverError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the lease {name:?} was lost to another owner; nothing was written")]
    LeaseLost { name: String },
    #[error("interrupted at {0:?}")]
    Interrupted(&'static str),
    #[error("{}", .items.append_to(&braked(*.kind, .brake)))]
    Brake { kind: Kind, brake: Brake, items: ItemNames },
    #[error("the lock file {} cannot be made or locked; is its folder there for writing?", .path.display())]
    Lock { path: PathBuf, source: std::io::Error },
    #[error("{lane}: the watermark would move back from {from} to {}; only a reset may do that", shown(.to.as_ref()))]
    WatermarkBack { lane: Box<Lane>, from: Mark, to: Option<Mark> },
    #[error("{lane}: no complete sweep is there to finish")]
    NoSweep { lane: Box<Lane> },
    #[error(
        "this database was written by a newer highwater (schema {found}, this one knows {known})"
    )]
    NewerSchema { found: i64, known: i64 },
    #[error(
        "this database was written by an older highwater; a command that writes brings it up to date"
    )]
    OlderSchema,
    #[error("migration {number} ({name}) is not the one this database was made with")]
    ChangedMigration { number: i64, name: String },
    #[error("there is no database at {0}")]
    NoDatabase(String),
    #[error("a PostgreSQL schema cannot be named {name:?}: {why}")]
    SchemaName { name: String, why: &'static str },
    #[error("the PostgreSQL schema {schema:?} also holds {other:?}, which highwater did not make")]
    SharedSchema { schema: String, other: String },
    #[error("the store was opened for reading only")]
    ReadOnly,
    #[error("that file is no database")]
    NotADatabase,
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file itself is broken, and nothing that is stored elsewhere can mend it.
    #[error("the database file cannot be repaired in place: {0}")]
    BeyondRepair(String),
    /// One row is not what was written; the others can be read.
    #[error("a stored row cannot be read: {0}")]
    UnreadableRow(String),
    /// No space, a quota, or a disk that fails.
    #[error("the disk takes no more: {0}")]
    Full(String),
    #[error("the database may not be written to: {0}")]
    NotWritable(String),
    #[error("somebody else is writing to the database, and does not end: {0}")]
    Locked(String),
    /// The server ended a statement that took longer than its limit.
    #[error("a statement took longer than the database server allows: {0}")]
    StatementTimeout(String),
    #[error("PostgreSQL does not answer: {0}")]
    Unreachable(String),
    #[error("PostgreSQL does not let us in: {0}")]
    Refused(String),
    #[error("the database failed at {step:?}: {reason}")]
    Database { step: &'static str, reason: String },
}

impl Error {
    /// Whether the same may well succeed a moment later, with nobody doing anything about it.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Locked(_)
                | Self::StatementTimeout(_)
                | Self::Unreachable(_)
                | Self::Database { .. }
        )
    }

    /// Whether the connection to the database server was lost: what was under way is repeated on a new one.
    pub fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Unreachable(_))
    }
}

fn braked(kind: Kind, brake: &Brake) -> String {
    format!("{} of {} {} would be removed at once", brake.removals, brake.held, plural(kind))
}

fn shown(mark: Option<&Mark>) -> String {
    mark.map_or_else(|| "nothing".to_owned(), Mark::to_string)
}

fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Repository => "repositories",
        Kind::Discussion => "discussions",
        Kind::Issue => "issues",
        Kind::PullRequest => "pull requests",
        Kind::IssueComment | Kind::ReviewComment | Kind::DiscussionComment => "comments",
        Kind::Review => "reviews",
    }
}
