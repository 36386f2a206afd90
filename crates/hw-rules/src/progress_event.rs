//! Defines the events that a pull emits while it works, for the code that displays its progress.

use std::collections::BTreeMap;

use crate::lane::{PullItem, Surface};
use crate::probe::ExpectedRows;

/// One thing that happened during a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgressEvent {
    /// The login of the user that the token belongs to.
    ViewerIdentified(String),
    /// The stored items of a surface are deleted, in order to download them again.
    ClearingSurface { surface: Surface },
    /// Another process pulls the same; this one helps it, and waits for its end.
    FollowingPull { worker: String },
    /// Another process pulls with other options; this one waits for its end, and then pulls.
    WaitingForPull { worker: String },
    /// Another process polls the accounts; this one waits for its end, and then polls.
    WaitingForPoll { worker: String },
    /// The process that this one followed or waited for has died; this one pulls in its place.
    TakingOverPull { worker: String },
    /// A page is requested: of an organization's listing, or of a repository's.
    RequestingPage { surface: Surface, scope: String, page: u64 },
    /// The number of repositories listed so far; `is_all` is set with the last of them.
    RepositoriesListed { repositories: u64, is_all: bool },
    /// The lanes to read now, by the item the user chose; the other lanes did not move.
    LanesMoved { lanes: BTreeMap<PullItem, LanesToRead> },
    /// A page was stored.
    PageStored { surface: Surface, page: u64, observed: u64, stored: u64 },
    /// A lane was read to its end.
    LaneFinished { surface: Surface, scope: String },
    /// Repositories or items were confirmed gone, and removed.
    ItemsRemoved { surface: Surface, scope: String, count: u64 },
    /// A usable response arrived.
    ResponseReceived,
    /// A request will be repeated after this delay.
    RetryScheduled { reason: String, wait_ms: i64 },
    /// No request is sent before this time; afterwards, requests may stay slow for a while.
    RequestsPaused { reason: String, until_ms: i64, resumes_slowly: bool },
    /// The hourly rate limit, as the source reported it.
    BudgetReported { used: i64, limit: i64, resets_in_ms: i64 },
    /// A lane failed; the others continue.
    LaneFailed { surface: Surface, scope: String, message: String },
}

/// The lanes of one pull item that a run is about to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanesToRead {
    pub lanes: u64,
    /// None if a lane has no probe, as with comments.
    pub expected: Option<ExpectedRows>,
}

impl LanesToRead {
    pub const NONE: Self = Self { lanes: 0, expected: Some(ExpectedRows::NONE) };

    /// Adds one lane.
    pub fn add(&mut self, expected: Option<ExpectedRows>) {
        self.lanes += 1;
        self.expected = self.expected.zip(expected).map(|(sum, lane)| sum.plus(lane));
    }
}
