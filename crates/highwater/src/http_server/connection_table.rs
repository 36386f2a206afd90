//! Tracks the open connections, and decides which one is closed for the next.
//!
//! A connection waits until a complete request has arrived, and again once its answer is sent. In between it is
//! busy and is never closed for another. At the limit, the connection that has waited longest is closed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

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
    /// The number at which the wait began; `None` while the connection is busy.
    waiting_since: Option<u64>,
    replaced: CancellationToken,
}

/// The outcome for a new connection.
pub(super) enum AdmissionOutcome {
    Admitted(ConnectionGuard),
    /// Admitted in place of another connection, which is being closed.
    Replaced(ConnectionGuard),
    AllBusy,
}

/// An entry in the table; dropping it removes the entry.
pub(super) struct ConnectionGuard {
    tracker: Arc<ConnectionTracker>,
    replaced: CancellationToken,
}

/// Records the state changes of one connection.
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

    pub(super) fn admit_connection(table: &Arc<Self>) -> AdmissionOutcome {
        let mut state = table.lock_state();
        let is_full = state.connections.len() >= table.max_connections;
        if is_full && !state.close_oldest_waiting() {
            return AdmissionOutcome::AllBusy;
        }
        let number = state.take_number();
        let replaced = CancellationToken::new();
        let connection = OpenConnection { waiting_since: Some(number), replaced: replaced.clone() };
        state.connections.insert(number, connection);
        let is_flushing = AtomicBool::new(false);
        let tracker = ConnectionTracker { table: Arc::clone(table), number, is_flushing };
        let guard = ConnectionGuard { tracker: Arc::new(tracker), replaced };
        if is_full { AdmissionOutcome::Replaced(guard) } else { AdmissionOutcome::Admitted(guard) }
    }

    /// Closes the connection that has waited longest, if any waits.
    pub(super) fn close_oldest_waiting(&self) {
        self.lock_state().close_oldest_waiting();
    }

    fn lock_state(&self) -> MutexGuard<'_, TableState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TableState {
    fn take_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn close_oldest_waiting(&mut self) -> bool {
        let oldest = self
            .connections
            .iter()
            .filter_map(|(number, connection)| Some((connection.waiting_since?, *number)))
            .min();
        let Some((_, number)) = oldest else { return false };
        if let Some(closed) = self.connections.remove(&number) {
            closed.replaced.cancel();
        }
        true
    }
}

impl ConnectionGuard {
    pub(super) fn tracker(&self) -> Arc<ConnectionTracker> {
        Arc::clone(&self.tracker)
    }

    /// Waits until the connection has to close for another.
    pub(super) async fn wait_replaced(&self) {
        self.replaced.cancelled().await;
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.tracker.table.lock_state().connections.remove(&self.tracker.number);
    }
}

impl ConnectionTracker {
    /// Records that a complete request has arrived.
    pub(super) fn begin_answer(&self) {
        self.is_flushing.store(false, Ordering::Relaxed);
        if let Some(connection) = self.table.lock_state().connections.get_mut(&self.number) {
            connection.waiting_since = None;
        }
    }

    /// Records that the answer has no more bytes. Some may not have reached the socket yet.
    pub(super) fn end_answer(&self) {
        self.is_flushing.store(true, Ordering::Relaxed);
    }

    /// Records that all bytes so far have reached the socket.
    pub(super) fn finish_flush(&self) {
        if self.is_flushing.swap(false, Ordering::Relaxed) {
            let mut state = self.table.lock_state();
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
        let guards = [admit_free(&table), admit_free(&table), admit_free(&table)];
        guards[0].tracker.begin_answer();
        guards[0].tracker.end_answer();
        guards[0].tracker.finish_flush();
        let newest = admit_replacing(&table);
        assert_eq!(open_numbers(&table), [&guards[0], &guards[2], &newest].map(guard_number));
        let last = admit_replacing(&table);
        assert_eq!(open_numbers(&table), [&guards[0], &newest, &last].map(guard_number));
    }

    #[test]
    fn table_refuses_only_when_all_are_busy() {
        let table = Arc::new(ConnectionTable::new(2));
        let (first, second) = (admit_free(&table), admit_free(&table));
        first.tracker.begin_answer();
        second.tracker.begin_answer();
        second.tracker.end_answer();
        assert!(
            matches!(ConnectionTable::admit_connection(&table), AdmissionOutcome::AllBusy),
            "one still flushes"
        );
        second.tracker.finish_flush();
        drop(admit_replacing(&table));
        assert_eq!(open_numbers(&table), [guard_number(&first)]);
    }

    #[test]
    fn table_forgets_a_connection_with_its_guard() {
        let table = Arc::new(ConnectionTable::new(1));
        drop(admit_free(&table));
        let closed = admit_free(&table);
        let newest = admit_replacing(&table);
        // events of a closed connection have no effect
        closed.tracker.begin_answer();
        drop(closed);
        assert_eq!(open_numbers(&table), [guard_number(&newest)]);
    }

    fn admit_free(table: &Arc<ConnectionTable>) -> ConnectionGuard {
        match ConnectionTable::admit_connection(table) {
            AdmissionOutcome::Admitted(guard) => guard,
            AdmissionOutcome::Replaced(_) | AdmissionOutcome::AllBusy => {
                panic!("the table is full")
            }
        }
    }

    fn admit_replacing(table: &Arc<ConnectionTable>) -> ConnectionGuard {
        match ConnectionTable::admit_connection(table) {
            AdmissionOutcome::Replaced(guard) => guard,
            AdmissionOutcome::Admitted(_) | AdmissionOutcome::AllBusy => {
                panic!("no connection was replaced")
            }
        }
    }

    fn open_numbers(table: &ConnectionTable) -> Vec<u64> {
        table.lock_state().connections.keys().copied().collect()
    }

    fn guard_number(guard: &ConnectionGuard) -> u64 {
        guard.tracker.number
    }
}
