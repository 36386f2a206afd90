//! The time limits for a database server.

use std::time::Duration;

/// The time limits for a database server. SQLite has no server, so none of them apply to it.
///
/// The server cancels its own statements first. The client's deadlines only catch a server that stays connected but
/// stops responding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseTimeouts {
    /// The server's limit on a statement that writes.
    pub write: Duration,
    /// The server's limit on a statement that reads, including the time its reader takes to consume the rows.
    pub read: Duration,
    /// The server's limit on waiting for a lock.
    pub lock: Duration,
    /// The time the client waits for an answer beyond the server's limit.
    pub grace: Duration,
}

impl Default for DatabaseTimeouts {
    fn default() -> Self {
        Self {
            write: Duration::from_secs(60),
            read: Duration::from_secs(120),
            lock: Duration::from_secs(10),
            grace: Duration::from_secs(15),
        }
    }
}

impl DatabaseTimeouts {
    /// Returns the script that sets the limits of a new connection.
    pub(super) fn session_script(&self) -> String {
        let [write, lock] = [self.write, self.lock].map(|limit| limit.as_millis());
        format!(
            "set lock_timeout = '{lock}ms'; set statement_timeout = '{write}ms';
             set idle_in_transaction_session_timeout = '60s'"
        )
    }

    /// Returns the script that sets the limit of a read transaction.
    pub(super) fn read_script(&self) -> String {
        format!("set local statement_timeout = '{}ms'", self.read.as_millis())
    }

    pub(super) fn write_deadline(&self) -> Duration {
        self.write + self.grace
    }

    pub(super) fn read_deadline(&self) -> Duration {
        self.read + self.grace
    }

    /// Returns the deadline of `begin`, which is immediate unless it waits for the write lock.
    pub(super) fn begin_deadline(&self) -> Duration {
        self.lock + self.grace
    }
}
