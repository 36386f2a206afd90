//! Where a tool reads: the workspace, which may not be there yet, and the one search engine.

use std::error::Error as _;

use hw_store::{Error, SearchEngine, Store, Workspace};

use crate::arguments::Refusal;

#[derive(Clone)]
pub(crate) struct Desk {
    workspace: Workspace,
    pub(crate) engine: SearchEngine,
}

impl Desk {
    pub(crate) fn new(workspace: Workspace) -> Self {
        Self { engine: SearchEngine::over(workspace.clone()), workspace }
    }

    /// The store, from the first call on that finds one.
    pub(crate) fn store(&self) -> Result<Store, Refusal> {
        Ok(self.workspace.store()?)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        if let Error::NoDatabase(place) = &error {
            return Self(format!(
                "nothing was pulled into this workspace yet: there is no database at {place}. Run `highwater pull \
                 -o ORGANISATION` with the same --home or --database, then call again; this server need not be \
                 started anew."
            ));
        }
        let mut told = format!("the workspace cannot be read: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            told.push_str(&format!("; {error}"));
            cause = error.source();
        }
        Self(format!("{told}. `highwater doctor store` says what to do."))
    }
}
