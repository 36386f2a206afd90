//! Raises the limit of open files, because each connection is one.

/// Raises the soft limit to the hard one, and returns the limit in effect.
///
/// Shells often start programs with a soft limit of 1,024, or of 256 on macOS, for programs that use `select`.
#[cfg(unix)]
pub(super) fn raise_limit() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    /// macOS reports an infinite hard limit, but refuses any soft limit above this one.
    const WHEN_UNLIMITED: u64 = 10_240;
    let limit = getrlimit(Resource::Nofile);
    let Some(soft) = limit.current else { return u64::MAX };
    let target = limit.maximum.unwrap_or(WHEN_UNLIMITED);
    if target <= soft {
        return soft;
    }
    let raised = Rlimit { current: Some(target), maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => target,
        Err(error) => {
            tracing::debug!(%error, soft, target, "cannot raise the limit of open files");
            soft
        }
    }
}

/// Returns the maximum, because there is no such limit.
#[cfg(not(unix))]
pub(super) fn raise_limit() -> u64 {
    u64::MAX
}
