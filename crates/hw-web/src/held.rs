//! The workspace that is shown. Where it is may become clear only when a pull has made it.

use std::sync::{Arc, OnceLock};

use hw_store::{SearchEngine, Store, Workspace};

use crate::problem::Problem;

/// Finds the workspace, or says why there is none.
pub type Find = Arc<dyn Fn() -> Result<Workspace, String> + Send + Sync>;

/// Clones share what was found.
#[derive(Clone)]
pub(crate) struct Held {
    find: Find,
    /// From the first time on that there is a database, it stays with this workspace.
    open: Arc<OnceLock<(Workspace, SearchEngine)>>,
}

impl Held {
    pub(crate) fn new(find: Find) -> Self {
        Self { find, open: Arc::default() }
    }

    /// The store, asked for each time: the workspace notices when its file was replaced.
    pub(crate) fn store(&self) -> Result<Store, Problem> {
        Ok(self.open()?.0.store()?)
    }

    pub(crate) fn engine(&self) -> Result<&SearchEngine, Problem> {
        Ok(&self.open()?.1)
    }

    fn open(&self) -> Result<&(Workspace, SearchEngine), Problem> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let workspace = (self.find)().map_err(Problem::NotFound)?;
        drop(workspace.store()?);
        let engine = SearchEngine::over(workspace.clone());
        Ok(self.open.get_or_init(|| (workspace, engine)))
    }
}
