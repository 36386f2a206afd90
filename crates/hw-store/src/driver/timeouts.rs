//! Time limits for a database server.

use std::time::Duration;

/// How long a database server may take. SQLite has no server, so nothing here applies to it.
///
/// The server ends its own statements first; the client's deadlines only catch a server that stays connected and
/// says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseTimeouts {
    /// The server's limit on a statement that writes.
    pub write: Duration,
    /// The server's limit on a statement that reads, with the time its reader takes for the rows.
    pub read: Duration,
    /// The server's limit on waiting for a lock.
    pub lock: Duration,
    /// How much longer than the server's limit the client waits for an answer.
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
    /// The limits of a new connection, as PostgreSQL takes them.
    pub(super) fn session_script(&self) -> String {
        let [write, lock] = [self.write, self.lock].map(|limit| limit.as_millis());
        format!(
            "set lock_timeout = '{lock}ms'; set statement_timeout = '{write}ms';
             set idle_in_transaction_session_timeout = '60s'"
        )
    }

    /// The limit of a transaction that reads.
    pub(super) fn reading_script(&self) -> String {
        format!("set local statement_timeout = '{}ms'", self.read.as_millis())
    }

    pub(super) fn write_deadline(&self) -> Duration {
        self.write + self.grace
    }

    pub(super) fn read_deadline(&self) -> Duration {
        self.read + self.grace
    }

    /// A transaction begins at once, unless it waits for the write lock.
    pub(super) fn begin_deadline(&self) -> Duration {
        self.lock + self.grace
    }
}
