//! What a run tells while it works: names that whoever does the work and whoever shows it share.

use std::collections::BTreeMap;

use crate::lane::{Choice, Surface};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Whom the token speaks for.
    Viewer(String),
    /// What is held of a surface is forgotten, to be read anew.
    Clearing { surface: Surface },
    /// A page is asked for: of an organisation's listing, or of a repository's.
    Asking { surface: Surface, scope: String, page: u64 },
    /// So many repositories are listed by now; `is_all` with the last of them.
    Listed { repositories: u64, is_all: bool },
    /// So many lanes are to be read now, by what they were chosen as; the others did not move.
    Moved { lanes: BTreeMap<Choice, u64> },
    /// A page was kept.
    Kept { surface: Surface, page: u64, seen: u64, stored: u64 },
    /// A lane was read to its end.
    Read { surface: Surface, scope: String },
    /// Repositories or items that are confirmed gone.
    Removed { surface: Surface, scope: String, count: u64 },
    /// An answer came and could be used.
    Answered,
    /// The same is asked again after so long.
    Retried { why: String, wait_ms: i64 },
    /// Nothing is asked before then.
    Paused { why: String, until_ms: i64 },
    /// The hour's budget, as the source told it.
    Budget { used: i64, limit: i64, resets_in_ms: i64 },
    /// Something could not be done; the rest goes on.
    Failed { surface: Surface, scope: String, message: String },
}
