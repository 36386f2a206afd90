//! What reading for watches needs, and what it reports.

use hw_rules::item::CommentKind;
use hw_rules::runtime_settings::RuntimeSettings;

use crate::turn::PullContext;

/// Everything that reading for the watches of a host needs.
#[derive(Clone, Copy)]
pub(crate) struct WatchContext<'a> {
    pub(crate) pull: PullContext<'a>,
    pub(crate) host: &'a str,
    pub(crate) settings: &'a RuntimeSettings,
}

/// What a poll could not read. The rest of it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PollOutcome {
    pub(crate) failures: Vec<String>,
    /// What a full scan found and the lists did not bring, if both were compared.
    pub(crate) differences: Vec<ShadowDifference>,
}

/// A comment of which a full scan shows something else than what is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowDifference {
    /// The thread, as printed.
    pub thread: String,
    pub kind: CommentKind,
    pub id: i64,
    /// `missing`, `outdated` or `gone`.
    pub difference: &'static str,
}
