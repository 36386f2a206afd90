//! The errors of a pull, with their hints.

use hw_store::DatabaseLocation;
use hw_sync::{FailureKind, PullFailure, PullSummary, SyncError};

use crate::hints::{self, RETRY_HINT};
use crate::report::ErrorHint;

const PARTIAL_RETRY_HINT: &str =
    "run it again; everything read so far is saved, and `highwater doctor` shows details";
const NOT_FOUND_HINT: &str = "check the names and the token's access; everything else is saved";
const SKIPPED_HINT: &str =
    "these repositories are skipped on purpose; change --repo or the settings";

/// Describes a pull that ended early.
pub(super) fn pull_error(
    error: SyncError,
    title: &str,
    location: &DatabaseLocation,
) -> anyhow::Error {
    let hint = match &error {
        SyncError::Source { error, .. } => hints::source_hint(error),
        SyncError::Store(error) => hints::database_hint(error),
        // `Busy` cannot occur: a pull waits for others
        SyncError::Busy { .. }
        | SyncError::RejectedPage { .. }
        | SyncError::SweepStopped { .. }
        | SyncError::Unconfirmed { .. }
        | SyncError::RunBrake { .. }
        | SyncError::IncompleteRead { .. }
        | SyncError::Yielded
        | SyncError::ServiceRunning { .. }
        | SyncError::Crashed(_) => RETRY_HINT,
    };
    // without the lane: it is the list of a source, which the message names anyway
    let reason = error.reason();
    let cause = if let SyncError::Store(error) = error {
        anyhow::Error::new(error).context(format!("cannot use {}", location.display_name()))
    } else {
        anyhow::anyhow!(reason)
    };
    cause.context(cannot_pull_message(title)).context(ErrorHint(hint.to_owned()))
}

/// Describes a database that cannot be opened.
pub(super) fn open_error(error: anyhow::Error, title: &str) -> anyhow::Error {
    hints::add_database_hint(error.context(cannot_pull_message(title)))
}

/// Describes a pull in which some lists failed and the rest was read.
pub(super) fn partial_error(summary: &PullSummary) -> anyhow::Error {
    let are_all = |kind| summary.failures.iter().all(|failure| failure.kind == kind);
    let hint = if summary.failures.iter().any(PullFailure::is_brake) {
        "if this is intended, pass --allow-mass-removal"
    } else if are_all(FailureKind::NotFound) {
        NOT_FOUND_HINT
    } else if are_all(FailureKind::Skipped) {
        SKIPPED_HINT
    } else {
        PARTIAL_RETRY_HINT
    };
    let failures = match summary.failures.len() {
        1 => "1 failure is listed above".to_owned(),
        count => format!("{count} failures are listed above"),
    };
    let sources = summary.sources.join(", ");
    anyhow::anyhow!("the pull of {sources} is incomplete: {failures}")
        .context(ErrorHint(hint.to_owned()))
}

fn cannot_pull_message(title: &str) -> String {
    format!("cannot pull {title}")
}
