//! Invalid settings, described in one sentence each.

use std::fmt;
use std::path::Path;

use super::DOTENV_FILE;
use super::layer::SettingOrigin;
use crate::report::{ErrorHint, UsageError};

/// An invalid setting, and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SettingProblem {
    pub(crate) message: String,
    pub(crate) origin: SettingOrigin,
}

impl SettingProblem {
    /// `name` is the flag, variable or key as the user wrote it.
    pub(super) fn new(origin: &SettingOrigin, name: &str, reason: &str) -> Self {
        let message = match origin {
            SettingOrigin::FileLine { file, line } => {
                return Self::in_line(file, *line, &format!("{name}: {reason}"));
            }
            SettingOrigin::Environment => format!("{name} in the environment: {reason}"),
            SettingOrigin::Flag
            | SettingOrigin::Gh
            | SettingOrigin::Git
            | SettingOrigin::Default => {
                format!("{name}: {reason}")
            }
        };
        Self { message, origin: origin.clone() }
    }

    /// Creates the problem of a line, which need not name a setting.
    pub(super) fn in_line(file: &Path, line: usize, reason: &str) -> Self {
        let message = format!("{}:{line}: {reason}", file.display());
        Self { message, origin: SettingOrigin::FileLine { file: file.to_owned(), line } }
    }

    /// Creates the problem of a file that exists and cannot be read.
    pub(super) fn unreadable_file(file: &Path, error: &std::io::Error) -> Self {
        let message = format!("{} cannot be read: {error}", file.display());
        Self { message, origin: SettingOrigin::FileLine { file: file.to_owned(), line: 1 } }
    }

    /// Orders problems by the precedence of their origins, and within a file by line.
    pub(super) fn sort_key(&self) -> OriginRank {
        match &self.origin {
            SettingOrigin::Flag => OriginRank::Flag,
            SettingOrigin::Environment => OriginRank::Environment,
            SettingOrigin::FileLine { file, line } if file.ends_with(DOTENV_FILE) => {
                OriginRank::Dotenv { line: *line }
            }
            SettingOrigin::FileLine { line, .. } => OriginRank::SettingsFile { line: *line },
            SettingOrigin::Gh | SettingOrigin::Git | SettingOrigin::Default => OriginRank::Other,
        }
    }

    /// Combines all problems into one error. A message that names a flag or a line of a file needs no hint.
    pub(crate) fn combine_with_hint(problems: &[Self]) -> anyhow::Error {
        let error = Self::combine_errors(problems);
        if problems.iter().all(Self::names_its_place) {
            return error;
        }
        error.context(ErrorHint(
            "`highwater config show` shows the settings in effect and where each comes from".into(),
        ))
    }

    fn names_its_place(&self) -> bool {
        matches!(self.origin, SettingOrigin::Flag | SettingOrigin::FileLine { .. })
    }

    /// Combines all problems into one error: the only one, or a list.
    pub(crate) fn combine_errors(problems: &[Self]) -> anyhow::Error {
        let message = match problems {
            [problem] => problem.message.clone(),
            several => {
                let lines = several.iter().map(|problem| format!("\n  {problem}"));
                format!("{} problems in the settings:{}", several.len(), lines.collect::<String>())
            }
        };
        let is_usage = problems.iter().any(|problem| problem.origin == SettingOrigin::Flag);
        if is_usage { UsageError(message).into() } else { anyhow::Error::msg(message) }
    }
}

/// The position of a problem among others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OriginRank {
    Flag,
    Environment,
    Dotenv { line: usize },
    SettingsFile { line: usize },
    Other,
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
