//! Request numbers, reserved from the principal's row in small blocks.
//!
//! A number orders the looks of one process within one second of the source's clock, and no two looks of a
//! workspace share one.

use std::ops::Range;

use hw_store::{Reserved, Store};

use crate::Error;

/// Small, so that what an ended process leaves unused is soon passed.
const BLOCK: i64 = 16;

/// The numbers this process may still give out.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Range<i64>);

/// A number, or when to ask for one again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    Number(i64),
    /// All processes together have reserved what a minute holds.
    NotBefore(i64),
}

impl Numbers {
    /// The next number, from a new block when this one is used up.
    pub(crate) fn next(
        &mut self,
        store: &Store,
        principal: &str,
        a_minute: i64,
        now_ms: i64,
    ) -> Result<Next, Error> {
        if let Some(number) = self.0.next() {
            return Ok(Next::Number(number));
        }
        match store.reserve(principal, BLOCK, now_ms, a_minute)? {
            Reserved::Full { until_ms } => Ok(Next::NotBefore(until_ms)),
            Reserved::Granted(block) => {
                self.0 = block.first..block.first + block.count;
                Ok(Next::Number(self.0.next().unwrap_or(block.first)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hw_store::Place;

    use super::*;

    #[test]
    fn two_processes_never_give_out_the_same_number_and_share_the_minute() {
        let store = Store::open(&Place::Memory).unwrap();
        let (mut one, mut other) = (Numbers::default(), Numbers::default());
        let mut given: Vec<i64> = Vec::new();
        let mut take = |numbers: &mut Numbers, now_ms| {
            let next = numbers.next(&store, "host/1", 64, now_ms).unwrap();
            if let Next::Number(number) = next {
                given.push(number);
            }
            next
        };
        for _ in 0..32 {
            take(&mut one, 1_000);
            take(&mut other, 1_000);
        }
        assert_eq!(take(&mut one, 1_000), Next::NotBefore(60_000), "64 of 64 are given");
        assert!(matches!(take(&mut other, 60_000), Next::Number(_)));
        assert_eq!(given.len(), 65);
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), 65, "none twice");
    }
}
