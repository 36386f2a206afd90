//! The threads of one kind in one repository, and the orders they are listed in.
//!
//! An order is made when somebody first asks for it and then kept up to date, so that a page costs
//! what is on it and not what is in the repository.

use std::sync::OnceLock;

use super::Thread;
use crate::times;

/// What a list of threads can be ordered by without looking at anything else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderBy {
    Created,
    Updated,
}

impl OrderBy {
    const ALL: [Self; 2] = [Self::Created, Self::Updated];

    /// GitHub's order knows whole seconds.
    pub(crate) fn second(self, thread: &Thread) -> i64 {
        times::whole_second(match self {
            Self::Created => thread.created_ms,
            Self::Updated => thread.updated_ms,
        })
    }

    fn slot(self) -> usize {
        match self {
            Self::Created => 0,
            Self::Updated => 1,
        }
    }
}

/// A thread in an order: the second it is sorted by, then its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) second: i64,
    pub(crate) id: i64,
    pub(crate) index: usize,
}

impl Place {
    fn of(thread: &Thread, by: OrderBy) -> Self {
        Self { second: by.second(thread), id: thread.id, index: thread.index }
    }
}

#[derive(Debug)]
pub(super) struct Shelf {
    /// Every thread that ever was here.
    pub(super) threads: Vec<usize>,
    /// From this moment on, lists show each of them as it is now.
    settled_ms: i64,
    orders: [OnceLock<Vec<Place>>; 2],
}

impl Default for Shelf {
    fn default() -> Self {
        Self { threads: Vec::new(), settled_ms: i64::MIN, orders: Default::default() }
    }
}

impl Shelf {
    /// Whether lists of a moment show what is there now.
    pub(super) fn is_settled(&self, at_ms: i64) -> bool {
        self.settled_ms <= at_ms
    }

    /// The living ones, smallest place first.
    pub(super) fn order<'w>(
        &self,
        by: OrderBy,
        now: impl Fn(usize) -> Option<&'w Thread>,
    ) -> &[Place] {
        self.orders[by.slot()].get_or_init(|| {
            let living = self.threads.iter().filter_map(|index| now(*index));
            let mut order: Vec<Place> = living.map(|thread| Place::of(thread, by)).collect();
            order.sort_unstable();
            order
        })
    }

    pub(super) fn add(&mut self, thread: &Thread, listed_ms: i64) {
        self.threads.push(thread.index);
        self.change(None, Some(thread), listed_ms);
    }

    /// Before this moment, lists do not show what is there.
    pub(super) fn settle_at(&mut self, ms: i64) {
        self.settled_ms = self.settled_ms.max(ms);
    }

    /// Takes note of a thread that was one thing and is another, or nothing.
    pub(super) fn change(
        &mut self,
        before: Option<&Thread>,
        after: Option<&Thread>,
        listed_ms: i64,
    ) {
        self.settle_at(listed_ms);
        for by in OrderBy::ALL {
            let Some(order) = self.orders[by.slot()].get_mut() else { continue };
            let [before, after] = [before, after].map(|it| it.map(|it| Place::of(it, by)));
            if before == after {
                continue;
            }
            if let Some(at) = before.and_then(|place| order.binary_search(&place).ok()) {
                order.remove(at);
            }
            if let Some((place, Err(at))) = after.map(|place| (place, order.binary_search(&place)))
            {
                order.insert(at, place);
            }
        }
    }
}
