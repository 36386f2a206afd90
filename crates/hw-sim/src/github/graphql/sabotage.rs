//! Faults inside an answer that is otherwise fine.

use crate::faults::Fault;

/// A fault that lives inside an answer, and the place where it strikes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sabotage {
    fault: Option<Fault>,
    place: usize,
    pub(super) seen: usize,
    pub(super) roll: usize,
    pub(super) hit: bool,
}

impl Sabotage {
    pub(crate) fn none() -> Self {
        Self { fault: None, place: 0, seen: 0, roll: 0, hit: false }
    }

    pub(crate) fn at(fault: Fault, place: usize, roll: usize) -> Self {
        Self { fault: Some(fault), place, roll, ..Self::none() }
    }

    /// Strikes nowhere, but counts where it could.
    pub(super) fn counting(fault: Fault) -> Self {
        Self::at(fault, usize::MAX, 0)
    }

    /// Whether this place is the one; every place asks once.
    pub(super) fn strikes(&mut self, fault: Fault) -> bool {
        if self.fault != Some(fault) {
            return false;
        }
        let here = self.seen == self.place;
        self.seen += 1;
        self.hit |= here;
        here
    }
}
