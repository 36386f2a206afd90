//! Handles SIGHUP, which a process receives when its terminal is closed.
//!
//! A process started by `nohup` ignores it and must continue to: listening for a signal would stop ignoring it.

use tokio::signal::unix::Signal;

/// Waits for a hangup; forever without a listener.
pub(super) async fn wait_for_hangup(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Returns true if this process was started with SIGHUP ignored.
#[cfg(target_os = "linux")]
pub(super) fn is_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangup(&status))
}

/// Guesses whether this process was started with SIGHUP ignored, which no safe call reports on this system.
///
/// `nohup` redirects the output, so a process that writes to a terminal was not started by it.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_ignored() -> bool {
    !crate::terminal::is_watched()
}

/// Reads the mask of ignored signals, in which SIGHUP is the lowest bit.
#[cfg(target_os = "linux")]
fn ignores_hangup(status: &str) -> bool {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set & 1 == 1)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn hangup_is_the_lowest_bit_of_the_ignored_signals() {
        assert!(ignores_hangup("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n"));
        assert!(!ignores_hangup("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangup("SigIgn:\tx\n") && !ignores_hangup(""));
    }
}
