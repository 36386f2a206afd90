//! The location of the demo's workspace.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::cli::DemoArgs;
use crate::workspace;

pub(super) enum DemoHome {
    Temporary(tempfile::TempDir),
    Chosen(PathBuf),
}

impl DemoHome {
    pub(super) fn from_args(args: &DemoArgs) -> anyhow::Result<Self> {
        match &args.home {
            Some(home) => {
                workspace::refuse_file_as_home(home, "set --home to a directory")?;
                Ok(Self::Chosen(home.clone()))
            }
            None => {
                let folder = tempfile::Builder::new().prefix("highwater-demo-").tempdir();
                Ok(Self::Temporary(folder.context("cannot create a temporary directory")?))
            }
        }
    }

    pub(super) fn database_path(&self, organization: &str) -> PathBuf {
        let home = match self {
            Self::Temporary(folder) => folder.path(),
            Self::Chosen(home) => home,
        };
        workspace::database_path(home, organization)
    }

    /// Returns true if the workspace is removed when the demo ends.
    pub(super) fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary(_))
    }
}
