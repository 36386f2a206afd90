//! Hands out request ids, reserved from the store in small blocks.
//!
//! An id orders the observations of one process within one second of the source's clock, so ids are drawn in the order
//! in which requests start, whatever their API. No two requests of a workspace share one. Each block is also a share of
//! its API's minute.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use hw_rules::principal::Principal;
use hw_rules::rate_limit::ApiKind;
use hw_store::{RequestReservation, ReserveOutcome, StoreWriter};

use crate::SyncError;

/// Small, so that a process that ends leaves few ids unused.
const BLOCK_SIZE: i64 = 16;

/// The reserved ids that this process has not used yet.
#[derive(Debug, Default)]
pub(crate) struct RequestIdPool {
    ids: VecDeque<Range<i64>>,
    /// The points that each API may still spend on requests with them.
    allowances: BTreeMap<ApiKind, i64>,
}

/// Whether an id can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdReservation {
    Available,
    /// All processes together have used up the API's current minute.
    NotBefore(i64),
}

impl RequestIdPool {
    /// Reserves a block for the API if too little is left of the last one for a request of this many points.
    pub(crate) fn reserve_ahead(
        &mut self,
        store: &StoreWriter,
        principal: &Principal,
        api: ApiKind,
        points: i64,
        now_ms: i64,
    ) -> Result<IdReservation, SyncError> {
        if self.allowances.get(&api).is_some_and(|allowance| *allowance >= points) {
            return Ok(IdReservation::Available);
        }
        let per_minute = api.points_per_minute();
        Ok(match store.reserve_requests(principal, api, BLOCK_SIZE, now_ms, per_minute)? {
            ReserveOutcome::Full { until_ms } => IdReservation::NotBefore(until_ms),
            ReserveOutcome::Granted(block) => {
                self.add_block(api, block);
                IdReservation::Available
            }
        })
    }

    fn add_block(&mut self, api: ApiKind, block: RequestReservation) {
        self.ids.push_back(block.first..block.first + block.count);
        *self.allowances.entry(api).or_default() += block.count;
    }

    /// Draws the lowest id, if the API may still spend this many points.
    pub(crate) fn draw(&mut self, api: ApiKind, points: i64) -> Option<i64> {
        let allowance = self.allowances.get_mut(&api).filter(|allowance| **allowance >= points)?;
        while self.ids.front().is_some_and(Range::is_empty) {
            self.ids.pop_front();
        }
        let id = self.ids.front_mut()?.next()?;
        *allowance -= points;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hw_store::DatabaseLocation;

    use super::*;

    #[test]
    fn request_ids_of_two_processes_are_distinct_and_share_the_minute() {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let mut pools = [RequestIdPool::default(), RequestIdPool::default()];
        let mut drawn = BTreeSet::new();
        for number in 0..1_000 {
            let pool = &mut pools[number % 2];
            let reserved = pool
                .reserve_ahead(&store, &Principal::from_user("host", 1), ApiKind::Rest, 1, 1_000)
                .unwrap();
            if reserved == IdReservation::Available {
                assert!(drawn.insert(pool.draw(ApiKind::Rest, 1).unwrap()), "no id twice");
            } else {
                assert_eq!(reserved, IdReservation::NotBefore(60_000));
            }
        }
        assert_eq!(drawn.len(), 900, "no more in a minute");
        assert!(drawn.insert(draw_id(&mut pools[0], &store, ApiKind::Graphql)), "another minute");
    }

    #[test]
    fn request_ids_of_writes_take_several_points_of_the_minute() {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let mut pool = RequestIdPool::default();
        let mut drawn = 0;
        let api = ApiKind::Rest;
        while pool.reserve_ahead(&store, &Principal::from_user("host", 1), api, 5, 1_000).unwrap()
            == IdReservation::Available
        {
            pool.draw(api, 5).unwrap();
            drawn += 1;
        }
        assert_eq!(drawn, 180, "900 points a minute");
    }

    #[test]
    fn request_ids_increase_with_every_request_whatever_its_api() {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let mut pool = RequestIdPool::default();
        let mut last = 0;
        for number in 0..100 {
            let api = if number % 3 == 0 { ApiKind::Rest } else { ApiKind::Graphql };
            let id = draw_id(&mut pool, &store, api);
            assert!(last < id, "request {number} got {id} after {last}");
            last = id;
        }
    }

    fn draw_id(pool: &mut RequestIdPool, store: &StoreWriter, api: ApiKind) -> i64 {
        let reserved =
            pool.reserve_ahead(store, &Principal::from_user("host", 1), api, 1, 1_000).unwrap();
        assert_eq!(reserved, IdReservation::Available);
        pool.draw(api, 1).unwrap()
    }
}
