//! Invalid settings, described in one sentence each.

use std::fmt;

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
                format!("{}:{line}: {name}: {reason}", file.display())
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

    /// Creates the problem of a line that may name no setting.
    pub(super) fn in_line(origin: &SettingOrigin, name: Option<&str>, reason: &str) -> Self {
        match (name, origin) {
            (None, SettingOrigin::FileLine { file, line }) => Self {
                message: format!("{}:{line}: {reason}", file.display()),
                origin: origin.clone(),
            },
            (name, _) => Self::new(origin, name.unwrap_or("this line"), reason),
        }
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

    /// Combines all problems into one error, with a hint.
    pub(crate) fn combine_with_hint(problems: &[Self]) -> anyhow::Error {
        Self::combine_errors(problems).context(ErrorHint(
            "`highwater config show` shows the settings in effect and where each comes from".into(),
        ))
    }

    /// Combines all problems into one error.
    pub(crate) fn combine_errors(problems: &[Self]) -> anyhow::Error {
        let summary = match problems {
            [problem] => problem.message.clone(),
            several => format!("{} settings are invalid", several.len()),
        };
        let is_usage = problems.iter().any(|problem| problem.origin == SettingOrigin::Flag);
        let mut messages = problems.iter().rev().map(|problem| problem.message.clone());
        let last = anyhow::anyhow!(messages.next().unwrap_or_default());
        let error = messages.fold(last, anyhow::Error::context);
        if is_usage { error.context(UsageError(summary)) } else { error.context(summary) }
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
