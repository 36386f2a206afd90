//! The values that one source of settings provides, with their origins.

use std::fmt;
use std::path::PathBuf;

use super::keys::SettingKey;
use super::problem::SettingProblem;

/// The origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    Flag,
    Environment,
    /// A line of one of the two files.
    FileLine {
        file: PathBuf,
        line: usize,
    },
    /// The output of `gh auth token`.
    Gh,
    /// The `origin` remote of the git repository in the current folder.
    Git,
    Default,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment => f.write_str("environment"),
            Self::FileLine { file, line } => {
                let name = file.file_name().unwrap_or(file.as_os_str());
                write!(f, "{}:{line}", name.display())
            }
            Self::Gh => f.write_str("gh auth token"),
            Self::Git => f.write_str("git remote origin"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// The text of a value, and its origin.
#[derive(Clone)]
pub(crate) struct SettingValue {
    pub(crate) text: String,
    pub(crate) origin: SettingOrigin,
}

/// The settings from one source, such as the environment or a file.
#[derive(Default)]
pub(super) struct SettingLayer {
    pub(super) values: Vec<(&'static SettingKey, SettingValue)>,
    pub(super) problems: Vec<SettingProblem>,
}
