//! Allocates request ids, reserved from the principal's row in small blocks.
//!
//! An id orders the observations of one process within one second of the source's clock. No two requests of a
//! workspace share one.

use std::ops::Range;

use hw_store::{ReserveOutcome, Store};

use crate::SyncError;

/// Small, so that a process that ends leaves few ids unused.
const BLOCK_SIZE: i64 = 16;

/// The reserved ids that this process has not used yet.
#[derive(Debug, Default)]
pub(crate) struct RequestIdAllocator(Range<i64>);

/// An id, or the time of the next attempt to get one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestIdGrant {
    Granted(i64),
    /// All processes together have used up the current minute.
    NotBefore(i64),
}

impl RequestIdAllocator {
    /// Returns the next id, from a new block when the current one is used up.
    pub(crate) fn next_id(
        &mut self,
        store: &Store,
        principal: &str,
        max_per_minute: i64,
        now_ms: i64,
    ) -> Result<RequestIdGrant, SyncError> {
        if let Some(request_id) = self.0.next() {
            return Ok(RequestIdGrant::Granted(request_id));
        }
        match store.reserve_requests(principal, BLOCK_SIZE, now_ms, max_per_minute)? {
            ReserveOutcome::Full { until_ms } => Ok(RequestIdGrant::NotBefore(until_ms)),
            ReserveOutcome::Granted(block) => {
                self.0 = block.first..block.first + block.count;
                Ok(RequestIdGrant::Granted(self.0.next().unwrap_or(block.first)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hw_store::DatabaseLocation;

    use super::*;

    #[test]
    fn request_ids_of_two_processes_are_distinct_and_share_the_minute() {
        let store = Store::open(&DatabaseLocation::Memory).unwrap();
        let (mut first, mut second) =
            (RequestIdAllocator::default(), RequestIdAllocator::default());
        let mut granted = BTreeSet::new();
        for _ in 0..32 {
            granted.insert(granted_id(next_id(&mut first, &store, 1_000)));
            granted.insert(granted_id(next_id(&mut second, &store, 1_000)));
        }
        let refused = next_id(&mut first, &store, 1_000);
        assert_eq!(refused, RequestIdGrant::NotBefore(60_000), "64 of 64 are granted");
        granted.insert(granted_id(next_id(&mut second, &store, 60_000)));
        assert_eq!(granted.len(), 65, "no id twice");
    }

    fn next_id(allocator: &mut RequestIdAllocator, store: &Store, now_ms: i64) -> RequestIdGrant {
        allocator.next_id(store, "host/1", 64, now_ms).unwrap()
    }

    fn granted_id(grant: RequestIdGrant) -> i64 {
        match grant {
            RequestIdGrant::Granted(id) => id,
            RequestIdGrant::NotBefore(until_ms) => panic!("not before {until_ms}"),
        }
    }
}
