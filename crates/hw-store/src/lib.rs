//! Stores the mirror and its progress in SQLite or PostgreSQL. It never contacts a source and never reads a
//! clock.
//!
//! Data and progress commit together: a page's texts, search rows, versions and the lane's coverage are written in
//! one transaction, and the comparison with the stored versions happens inside it. At most one write transaction is
//! open per workspace, in either database, so the pure rules of `hw_rules` decide on a state that cannot change
//! under them.
//!
//! Three handles share one open database: a [`StoreReader`] answers, a [`StoreWriter`] also stores what needs no lease,
//! and a [`LeasedStore`] also stores what was fetched. A frontend has no lease, so it cannot write fetched data.
//!
//! The store is synchronous. SQLite works on the caller's thread anyway, a write takes a few milliseconds, and a test
//! that repeats the same calls in the same order gets the same results. The PostgreSQL driver has a small runtime of
//! its own for its sockets. Callers on an async runtime wrap their calls in `block_in_place`.

use std::fmt;
use std::path::PathBuf;

mod account_names;
mod accounts;
mod backup;
mod cells;
mod changes;
mod chores;
mod closing_references;
mod comment_queue;
mod consumers;
mod decision_writer;
mod discovery_pages;
mod driver;
mod duties;
mod engine;
mod error;
mod events;
mod follows;
mod id_conflicts;
mod ingest;
mod integrity;
mod lanes;
mod late_threads;
mod leased_store;
mod leases;
mod locks;
mod migrations;
mod mirror;
mod pauses;
mod poll_rounds;
mod quarantine;
mod removal_tally;
mod removals;
mod removed_items;
mod repair;
mod request_reservations;
mod schema_version;
mod search;
mod source_clocks;
mod sources;
mod sql;
mod store_reader;
mod store_writer;
mod sweeps;
mod tables;
mod transaction;
mod verification;
mod views;
mod watches;
mod workers;
mod workspace;
mod workspace_handle;
mod workspace_removal;

pub use account_names::AccountName;
pub use accounts::{AccountRow, CheckedAccount, FeedProgress, FinishedFeed, SuspectPost};
pub use changes::{ItemChange, ItemChangeKind};
pub use chores::ChoreChunk;
pub use closing_references::{OpenPullRequest, ReadReferences, ReferencesSelection};
pub use comment_queue::DueThread;
pub use consumers::acknowledgement::{
    AckOutcome, DeliveryRef, Execution, ExecutionOutcome, RejectOutcome, Rejection,
};
pub use consumers::event_deliveries::EventDelivery;
pub use consumers::leasing::{ConsumerRead, DeliveredEvent};
pub use consumers::{ConsumerRow, ConsumerStart, DeadLetter, ExecutionRow, NewConsumer};
pub use decision_writer::DecisionWriter;
pub use driver::DatabaseTimeouts;
pub use driver::postgres::{check_postgres_url, list_schemas};
pub use duties::{ClaimReason, ClaimTask, DutyClaim, DutyEnd, DutyHolder, DutyTask, ScheduledDuty};
pub use engine::{
    Hit, HitOrder, MatchCount, MatchedComment, RankedMatches, SearchEngine, SearchRequest,
    SearchResults,
};
pub use error::StoreError;
pub use events::stored_items::DERIVE_ROWS;
pub use events::{Event, EventFilter, EventRow};
pub use ingest::{Etag, IngestCounts, IngestPage, PagePreparer, PreparedPage, ThreadScanStep};
pub use integrity::{IntegrityCheck, IntegrityReport};
pub use lanes::{LaneRow, TurnFailure};
pub use leased_store::LeasedStore;
pub use leases::Lease;
pub use migrations::SCHEMA_GUID;
pub use pauses::{NewPause, PauseRow, PendingPause};
pub use poll_rounds::PollRound;
pub use quarantine::{QuarantinedItem, UnreadableItem};
pub use removal_tally::ItemTally;
pub use removed_items::{RETENTION_MS, RemovalReason, RemovedItem, RemovedQuery, RestoreResult};
pub use request_reservations::{RequestReservation, ReserveOutcome};
pub use sources::{RepositoryList, StoredSource};
pub use store_reader::StoreReader;
pub use store_writer::{ChangeObserver, StoreWriter};
pub use sweeps::{RemovalResult, StageOutcome, SweepFindings, SweepPage, SweepState};
pub use verification::{DamagedItem, VerifiedPage, VerifyCursor};
pub use views::comment_list::{CommentFilter, CommentRow};
pub use views::completeness::Completeness;
pub use views::counts::ObjectCounts;
pub use views::cursor::{CommentCursor, InvalidListCursor, ThreadCursor};
pub use views::health::BusyWorker;
pub use views::lane_names::LaneNames;
pub use views::post_list::{PostCursor, PostFilter, PostRow, RepostSelection};
pub use views::post_pages::ReplySelection;
pub use views::pulls::{FailedPull, LastPull};
pub use views::services::ServiceRow;
pub use views::skipped_rows::{ReadableRows, SkippedRows};
pub use views::thread_comments::StoredComment;
pub use views::thread_list::{ThreadFilter, ThreadRow, ThreadTotals};
pub use views::thread_outline::{CommentExcerpt, CommentOutline, ThreadOutline};
pub use views::thread_view::ThreadView;
pub use views::trending::TrendingLink;
pub use watches::moved_threads::{MovedThreadRow, MovedThreadStep};
pub use watches::resolution::{ResolvedThread, WatchResolution};
pub use watches::watched_threads::WatchedThread;
pub use watches::{AddedWatch, NewWatch};
pub use workers::{DeadWorker, SERVICE_ROLE, WorkerHandle, WorkerIdentity, WorkerRow};
pub use workspace::Workspace;
pub use workspace_handle::{OpenWorkspaceError, WorkspaceHandle};
pub use workspace_removal::{RemoveCondition, WorkspaceRemoval, remove_database_file};

use locks::DatabaseLocks;

/// The location of a workspace's database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseLocation {
    /// A database that exists as long as its store.
    Memory,
    File(PathBuf),
    /// A schema of its own in a PostgreSQL database.
    Postgres {
        url: String,
        schema: String,
    },
}

/// PostgreSQL truncates longer names, so two workspaces could end up in one schema.
const MAX_SCHEMA_NAME_BYTES: usize = 63;

/// Omits the URL, which may contain a password.
impl fmt::Debug for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("Memory"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Postgres { schema, .. } => {
                f.debug_struct("Postgres").field("schema", schema).finish_non_exhaustive()
            }
        }
    }
}

impl DatabaseLocation {
    /// Rejects a schema name that PostgreSQL would truncate or reserves for itself.
    fn check_schema_name(&self) -> Result<(), StoreError> {
        let Self::Postgres { schema, .. } = self else { return Ok(()) };
        let why = match schema.as_str() {
            "" => "it is empty",
            name if name.len() > MAX_SCHEMA_NAME_BYTES => "it is longer than 63 bytes",
            name if name.starts_with("pg_") => "names starting with pg_ are reserved by PostgreSQL",
            name if name.contains('\0') => "it contains U+0000",
            _ => return Ok(()),
        };
        Err(StoreError::InvalidSchemaName { name: schema.clone(), why })
    }

    fn database_locks(&self) -> DatabaseLocks {
        match self {
            Self::File(path) => DatabaseLocks::beside_file(path),
            Self::Memory | Self::Postgres { .. } => DatabaseLocks::none(),
        }
    }

    fn no_database(&self) -> StoreError {
        StoreError::NoDatabase(self.display_name())
    }

    /// Formats the location for people, without the database password.
    pub fn display_name(&self) -> String {
        match self {
            Self::Memory => "memory".to_owned(),
            Self::File(path) => path.display().to_string(),
            Self::Postgres { schema, .. } => format!("the PostgreSQL schema {schema:?}"),
        }
    }
}
