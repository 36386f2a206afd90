//! The limit of open files: each connection is one.

/// Raises the soft limit to the hard one, and returns the limit in force.
///
/// Shells often start programs with a soft limit of 1,024, or of 256 on macOS, for the sake of programs that use
/// `select`.
#[cfg(unix)]
pub(super) fn raise_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// macOS calls its hard limit infinite, and refuses any soft limit above this one.
    const WHEN_UNLIMITED: u64 = 10_240;
    let limit = getrlimit(Resource::Nofile);
    let Some(soft) = limit.current else { return u64::MAX };
    let wanted = limit.maximum.unwrap_or(WHEN_UNLIMITED);
    if wanted <= soft {
        return soft;
    }
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(error) => {
            tracing::debug!(%error, soft, wanted, "cannot raise the limit of open files");
            soft
        }
    }
}

/// Where there is no such limit.
#[cfg(not(unix))]
pub(super) fn raise_limit() -> u64 {
    u64::MAX
}
