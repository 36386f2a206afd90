//! Suggests what to do about an error. The hint depends on the error's type, never on its text.

use hw_sources::error::SourceError;
use hw_store::{DatabaseLocation, StoreError};
use hw_sync::SyncError;

use crate::report::ErrorHint;

/// The hint for errors that only a retry can fix.
pub(crate) const RETRY_HINT: &str = "run it again; everything read so far is saved";

/// Returns the hint for a database error.
pub(crate) fn database_hint(error: &StoreError) -> &'static str {
    match error {
        StoreError::NoDatabase(_) => {
            "run `highwater pull -o NAME` or `highwater bluesky add HANDLE` to create one, or `highwater demo` to try \
             simulated data; `highwater workspaces` lists existing workspaces"
        }
        StoreError::NotADatabase => {
            "the file was not changed; --database selects another file, --home another directory"
        }
        StoreError::Damaged(_) => {
            "move it aside and pull again: GitHub still has the data; a failing disk may be the cause"
        }
        StoreError::UnreadableRow(_) => {
            "`highwater doctor --deep` lists damaged items, `highwater pull --repair` downloads them again"
        }
        StoreError::BeyondRepair(_) => {
            "restore a backup, or move the file aside and pull again: GitHub still has the data"
        }
        StoreError::DiskFull(_) => {
            "free some disk space or raise the quota, then run it again; everything read so far is saved"
        }
        StoreError::NotWritable(_) | StoreError::LockFile { .. } => {
            "check that you can write to it and to its directory; --database selects another file, --home another directory"
        }
        StoreError::DatabaseLocked(_) => "stop the process that has it open, then run it again",
        StoreError::StatementTimeout(_) => {
            "run it again when the server is less busy; everything read so far is saved"
        }
        StoreError::Unreachable(_) => {
            "check that the server is running and that its address in --database is right"
        }
        StoreError::AccessDenied(_) => "check the user, password and database in --database",
        StoreError::NewerSchema { .. } | StoreError::NewerIndex { .. } => {
            "install the newer highwater, or select another database with --database or --home"
        }
        StoreError::OlderSchema | StoreError::RefetchNeeded => "`highwater pull` upgrades it",
        StoreError::ChangedMigration { .. } => {
            "use the highwater that created it, or another database (--database, --home)"
        }
        StoreError::InvalidSchemaName { .. } => "choose another --workspace",
        StoreError::SharedSchema { .. } => "nothing was removed; drop highwater's tables with psql",
        StoreError::LeaseLost { .. } => "another pull has taken over; wait for it to finish",
        StoreError::UnknownConsumer { .. } => "`highwater events consumers` lists the consumers",
        StoreError::UnknownColumn { .. } => "this is a bug in highwater: please report it",
        StoreError::Interrupted(_)
        | StoreError::Brake { .. }
        | StoreError::WatermarkRegression { .. }
        | StoreError::NoCompleteSweep { .. }
        | StoreError::Database { .. } => {
            "run `highwater doctor store --deep` to check the database; everything read so far is saved"
        }
    }
}

/// Returns the hint for a database error if the settings select the database by its file or URL.
pub(crate) fn selected_database_hint(
    error: &StoreError,
    location: &DatabaseLocation,
) -> &'static str {
    match (error, location) {
        (StoreError::NoDatabase(_), DatabaseLocation::File(_)) => {
            "check the path, or create it with `highwater pull -o NAME --database FILE`"
        }
        (StoreError::NoDatabase(_), DatabaseLocation::Postgres { .. }) => {
            "run `highwater pull -o NAME --database URL` to create it; `highwater workspaces --database URL` lists \
             existing workspaces"
        }
        (error, _) => database_hint(error),
    }
}

/// Returns the hint for an error of the source.
pub(crate) fn source_hint(error: &SourceError) -> &'static str {
    match error {
        error if error.needs_sso_authorization() => {
            "authorize the token for the organization's single sign-on: github.com/settings/tokens, \
             \"Configure SSO\""
        }
        SourceError::TokenRejected(_) | SourceError::Forbidden(_) => {
            "check that GITHUB_TOKEN is valid and has read access; `highwater doctor github` shows details"
        }
        SourceError::Hidden(_) => "check the spelling, and that the token can read it",
        SourceError::AccountUnavailable(_) => "check the spelling of the account",
        SourceError::SessionExpired(_) => RETRY_HINT,
        SourceError::Network(_) | SourceError::Unreachable(_) => {
            "check the network and the URL (--api-url, github.proxy)"
        }
        SourceError::TlsFailed(_) => {
            "check the URL (--api-url); if the host uses a private certificate authority, set SSL_CERT_FILE to a PEM file \
             with the certificates to trust"
        }
        SourceError::RateLimited(_)
        | SourceError::TooExpensive(_)
        | SourceError::Server(_)
        | SourceError::InvalidResponse(_)
        | SourceError::InvalidCursor(_) => RETRY_HINT,
        SourceError::InvalidRequest(_) => {
            "check the URL (--api-url, --graphql-url); if it is right, this is a bug in highwater"
        }
    }
}

/// Returns the hint for an error of Bluesky.
pub(crate) fn bluesky_hint(error: &SourceError) -> &'static str {
    match error {
        SourceError::TokenRejected(_) | SourceError::Forbidden(_) => {
            "check BLUESKY_HANDLE and BLUESKY_APP_PASSWORD; app passwords are in the account's settings, \
             \"Privacy and security\""
        }
        SourceError::Network(_) | SourceError::Unreachable(_) => {
            "check the network and the URL (--bluesky-url, github.proxy)"
        }
        SourceError::TlsFailed(_) | SourceError::InvalidRequest(_) | SourceError::Hidden(_) => {
            "check the URL (--bluesky-url, BLUESKY_URL)"
        }
        SourceError::AccountUnavailable(_) => "check the spelling of the account",
        SourceError::SessionExpired(_)
        | SourceError::RateLimited(_)
        | SourceError::TooExpensive(_)
        | SourceError::Server(_)
        | SourceError::InvalidResponse(_)
        | SourceError::InvalidCursor(_) => RETRY_HINT,
    }
}

/// Returns why something failed at Bluesky. There are no tokens in its errors: a refused login says so itself.
pub(crate) fn bluesky_reason(error: &SyncError) -> String {
    if let SyncError::Source {
        error: SourceError::TokenRejected(reason) | SourceError::Forbidden(reason),
        ..
    } = error
    {
        return reason.clone();
    }
    error.reason()
}

/// Returns an error about a file or directory that cannot be written or created, with a hint.
pub(crate) fn add_write_hint(error: std::io::Error, message: String) -> anyhow::Error {
    let hint = "check that its directory exists and that you can write to it";
    anyhow::Error::new(error).context(message).context(ErrorHint(hint.to_owned()))
}

/// Adds a hint to a database error that has none yet.
pub(crate) fn add_database_hint(error: anyhow::Error) -> anyhow::Error {
    if error.downcast_ref::<ErrorHint>().is_some() {
        return error;
    }
    match find_store_error(&error).map(database_hint) {
        Some(hint) => error.context(ErrorHint(hint.to_owned())),
        None => error,
    }
}

/// Returns the store's error among the causes, if there is one.
pub(crate) fn find_store_error(error: &anyhow::Error) -> Option<&StoreError> {
    error.chain().find_map(|cause| cause.downcast_ref())
}
