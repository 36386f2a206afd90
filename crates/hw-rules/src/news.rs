//! What a run tells while it works: names that whoever does the work and whoever shows it share.

use std::collections::BTreeMap;

use crate::lane::{Choice, Surface};
use crate::probe::ExpectedRows;

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
    /// The lanes to read now, by what they were chosen as; the others did not move.
    Moved { lanes: BTreeMap<Choice, LanesToRead> },
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

/// The lanes of one choice that a run is about to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanesToRead {
    pub lanes: u64,
    /// None where a probe is missing, as for comments.
    pub expected: Option<ExpectedRows>,
}

impl LanesToRead {
    pub const NONE: Self = Self { lanes: 0, expected: Some(ExpectedRows::NONE) };

    /// Counts one more lane.
    pub fn add(&mut self, expected: Option<ExpectedRows>) {
        self.lanes += 1;
        self.expected = self.expected.zip(expected).map(|(sum, lane)| sum.plus(lane));
    }
}
