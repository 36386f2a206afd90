//! SIGHUP: the terminal was closed, and whatever was started from it is to end.
//!
//! A process that `nohup` starts ignores it, and has to go on doing so: to listen for a signal is to stop ignoring it.

use tokio::signal::unix::Signal;

/// Waits for a hangup; for ever where none is listened for.
pub(super) async fn wait(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process was started with SIGHUP ignored.
#[cfg(target_os = "linux")]
pub(super) fn is_ignored() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangup(&status))
}

/// Whether this process was started with SIGHUP ignored, which no safe call tells here.
///
/// `nohup` also takes its output away from the terminal, so one that writes to a terminal was not started by it.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_ignored() -> bool {
    !crate::terminal::is_watched()
}

/// Reads the set of ignored signals, in which SIGHUP is the lowest bit.
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
