//! Disables core dumps, because the memory of this process contains a token.

/// Disables core dumps of this process and its children, where the system supports it.
///
/// On Linux this also keeps out debuggers of the same user, which could read the token from memory or from the
/// environment, and prevents dumps that are piped to a program, which no limit stops.
#[cfg(unix)]
pub(crate) fn forbid() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let zero = Rlimit { current: Some(0), maximum: Some(0) };
    // lowering a limit always succeeds, and a possible dump is no reason to fail at startup
    setrlimit(Resource::Core, zero).ok();
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).ok();
}

#[cfg(not(unix))]
pub(crate) fn forbid() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

    use super::*;

    #[test]
    fn core_dumps_are_forbidden_to_the_process() {
        forbid();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
    }
}
