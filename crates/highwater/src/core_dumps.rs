//! No core dumps: this process holds a token, and its memory would be written to a file.

/// Forbids core dumps of this process and of what it starts. Where the system does not know how, nothing happens.
///
/// On Linux the process is also closed to debuggers of the same user, who could read the token from its memory or its
/// environment. That covers dumps that go to a program instead of a file, which no limit stops.
#[cfg(unix)]
pub(crate) fn forbid() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let nothing = Rlimit { current: Some(0), maximum: Some(0) };
    // a lower limit is always granted, and a dump is an accident on top of another one: no reason to stop here
    setrlimit(Resource::Core, nothing).ok();
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
