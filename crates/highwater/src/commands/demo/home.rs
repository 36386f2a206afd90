//! Where the demo's workspace is.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::cli::Demo;
use crate::workspace;

pub(super) enum Home {
    Temporary(tempfile::TempDir),
    Chosen(PathBuf),
}

impl Home {
    pub(super) fn of(args: &Demo) -> anyhow::Result<Self> {
        match &args.home {
            Some(home) => Ok(Self::Chosen(home.clone())),
            None => {
                let folder = tempfile::Builder::new().prefix("highwater-demo-").tempdir();
                Ok(Self::Temporary(folder.context("cannot make a temporary folder")?))
            }
        }
    }

    pub(super) fn database(&self, organization: &str) -> PathBuf {
        let home = match self {
            Self::Temporary(folder) => folder.path(),
            Self::Chosen(home) => home,
        };
        workspace::file(home, organization)
    }

    /// Whether the workspace is removed when the demo ends.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }
}
