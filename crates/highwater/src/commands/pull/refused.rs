//! Why a pull did not do all it should, and what a person can do about it.

use hw_store::Place;
use hw_sync::{Error, Summary};

use crate::advice::{self, AGAIN};
use crate::report::Hint;

/// What is not there stays away however often it is asked for.
const AGAIN_IN_PART: &str = "run it again: what was read is kept; `highwater doctor` tells more";

/// The pull ended early.
pub(super) fn by(error: Error, organization: &str, place: &Place) -> anyhow::Error {
    let hint = match &error {
        Error::Busy { .. } => "wait until it is done, or stop it; reading goes on meanwhile",
        Error::Source { trouble, .. } => advice::on_source(trouble),
        Error::Store(error) => advice::on_database(error),
        Error::Page { .. }
        | Error::Sweep { .. }
        | Error::Unconfirmed { .. }
        | Error::RunBrake { .. }
        | Error::Unread { .. }
        | Error::Crashed(_) => AGAIN,
    };
    // the lane is the organisation's listing, which is named anyway
    let reason = error.reason();
    let cause = if let Error::Store(error) = error {
        anyhow::Error::new(error).context(format!("cannot use {}", place.shown()))
    } else {
        anyhow::anyhow!(reason)
    };
    cause.context(cannot(organization)).context(Hint(hint.to_owned()))
}

/// There is no database to pull into.
pub(super) fn database(error: anyhow::Error, organization: &str) -> anyhow::Error {
    let hint = match advice::store_error(&error) {
        Some(error) => advice::on_database(error),
        None => {
            "may you write there? --database names another one, a file or postgres://…, and --home \
             another folder"
        }
    };
    let hint = Hint(hint.to_owned());
    error.context(cannot(organization)).context(hint)
}

/// Some of it failed; the rest was read.
pub(super) fn in_part(organization: &str, summary: &Summary) -> anyhow::Error {
    let is_braked = summary.failures.iter().any(|failure| failure.is_brake);
    let hint =
        if is_braked { "if this is intended, pass --allow-mass-removal" } else { AGAIN_IN_PART };
    let count = summary.failures.len();
    anyhow::anyhow!("{organization} is not pulled completely; what failed is named above ({count})")
        .context(Hint(hint.to_owned()))
}

fn cannot(organization: &str) -> String {
    format!("cannot pull {organization}")
}
