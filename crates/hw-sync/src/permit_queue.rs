//! The queue of requests that wait for a permit: each release wakes one of them, the most important first.
//!
//! A request stays in the queue while it waits for a time: those behind it, which are less important or came later, do not
//! take the pace or the minute's points from it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::rate_limit::RequestClass;
use tokio::sync::Notify;

use crate::rate_limiter::lock_unpoisoned;
use crate::request_permit::PermitRequest;

/// The position in the queue: by class, then by arrival.
pub(crate) type QueuePosition = (RequestClass, u64);

#[derive(Default)]
pub(crate) struct PermitQueue {
    waiters: Mutex<BTreeMap<QueuePosition, Waiter>>,
    arrivals: AtomicU64,
}

struct Waiter {
    request: PermitRequest,
    state: WaitState,
    woken: Arc<Notify>,
}

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitState {
    /// A place among the requests in flight.
    ForPlace,
    /// A time of the monotonic clock.
    Sleeping { until_ms: i64, hold: ApiHold },
    /// Nothing: it was woken, and continues as soon as its task runs.
    Woken,
}

/// Whether the requests behind a sleeping one may use its API meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApiHold {
    /// They may not: what it waits for stops them, too, or is what they would take from it.
    Held,
    /// They may, if they are free: it waits for the reserve.
    Open,
}

/// A place in the queue. Dropping it leaves the queue without a permit: the next request gets its turn.
pub(crate) struct QueueTicket<'a> {
    queue: &'a PermitQueue,
    position: QueuePosition,
    woken: Arc<Notify>,
    on_drop: &'a (dyn Fn() + Sync),
    is_served: bool,
}

impl PermitQueue {
    /// Returns the position of a request that arrives now. It keeps it until it gets its permit.
    pub(crate) fn next_position(&self, class: RequestClass) -> QueuePosition {
        (class, self.arrivals.fetch_add(1, Ordering::Relaxed))
    }

    /// Joins the queue. `on_drop` runs if the ticket is dropped before its request is served.
    pub(crate) fn join<'a>(
        &'a self,
        position: QueuePosition,
        request: PermitRequest,
        on_drop: &'a (dyn Fn() + Sync),
    ) -> QueueTicket<'a> {
        let woken = Arc::new(Notify::new());
        let waiter = Waiter { request, state: WaitState::ForPlace, woken: Arc::clone(&woken) };
        lock_unpoisoned(&self.waiters).insert(position, waiter);
        QueueTicket { queue: self, position, woken, on_drop, is_served: false }
    }

    /// Wakes the request whose turn it is among those that may send, unless it was woken before.
    pub(crate) fn wake_next(&self, now_ms: i64, can_send: impl Fn(PermitRequest) -> bool) {
        let mut waiters = lock_unpoisoned(&self.waiters);
        let next = find_next(&waiters, now_ms, can_send);
        let Some(waiter) = next.and_then(|position| waiters.get_mut(&position)) else { return };
        if waiter.state != WaitState::Woken {
            waiter.state = WaitState::Woken;
            waiter.woken.notify_one();
        }
    }
}

/// Returns the position of the request whose turn it is.
///
/// A request whose time has come has its turn before its task runs, and one that was woken keeps it until then.
fn find_next(
    waiters: &BTreeMap<QueuePosition, Waiter>,
    now_ms: i64,
    can_send: impl Fn(PermitRequest) -> bool,
) -> Option<QueuePosition> {
    let mut held = Vec::new();
    for (position, Waiter { request, state, .. }) in waiters {
        match state {
            WaitState::Woken => return Some(*position),
            WaitState::Sleeping { until_ms, hold } if now_ms < *until_ms => {
                if *hold == ApiHold::Held {
                    held.push(request.api);
                }
            }
            WaitState::Sleeping { .. } | WaitState::ForPlace => {
                if !held.contains(&request.api) && can_send(*request) {
                    return Some(*position);
                }
            }
        }
    }
    None
}

impl QueueTicket<'_> {
    /// Returns true if it is its turn among those that may send.
    pub(crate) fn is_next(&self, now_ms: i64, can_send: impl Fn(PermitRequest) -> bool) -> bool {
        let waiters = lock_unpoisoned(&self.queue.waiters);
        find_next(&waiters, now_ms, can_send) == Some(self.position)
    }

    /// Sets what its request waits for. A wake that comes afterwards is not lost.
    pub(crate) fn set_state(&self, state: WaitState) {
        if let Some(waiter) = lock_unpoisoned(&self.queue.waiters).get_mut(&self.position) {
            waiter.state = state;
        }
    }

    /// Waits until it is woken.
    pub(crate) async fn wait_for_wake(&self) {
        self.woken.notified().await;
    }

    /// Leaves the queue with what it waited for.
    pub(crate) fn serve(mut self) {
        self.is_served = true;
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        lock_unpoisoned(&self.queue.waiters).remove(&self.position);
        if !self.is_served {
            (self.on_drop)();
        }
    }
}

#[cfg(test)]
#[path = "permit_queue_tests.rs"]
mod tests;
