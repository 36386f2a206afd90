//! The environment, read once.

use std::path::PathBuf;

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// `HIGHWATER_HOME`, else `~/.highwater`; none where there is no home at all.
    pub home: Option<PathBuf>,
    /// `HIGHWATER_LOG`: error, warn, info, debug or trace.
    pub log: Option<String>,
}

impl Settings {
    #[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
    pub(crate) fn from_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = set("HIGHWATER_HOME").map(PathBuf::from);
        let default = || Some(PathBuf::from(set("HOME")?).join(".highwater"));
        Self {
            home: home.or_else(default),
            log: set("HIGHWATER_LOG").map(|level| level.to_string_lossy().into_owned()),
        }
    }
}
