//! Request numbers, reserved from the principal's row in small blocks.
//!
//! A number orders the looks of one process within one second of the source's clock, and no two looks of a
//! workspace share one.

use std::ops::Range;

use hw_store::Store;

use crate::Error;

/// Small, so that what an ended process leaves unused is soon passed.
const BLOCK: i64 = 16;

/// The numbers this process may still give out.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Range<i64>);

impl Numbers {
    /// The next number, from a new block when this one is used up.
    pub(crate) fn next(&mut self, store: &Store, principal: &str) -> Result<i64, Error> {
        if let Some(number) = self.0.next() {
            return Ok(number);
        }
        let block = store.reserve(principal, BLOCK)?;
        self.0 = block.first..block.first + block.count;
        Ok(self.0.next().unwrap_or(block.first))
    }
}

#[cfg(test)]
mod tests {
    use hw_store::Place;

    use super::*;

    #[test]
    fn two_processes_never_give_out_the_same_number() {
        let store = Store::open(&Place::Memory).unwrap();
        let (mut one, mut other) = (Numbers::default(), Numbers::default());
        let mut given: Vec<i64> = Vec::new();
        for _ in 0..40 {
            given.push(one.next(&store, "host/1").unwrap());
            given.push(other.next(&store, "host/1").unwrap());
        }
        let count = given.len();
        given.sort_unstable();
        given.dedup();
        assert_eq!(given.len(), count);
    }
}
