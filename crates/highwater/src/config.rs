//! The environment, read once.

use std::path::PathBuf;

use secrecy::SecretString;

/// What the environment says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// `HIGHWATER_HOME`, else `~/.highwater`; none where there is no home at all.
    pub home: Option<PathBuf>,
    /// `HIGHWATER_LOG`: error, warn, info, debug or trace.
    pub log: Option<String>,
    /// `ORGANIZATION`
    pub organization: Option<String>,
    /// `GITHUB_TOKEN`
    pub token: Option<SecretString>,
    /// `EXCLUDED_REPOSITORIES`, comma separated.
    pub excluded_repositories: Option<String>,
    /// `GITHUB_API_URL`
    pub api_url: Option<String>,
    /// `GITHUB_GRAPHQL_URL`
    pub graphql_url: Option<String>,
    /// `TERM`: what the terminal calls itself.
    pub terminal: Option<String>,
    /// `NO_COLOR`, whatever it says.
    pub no_color: bool,
}

impl Settings {
    #[expect(clippy::disallowed_methods, reason = "this is the place that reads the environment")]
    pub(crate) fn from_environment() -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let text = |name: &str| set(name).map(|value| value.to_string_lossy().into_owned());
        let home = set("HIGHWATER_HOME").map(PathBuf::from);
        let default = || Some(PathBuf::from(set("HOME")?).join(".highwater"));
        Self {
            home: home.or_else(default),
            log: text("HIGHWATER_LOG"),
            organization: text("ORGANIZATION"),
            token: text("GITHUB_TOKEN").map(SecretString::from),
            excluded_repositories: text("EXCLUDED_REPOSITORIES"),
            api_url: text("GITHUB_API_URL"),
            graphql_url: text("GITHUB_GRAPHQL_URL"),
            terminal: text("TERM"),
            no_color: set("NO_COLOR").is_some(),
        }
    }
}

/// The machine's name, for those who ask who is at work; none where it cannot be read.
pub(crate) fn machine() -> Option<String> {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let names = files.iter().filter_map(|file| std::fs::read_to_string(file).ok());
    names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty())
}
