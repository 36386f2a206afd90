//! The limits of a server: the number of connections, and the time for each step of one.

use std::time::Duration;

use super::open_files;

/// More than the browsers and clients of one machine open, and few enough that one page for each fits in memory.
const MAX_CONNECTIONS: usize = 256;
/// The server would be useless with fewer, whatever the limit of open files.
const MIN_CONNECTIONS: usize = 8;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerLimits {
    /// Open connections, idle ones included.
    pub(crate) max_connections: usize,
    /// From the opening of a connection, or from its last answer, to the end of the next request's header. So this
    /// is also how long a connection may be idle.
    pub(crate) header: Duration,
    /// From the end of a header to the end of its body.
    pub(crate) body: Duration,
    /// The longest body.
    pub(crate) body_bytes: usize,
    /// For a peer to accept any more of an answer.
    pub(crate) write: Duration,
    /// For a refused peer to send its request and read that the server is busy.
    pub(crate) refusal: Duration,
    /// For the answers that are under way when the server stops.
    pub(crate) shutdown: Duration,
}

impl ServerLimits {
    /// Raises the process's limit of open files and returns the limits that fit it.
    pub(crate) fn for_this_process() -> Self {
        let open_files = open_files::raise_limit();
        Self { max_connections: connections_within(open_files), ..Self::default() }
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            max_connections: MAX_CONNECTIONS,
            header: Duration::from_secs(15),
            body: Duration::from_secs(30),
            body_bytes: 4 * 1024 * 1024,
            write: Duration::from_secs(30),
            refusal: Duration::from_secs(2),
            shutdown: Duration::from_secs(1),
        }
    }
}

/// Returns the number of connections that fit, leaving half of the open files to databases and logs.
fn connections_within(open_files: u64) -> usize {
    let half = usize::try_from(open_files / 2).unwrap_or(usize::MAX);
    half.clamp(MIN_CONNECTIONS, MAX_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_leave_half_of_the_open_files_to_others() {
        let connections = [0, 20, 256, 1_024, u64::MAX].map(connections_within);
        assert_eq!(connections, [8, 10, 128, 256, 256]);
    }
}
