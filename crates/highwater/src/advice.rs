//! What a person can do about an error, by what the error is, never by its text.

use hw_sources::trouble::Trouble;
use hw_store::Error;

use crate::report::Hint;

/// When asking again is all there is to do.
pub(crate) const AGAIN: &str = "run it again: what was read is kept";

/// What to do about a database that fails.
pub(crate) fn on_database(error: &Error) -> &'static str {
    match error {
        Error::NoDatabase(_) => {
            "`highwater pull -o NAME` makes one, and `highwater demo --once` one to look at"
        }
        Error::NotADatabase => {
            "it was left as it is; --database names another one, and --home another folder"
        }
        Error::Damaged(_) => {
            "move it away and pull again: GitHub still has what was in it; a dying disk may be the reason"
        }
        Error::UnreadableRow(_) => {
            "`highwater doctor --deep` names what is damaged, and `highwater pull --repair` reads it again"
        }
        Error::BeyondRepair(_) => {
            "restore a backup, or move the file away and pull again: GitHub still has what was in it"
        }
        Error::Full(_) => {
            "make room on its disk, or raise the limit, and run it again: what was read is kept"
        }
        Error::NotWritable(_) | Error::Lock { .. } => {
            "may you write to it, and to its folder? --database names another one, and --home another folder"
        }
        Error::Locked(_) => "find out who has it open and end that, then run it again",
        Error::StatementTimeout(_) => {
            "run it again when the server is less busy: what was read is kept"
        }
        Error::Unreachable(_) => "is the server running, and its address in --database right?",
        Error::Refused(_) => "are user, password and database right in --database?",
        Error::NewerSchema { .. } => {
            "install the newer highwater; until then --database or --home name another database"
        }
        Error::OlderSchema => "`highwater pull` brings it up to date",
        Error::ChangedMigration { .. } => {
            "use the highwater that made it, or another database: --database, --home"
        }
        Error::SchemaName { .. } => "choose another --workspace",
        Error::SharedSchema { .. } => "nothing was removed; drop highwater's tables with psql",
        Error::LeaseLost { .. } => "another pull has taken over: wait until it is done",
        Error::Interrupted(_)
        | Error::Brake { .. }
        | Error::WatermarkBack { .. }
        | Error::NoSweep { .. }
        | Error::ReadOnly
        | Error::Database { .. } => {
            "the database is the trouble, not GitHub; what was read is kept"
        }
    }
}

/// What to do about a source that does not give what it was asked for.
pub(crate) fn on_source(trouble: &Trouble) -> &'static str {
    match trouble {
        trouble if trouble.wants_sign_on() => {
            "allow the token for the organisation's single sign-on: github.com/settings/tokens, \
             \"Configure SSO\""
        }
        Trouble::Denied(_) | Trouble::Forbidden(_) => {
            "is GITHUB_TOKEN right, still valid, and allowed to read this? `highwater doctor github` tells"
        }
        Trouble::Hidden(_) => {
            "is it an organisation, is its name right, and may the token see it? (-o, ORGANIZATION)"
        }
        Trouble::Network(_) | Trouble::Unreachable(_) => {
            "is the network there, and the address right? (--api-url, github.proxy)"
        }
        Trouble::Untrusted(_) => {
            "is the address right? (--api-url) If the host has a certificate authority of its own, SSL_CERT_FILE names a PEM \
             file with the certificates to trust"
        }
        Trouble::Limited(_)
        | Trouble::TooMuch(_)
        | Trouble::Server(_)
        | Trouble::Garbled(_)
        | Trouble::BadCursor(_)
        | Trouble::Wrong(_) => AGAIN,
    }
}

/// The same error, with a hint if the database is to blame and nobody gave one yet.
pub(crate) fn hinted(error: anyhow::Error) -> anyhow::Error {
    if error.downcast_ref::<Hint>().is_some() {
        return error;
    }
    match store_error(&error).map(on_database) {
        Some(hint) => error.context(Hint(hint.to_owned())),
        None => error,
    }
}

/// The database's error among the causes, if it is to blame.
pub(crate) fn store_error(error: &anyhow::Error) -> Option<&Error> {
    error.chain().find_map(|cause| cause.downcast_ref())
}
