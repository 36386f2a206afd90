//! The log of requests, for tests that count them.

use crate::faults::ApiFault;
use crate::world::ThreadKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    GraphQl,
    Rest,
}

/// One request and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestEntry {
    pub at_ms: i64,
    pub kind: RequestKind,
    /// Method and target, or the root fields with the connections right below them, each with its
    /// arguments.
    pub summary: String,
    /// 0 if no status was sent.
    pub status: u16,
    /// The points it took from its hourly quota.
    pub points: u32,
    pub fault: Option<ApiFault>,
    /// The pages of threads it contained; empty unless [`crate::SimulatedGitHub::set_page_logging`] is on.
    pub pages: Vec<ServedPage>,
}

/// A page of a repository's issues, pull requests or discussions that arrived complete in a 200.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedPage {
    pub repository_id: i64,
    pub kind: ThreadKind,
    /// `UPDATED_AT`, `CREATED_AT` or `COMMENTS`.
    pub order: String,
    /// 0 if the page was requested from its end, or only counted.
    pub first: u64,
    pub after: Option<String>,
    /// In the order of the page, including rows that a fault removed or spoiled.
    pub ids: Vec<i64>,
}

/// Sums over all requests, and each of them.
#[derive(Debug, Clone, Default)]
pub struct RequestLog {
    pub total: u64,
    pub graphql: u64,
    pub rest: u64,
    /// Of the GraphQL quota.
    pub points: u64,
    pub not_modified: u64,
    pub entries: Vec<RequestEntry>,
}

impl RequestLog {
    pub(crate) fn record_entry(&mut self, entry: RequestEntry) {
        self.total += 1;
        match entry.kind {
            RequestKind::GraphQl => {
                self.graphql += 1;
                self.points += u64::from(entry.points);
            }
            RequestKind::Rest => self.rest += 1,
        }
        self.not_modified += u64::from(entry.status == 304);
        self.entries.push(entry);
    }
}
