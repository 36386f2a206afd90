//! The log of requests, for tests that count them.

use std::collections::BTreeMap;

use super::endpoint::XrpcEndpoint;
use super::faults::AppViewFault;

/// One request and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XrpcEntry {
    pub at_ms: i64,
    pub endpoint: XrpcEndpoint,
    /// The DID or handle that the request names; `None` if it names none or several.
    pub actor: Option<String>,
    pub has_cursor: bool,
    /// 0 if no status was sent.
    pub status: u16,
    pub fault: Option<AppViewFault>,
}

/// Sums over all requests, and each of them.
#[derive(Debug, Clone, Default)]
pub struct XrpcLog {
    pub total: u64,
    pub entries: Vec<XrpcEntry>,
    counts: BTreeMap<XrpcEndpoint, u64>,
}

impl XrpcLog {
    /// Returns the number of requests to an endpoint.
    #[must_use]
    pub fn count(&self, endpoint: XrpcEndpoint) -> u64 {
        self.counts.get(&endpoint).copied().unwrap_or(0)
    }

    /// Returns the number of requests to each endpoint that had any.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<XrpcEndpoint, u64> {
        &self.counts
    }

    /// Returns the requests from this one on, counted from 0.
    #[must_use]
    pub fn entries_since(&self, total: u64) -> &[XrpcEntry] {
        let start = usize::try_from(total).unwrap_or(usize::MAX).min(self.entries.len());
        &self.entries[start..]
    }

    pub(super) fn record_entry(&mut self, entry: XrpcEntry) {
        self.total += 1;
        *self.counts.entry(entry.endpoint).or_default() += 1;
        self.entries.push(entry);
    }
}
