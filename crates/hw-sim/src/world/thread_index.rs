//! The threads of one kind in one repository, and the orders in which they are listed.
//!
//! An order is built on first use and then kept up to date, so that the work for a page depends on its size and not on
//! the size of the repository.

use std::sync::OnceLock;

use super::SimThread;
use crate::timestamps;

/// The orders of a list of threads that depend on the threads alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadOrder {
    Created,
    Updated,
}

impl ThreadOrder {
    const ALL: [Self; 2] = [Self::Created, Self::Updated];

    /// Returns the sort key in whole seconds, as GitHub orders.
    pub(crate) fn sort_second(self, thread: &SimThread) -> i64 {
        timestamps::floor_to_second(match self {
            Self::Created => thread.created_ms,
            Self::Updated => thread.updated_ms,
        })
    }

    fn order_slot(self) -> usize {
        match self {
            Self::Created => 0,
            Self::Updated => 1,
        }
    }
}

/// A thread in an order: the second it is sorted by, then its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadPosition {
    pub(crate) second: i64,
    pub(crate) id: i64,
    pub(crate) index: usize,
}

impl ThreadPosition {
    fn from_thread(thread: &SimThread, by: ThreadOrder) -> Self {
        Self { second: by.sort_second(thread), id: thread.id, index: thread.index }
    }
}

#[derive(Debug)]
pub(super) struct ThreadIndex {
    /// Every thread that was ever here.
    pub(super) threads: Vec<usize>,
    /// From this time on, lists contain the current state of each thread.
    settled_ms: i64,
    orders: [OnceLock<Vec<ThreadPosition>>; 2],
}

impl Default for ThreadIndex {
    fn default() -> Self {
        Self { threads: Vec::new(), settled_ms: i64::MIN, orders: Default::default() }
    }
}

impl ThreadIndex {
    /// Returns true if lists at this time contain the current states.
    pub(super) fn is_settled(&self, at_ms: i64) -> bool {
        self.settled_ms <= at_ms
    }

    /// Returns the existing threads, smallest position first.
    pub(super) fn sorted_positions<'w>(
        &self,
        by: ThreadOrder,
        current: impl Fn(usize) -> Option<&'w SimThread>,
    ) -> &[ThreadPosition] {
        self.orders[by.order_slot()].get_or_init(|| {
            let existing = self.threads.iter().filter_map(|index| current(*index));
            let mut order: Vec<ThreadPosition> =
                existing.map(|thread| ThreadPosition::from_thread(thread, by)).collect();
            order.sort_unstable();
            order
        })
    }

    pub(super) fn insert_thread(&mut self, thread: &SimThread, listed_ms: i64) {
        self.threads.push(thread.index);
        self.update_thread(None, Some(thread), listed_ms);
    }

    /// Records that lists lag behind until this time.
    pub(super) fn settle_at(&mut self, ms: i64) {
        self.settled_ms = self.settled_ms.max(ms);
    }

    /// Moves a thread in all orders after it changed from one state to another, or to none.
    pub(super) fn update_thread(
        &mut self,
        before: Option<&SimThread>,
        after: Option<&SimThread>,
        listed_ms: i64,
    ) {
        self.settle_at(listed_ms);
        for by in ThreadOrder::ALL {
            let Some(order) = self.orders[by.order_slot()].get_mut() else { continue };
            let before = before.map(|thread| ThreadPosition::from_thread(thread, by));
            let after = after.map(|thread| ThreadPosition::from_thread(thread, by));
            if before == after {
                continue;
            }
            if let Some(slot) = before.and_then(|position| order.binary_search(&position).ok()) {
                order.remove(slot);
            }
            if let Some((position, Err(slot))) =
                after.map(|position| (position, order.binary_search(&position)))
            {
                order.insert(slot, position);
            }
        }
    }
}
