//! The workspace that a server serves. It may not exist until a pull creates it.

use std::sync::{Arc, OnceLock};

use crate::engine::SearchEngine;
use crate::error::StoreError;
use crate::{DecisionWriter, StoreReader, Workspace};

/// Finds the workspace, or returns the reason why it cannot be determined.
type FindWorkspaceFn = dyn Fn() -> Result<Workspace, String> + Send + Sync;

/// The workspace of a server, found and opened on first use. Clones share it.
#[derive(Clone)]
pub struct WorkspaceHandle {
    find: Arc<FindWorkspaceFn>,
    /// Set once a database exists; from then on the server stays with this workspace.
    opened: Arc<OnceLock<SearchableWorkspace>>,
}

struct SearchableWorkspace {
    workspace: Workspace,
    engine: SearchEngine,
}

/// The workspace of a server could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenWorkspaceError {
    /// It is not clear which workspace to open, for this reason.
    #[error("{0}")]
    Undetermined(String),
    /// The file at this location is something else.
    #[error("{0} is not a highwater database")]
    NotADatabase(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl WorkspaceHandle {
    /// Creates a handle to the workspace that `find` returns. Each use tries again until a database exists.
    pub fn new(find: impl Fn() -> Result<Workspace, String> + Send + Sync + 'static) -> Self {
        Self { find: Arc::new(find), opened: Arc::default() }
    }

    /// Opens the store. Callers do this for each request, because the workspace notices when its file was replaced.
    pub fn store(&self) -> Result<StoreReader, OpenWorkspaceError> {
        open_store(&self.get_or_open()?.workspace)
    }

    /// Opens the store for writing what a user decides.
    pub fn decisions(&self) -> Result<DecisionWriter, OpenWorkspaceError> {
        let workspace = &self.get_or_open()?.workspace;
        workspace.open_decisions().map_err(|error| name_location(error, workspace))
    }

    /// Returns the search engine of the workspace.
    pub fn search_engine(&self) -> Result<&SearchEngine, OpenWorkspaceError> {
        Ok(&self.get_or_open()?.engine)
    }

    fn get_or_open(&self) -> Result<&SearchableWorkspace, OpenWorkspaceError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let workspace = (self.find)().map_err(OpenWorkspaceError::Undetermined)?;
        drop(open_store(&workspace)?);
        let engine = SearchEngine::new(workspace.clone());
        Ok(self.opened.get_or_init(|| SearchableWorkspace { workspace, engine }))
    }
}

/// Opens the store; the error names a file that is not a database.
fn open_store(workspace: &Workspace) -> Result<StoreReader, OpenWorkspaceError> {
    workspace.open_store().map_err(|error| name_location(error, workspace))
}

fn name_location(error: StoreError, workspace: &Workspace) -> OpenWorkspaceError {
    if matches!(error, StoreError::NotADatabase) {
        OpenWorkspaceError::NotADatabase(workspace.display_name())
    } else {
        error.into()
    }
}
