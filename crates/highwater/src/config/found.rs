//! A value as it was found, and where.

use std::fmt;
use std::path::PathBuf;

use super::keys::Key;
use super::problem::Problem;

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Flag,
    Environment,
    /// A line of one of the two files.
    Line {
        file: PathBuf,
        line: usize,
    },
    /// What `gh auth token` said.
    Gh,
    /// What the current folder's `origin` is.
    Git,
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment => f.write_str("environment"),
            Self::Line { file, line } => {
                let name = file.file_name().unwrap_or(file.as_os_str());
                write!(f, "{}:{line}", name.display())
            }
            Self::Gh => f.write_str("gh auth token"),
            Self::Git => f.write_str("git remote origin"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value as text, which fits its key.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) text: String,
    pub(crate) origin: Origin,
}

/// What one place says.
#[derive(Default)]
pub(super) struct Layer {
    pub(super) found: Vec<(&'static Key, Found)>,
    pub(super) problems: Vec<Problem>,
}
