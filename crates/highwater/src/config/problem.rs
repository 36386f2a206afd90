//! What is wrong with the settings, in one sentence each.

use std::fmt;

use super::DOTENV;
use super::found::Origin;
use crate::report::{Hint, Usage};

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) told: String,
    pub(crate) origin: Origin,
}

impl Problem {
    /// `name` is what stands there: a flag, a variable, a key; the sentence goes on behind a colon.
    pub(super) fn new(origin: &Origin, name: &str, wrong: &str) -> Self {
        let told = match origin {
            Origin::Line { file, line } => format!("{}:{line}: {name}: {wrong}", file.display()),
            Origin::Environment => format!("{name} in the environment: {wrong}"),
            Origin::Flag | Origin::Gh | Origin::Git | Origin::Default => {
                format!("{name}: {wrong}")
            }
        };
        Self { told, origin: origin.clone() }
    }

    /// Where it stands among the others: the strongest place first, and within a file by line.
    pub(super) fn place(&self) -> (usize, usize) {
        match &self.origin {
            Origin::Flag => (0, 0),
            Origin::Environment => (1, 0),
            Origin::Line { file, line } if file.ends_with(DOTENV) => (2, *line),
            Origin::Line { line, .. } => (3, *line),
            Origin::Gh | Origin::Git | Origin::Default => (4, 0),
        }
    }

    /// All of them as one error.
    pub(crate) fn error(problems: &[Self]) -> anyhow::Error {
        let sentence = match problems {
            [one] => one.told.clone(),
            several => format!("{} settings are wrong", several.len()),
        };
        let is_usage = problems.iter().any(|problem| problem.origin == Origin::Flag);
        let mut told = problems.iter().rev().map(|problem| problem.told.clone());
        let last = anyhow::anyhow!(told.next().unwrap_or_default());
        let error = told.fold(last, anyhow::Error::context);
        let error = if is_usage { error.context(Usage(sentence)) } else { error.context(sentence) };
        error.context(Hint("`highwater config show` tells what is in force, and from where".into()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told)
    }
}
