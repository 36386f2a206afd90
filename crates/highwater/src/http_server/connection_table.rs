//! Which connections are open, and which one makes room for the next.
//!
//! A connection waits until a complete request has arrived, and again once its answer is sent. In between it is
//! busy, and is never closed to make room. At the cap, the one that has waited longest is.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

pub(super) struct ConnectionTable {
    max_connections: usize,
    state: Mutex<TableState>,
}

#[derive(Default)]
struct TableState {
    /// Counts connections and the beginnings of their waits; a smaller number is older.
    next_number: u64,
    connections: BTreeMap<u64, OpenConnection>,
}

struct OpenConnection {
    /// When its wait began; none while it is busy.
    waiting_since: Option<u64>,
    replaced: Arc<Notify>,
}

/// The outcome for a new connection.
pub(super) enum Admission {
    Admitted(ConnectionGuard),
    /// Another connection is being closed for it.
    Replaced(ConnectionGuard),
    AllBusy,
}

/// A place in the table; dropping it frees the place.
pub(super) struct ConnectionGuard {
    tracker: Arc<ConnectionTracker>,
    replaced: Arc<Notify>,
}

/// Records what one connection does.
pub(super) struct ConnectionTracker {
    table: Arc<ConnectionTable>,
    number: u64,
    /// The answer has ended, and its last bytes are on their way to the socket.
    is_flushing: AtomicBool,
}

impl ConnectionTable {
    pub(super) fn new(max_connections: usize) -> Self {
        Self { max_connections, state: Mutex::default() }
    }

    pub(super) fn admit(table: &Arc<Self>) -> Admission {
        let mut state = table.state();
        let is_full = state.connections.len() >= table.max_connections;
        if is_full && !state.close_oldest_waiting() {
            return Admission::AllBusy;
        }
        let number = state.take_number();
        let replaced = Arc::new(Notify::new());
        let connection =
            OpenConnection { waiting_since: Some(number), replaced: Arc::clone(&replaced) };
        state.connections.insert(number, connection);
        let is_flushing = AtomicBool::new(false);
        let tracker = ConnectionTracker { table: Arc::clone(table), number, is_flushing };
        let guard = ConnectionGuard { tracker: Arc::new(tracker), replaced };
        if is_full { Admission::Replaced(guard) } else { Admission::Admitted(guard) }
    }

    /// Closes the connection that has waited longest, if any waits.
    pub(super) fn close_oldest_waiting(&self) {
        self.state().close_oldest_waiting();
    }

    fn state(&self) -> MutexGuard<'_, TableState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TableState {
    fn take_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn close_oldest_waiting(&mut self) -> bool {
        let waiting = self.connections.iter();
        let waiting = waiting.filter_map(|(number, it)| Some((it.waiting_since?, *number)));
        let Some((_, number)) = waiting.min() else { return false };
        if let Some(closed) = self.connections.remove(&number) {
            closed.replaced.notify_one();
        }
        true
    }
}

impl ConnectionGuard {
    pub(super) fn tracker(&self) -> Arc<ConnectionTracker> {
        Arc::clone(&self.tracker)
    }

    /// Waits until the connection has to make room for another.
    pub(super) async fn replaced(&self) {
        self.replaced.notified().await;
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.tracker.table.state().connections.remove(&self.tracker.number);
    }
}

impl ConnectionTracker {
    /// A complete request has arrived.
    pub(super) fn begin_answer(&self) {
        self.is_flushing.store(false, Ordering::Relaxed);
        if let Some(connection) = self.table.state().connections.get_mut(&self.number) {
            connection.waiting_since = None;
        }
    }

    /// The answer has no more bytes. Some may not have reached the socket yet.
    pub(super) fn end_answer(&self) {
        self.is_flushing.store(true, Ordering::Relaxed);
    }

    /// All bytes so far have reached the socket.
    pub(super) fn finish_flush(&self) {
        if self.is_flushing.swap(false, Ordering::Relaxed) {
            let mut state = self.table.state();
            let number = state.take_number();
            if let Some(connection) = state.connections.get_mut(&self.number) {
                connection.waiting_since = Some(number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_closes_the_connection_that_has_waited_longest() {
        let table = Arc::new(ConnectionTable::new(3));
        let guards = [admitted(&table), admitted(&table), admitted(&table)];
        guards[0].tracker.begin_answer();
        guards[0].tracker.end_answer();
        guards[0].tracker.finish_flush();
        let newest = replaced(&table);
        assert_eq!(open(&table), [&guards[0], &guards[2], &newest].map(number));
        let last = replaced(&table);
        assert_eq!(open(&table), [&guards[0], &newest, &last].map(number));
    }

    #[test]
    fn table_refuses_only_when_all_are_busy() {
        let table = Arc::new(ConnectionTable::new(2));
        let (first, second) = (admitted(&table), admitted(&table));
        first.tracker.begin_answer();
        second.tracker.begin_answer();
        second.tracker.end_answer();
        assert!(matches!(ConnectionTable::admit(&table), Admission::AllBusy), "one still flushes");
        second.tracker.finish_flush();
        drop(replaced(&table));
        assert_eq!(open(&table), [number(&first)]);
    }

    #[test]
    fn table_forgets_a_connection_with_its_guard() {
        let table = Arc::new(ConnectionTable::new(1));
        drop(admitted(&table));
        let closed = admitted(&table);
        let newest = replaced(&table);
        // what a closed connection still does counts for nothing
        closed.tracker.begin_answer();
        drop(closed);
        assert_eq!(open(&table), [number(&newest)]);
    }

    fn admitted(table: &Arc<ConnectionTable>) -> ConnectionGuard {
        match ConnectionTable::admit(table) {
            Admission::Admitted(guard) => guard,
            Admission::Replaced(_) | Admission::AllBusy => panic!("there is room"),
        }
    }

    fn replaced(table: &Arc<ConnectionTable>) -> ConnectionGuard {
        match ConnectionTable::admit(table) {
            Admission::Replaced(guard) => guard,
            Admission::Admitted(_) | Admission::AllBusy => panic!("one waits, and none is free"),
        }
    }

    fn open(table: &ConnectionTable) -> Vec<u64> {
        table.state().connections.keys().copied().collect()
    }

    fn number(guard: &ConnectionGuard) -> u64 {
        guard.tracker.number
    }
}
