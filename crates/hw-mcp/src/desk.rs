//! Where a tool reads: the workspace, which may not be there yet, and the one search engine.

use std::error::Error as _;
use std::sync::{Arc, OnceLock};

use hw_store::{Error, SearchEngine, Store, Workspace};

use crate::arguments::Refusal;

/// Finds the workspace, or says why there is none.
type Find = dyn Fn() -> Result<Workspace, String> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Desk {
    find: Arc<Find>,
    /// What was found; from then on it stays.
    open: Arc<OnceLock<Open>>,
}

struct Open {
    workspace: Workspace,
    engine: SearchEngine,
}

impl Desk {
    pub(crate) fn new(
        find: impl Fn() -> Result<Workspace, String> + Send + Sync + 'static,
    ) -> Self {
        Self { find: Arc::new(find), open: Arc::default() }
    }

    /// The store, from the first call on that finds one.
    pub(crate) fn store(&self) -> Result<Store, Refusal> {
        Ok(self.open()?.workspace.store()?)
    }

    pub(crate) fn engine(&self) -> Result<&SearchEngine, Refusal> {
        Ok(&self.open()?.engine)
    }

    /// Where a pull will put its database may become clear only when it is there.
    fn open(&self) -> Result<&Open, Refusal> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let workspace = (self.find)().map_err(Refusal)?;
        drop(workspace.store()?);
        let engine = SearchEngine::over(workspace.clone());
        Ok(self.open.get_or_init(|| Open { workspace, engine }))
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        if let Error::NoDatabase(place) = &error {
            return Self(format!(
                "Nothing was pulled into this workspace yet: there is no database at {place}. Run `highwater pull \
                 -o ORGANISATION` with the same --home or --database, then call again; this server need not be \
                 started anew."
            ));
        }
        let mut told = format!("The workspace cannot be read: {error}");
        let mut cause = error.source();
        while let Some(error) = cause {
            told.push_str(&format!("; {error}"));
            cause = error.source();
        }
        Self(format!("{told}. `highwater doctor store` says what to do."))
    }
}
