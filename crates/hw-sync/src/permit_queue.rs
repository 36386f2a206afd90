//! The queue of requests that wait for a permit: each release wakes one of them, the most important first.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hw_rules::rate_limit::{ApiKind, RequestClass};
use tokio::sync::Notify;

use crate::rate_limiter::lock_unpoisoned;

/// The position in the queue: by class, then by arrival.
pub(crate) type QueuePosition = (RequestClass, u64);

#[derive(Default)]
pub(crate) struct PermitQueue {
    waiters: Mutex<BTreeMap<QueuePosition, Waiter>>,
    arrivals: AtomicU64,
}

struct Waiter {
    api: ApiKind,
    woken: Arc<Notify>,
}

/// A place in the queue; dropping it leaves the queue.
pub(crate) struct QueueTicket<'a> {
    queue: &'a PermitQueue,
    position: QueuePosition,
    woken: Arc<Notify>,
    can_wake: &'a (dyn Fn(ApiKind) -> bool + Sync),
    has_been_woken: bool,
}

impl PermitQueue {
    /// Returns the position of a request that arrives now. It keeps it until it gets its permit.
    pub(crate) fn next_position(&self, class: RequestClass) -> QueuePosition {
        (class, self.arrivals.fetch_add(1, Ordering::Relaxed))
    }

    /// Joins the queue. `can_wake` decides, if this ticket is dropped after it was woken, who may be woken instead.
    pub(crate) fn join<'a>(
        &'a self,
        position: QueuePosition,
        api: ApiKind,
        can_wake: &'a (dyn Fn(ApiKind) -> bool + Sync),
    ) -> QueueTicket<'a> {
        let woken = Arc::new(Notify::new());
        let waiter = Waiter { api, woken: Arc::clone(&woken) };
        lock_unpoisoned(&self.waiters).insert(position, waiter);
        QueueTicket { queue: self, position, woken, can_wake, has_been_woken: false }
    }

    /// Wakes the first waiter whose API may send requests.
    pub(crate) fn wake_next(&self, can_wake: impl Fn(ApiKind) -> bool) {
        let mut waiters = lock_unpoisoned(&self.waiters);
        let next = waiters.iter().find(|(_, waiter)| can_wake(waiter.api));
        let Some(position) = next.map(|(position, _)| *position) else { return };
        if let Some(waiter) = waiters.remove(&position) {
            waiter.woken.notify_one();
        }
    }
}

impl QueueTicket<'_> {
    /// Returns true if nobody before it could send a request now.
    pub(crate) fn is_next(&self) -> bool {
        let waiters = lock_unpoisoned(&self.queue.waiters);
        let next = waiters.iter().find(|(_, waiter)| (self.can_wake)(waiter.api));
        next.is_some_and(|(position, _)| *position == self.position)
    }

    /// Waits until it is woken.
    pub(crate) async fn wait(mut self) {
        self.woken.notified().await;
        self.has_been_woken = true;
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        let is_waiting = lock_unpoisoned(&self.queue.waiters).remove(&self.position).is_some();
        if !is_waiting && !self.has_been_woken {
            self.queue.wake_next(self.can_wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn any(_: ApiKind) -> bool {
        true
    }

    #[test]
    fn queue_wakes_one_waiter_at_a_time_and_the_most_important_first() {
        let queue = PermitQueue::default();
        let sweep = join(&queue, RequestClass::Sweeps, ApiKind::Rest);
        let mirror = join(&queue, RequestClass::Mirror, ApiKind::Rest);
        let reply = join(&queue, RequestClass::Replies, ApiKind::Rest);
        assert_eq!([&sweep, &mirror, &reply].map(QueueTicket::is_next), [false, false, true]);
        queue.wake_next(any);
        assert_eq!(lock_unpoisoned(&queue.waiters).len(), 2, "one is woken");
        assert_woken(reply);
        drop(mirror);
        queue.wake_next(any);
        assert_woken(sweep);
    }

    #[test]
    fn queue_passes_on_a_wake_that_its_waiter_dropped() {
        let queue = PermitQueue::default();
        let first = join(&queue, RequestClass::Mirror, ApiKind::Rest);
        let second = join(&queue, RequestClass::Mirror, ApiKind::Rest);
        queue.wake_next(any);
        drop(first);
        assert_woken(second);
    }

    #[test]
    fn queue_skips_waiters_whose_api_may_not_send() {
        let queue = PermitQueue::default();
        let rest = join(&queue, RequestClass::Mirror, ApiKind::Rest);
        let graphql = join(&queue, RequestClass::Mirror, ApiKind::Graphql);
        queue.wake_next(|api| api == ApiKind::Graphql);
        assert_woken(graphql);
        assert!(rest.is_next(), "the other is still waiting");
    }

    fn assert_woken(ticket: QueueTicket<'_>) {
        assert!(ticket.wait().now_or_never().is_some(), "is still waiting");
    }

    fn join(queue: &PermitQueue, class: RequestClass, api: ApiKind) -> QueueTicket<'_> {
        queue.join(queue.next_position(class), api, &any)
    }
}
