//! State that all pages share: the workspace, the allowed hosts, the clock and the shutdown signal.

use std::sync::Arc;

use hw_store::{StoreError, StoreReader, WorkspaceHandle};
use tokio_util::sync::CancellationToken;

use crate::allowed_hosts::AllowedHosts;
use crate::change_watcher::{ChangeWatcher, TickerFn};
use crate::page_error::PageError;

/// Options for serving a site.
pub struct SiteOptions {
    pub workspace: WorkspaceHandle,
    pub hosts: AllowedHosts,
    /// The name of the machine, whose clock `now_ms` reads.
    pub machine: String,
    /// Returns the machine's time in Unix milliseconds.
    pub now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// Sets the interval at which the workspace is polled for changes while a page is subscribed.
    pub ticker: TickerFn,
    /// Ends all event streams.
    pub shutdown: CancellationToken,
}

/// The state that handlers receive.
pub(crate) struct AppState {
    pub(crate) workspace: WorkspaceHandle,
    pub(crate) hosts: AllowedHosts,
    pub(crate) machine: String,
    pub(crate) now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub(crate) watcher: Arc<ChangeWatcher>,
    pub(crate) shutdown: CancellationToken,
}

impl AppState {
    pub(crate) fn new(site: SiteOptions) -> Self {
        let SiteOptions { workspace, hosts, machine, now_ms, ticker, shutdown } = site;
        let watcher = Arc::new(ChangeWatcher::new(workspace.clone(), ticker));
        Self { workspace, hosts, machine, now_ms, watcher, shutdown }
    }

    /// Runs a query against the store on a thread that may block.
    pub(crate) async fn query_store<T: Send + 'static>(
        &self,
        query: impl FnOnce(&StoreReader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, PageError> {
        let workspace = self.workspace.clone();
        run_blocking(move || Ok(query(&workspace.store()?)?)).await
    }
}

/// Runs blocking work on a thread of its own, so that it does not delay other requests.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(PageError::Internal))
}
