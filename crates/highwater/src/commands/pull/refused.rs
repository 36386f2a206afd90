//! Why a pull did not do all it should, and what a person can do about it.

use hw_sources::trouble::Trouble;
use hw_sync::{Error, Summary};

use crate::report::Hint;

const AGAIN: &str = "run it again: what was read is kept";

/// The pull ended early.
pub(super) fn by(error: Error, organization: &str) -> anyhow::Error {
    let hint = match &error {
        Error::Busy { .. } => "wait until it is done, or stop it; reading goes on meanwhile",
        Error::Source { trouble, .. } => hint(trouble),
        Error::Store(_) => "the database is the trouble, not GitHub; what was read is kept",
        Error::Page { .. } | Error::Sweep { .. } | Error::Unread { .. } | Error::Crashed(_) => {
            AGAIN
        }
    };
    // the lane is the organisation's listing, which is named anyway
    let reason = error.reason();
    let cause =
        if let Error::Store(error) = error { error.into() } else { anyhow::anyhow!(reason) };
    cause.context(cannot(organization)).context(Hint(hint.to_owned()))
}

/// There is no database to pull into.
pub(super) fn database(error: anyhow::Error, organization: &str) -> anyhow::Error {
    let hint = "--database names another one, a file or postgres://…, and --home another folder";
    error.context(cannot(organization)).context(Hint(hint.to_owned()))
}

/// Some of it failed; the rest was read.
pub(super) fn in_part(organization: &str, summary: &Summary) -> anyhow::Error {
    let is_braked = summary.failures.iter().any(|failure| failure.is_brake);
    let hint = if is_braked { "if that is meant: --allow-mass-removal" } else { AGAIN };
    let count = summary.failures.len();
    anyhow::anyhow!("{organization} is not pulled completely; what failed is named above ({count})")
        .context(Hint(hint.to_owned()))
}

fn cannot(organization: &str) -> String {
    format!("cannot pull {organization}")
}

fn hint(trouble: &Trouble) -> &'static str {
    match trouble {
        Trouble::Denied(_) => {
            "is GITHUB_TOKEN right, still valid, and allowed in by the organisation's single sign-on?"
        }
        Trouble::Hidden(_) => {
            "is it an organisation, is its name right, and may the token see it? (-o, ORGANIZATION)"
        }
        Trouble::Network(_) => "is the network there, and the address right? (--api-url)",
        Trouble::Limited(_)
        | Trouble::TooMuch(_)
        | Trouble::Server(_)
        | Trouble::Garbled(_)
        | Trouble::BadCursor(_)
        | Trouble::Wrong(_) => AGAIN,
    }
}
