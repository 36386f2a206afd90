//! Watches the workspace for changes: one poller serves all subscribers, and none runs without subscribers.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use hw_store::WorkspaceHandle;
use tokio::sync::watch;

/// Resolves when the next poll is due.
pub type TickFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Creates the wait until the next poll.
pub type TickerFn = Arc<dyn Fn() -> TickFuture + Send + Sync>;

/// Change number of a workspace whose database is missing or fails.
const NO_DATABASE: i64 = -1;

pub(crate) struct ChangeWatcher {
    workspace: WorkspaceHandle,
    ticker: TickerFn,
    change_sender: watch::Sender<Option<i64>>,
    is_polling: Mutex<bool>,
}

impl ChangeWatcher {
    pub(crate) fn new(workspace: WorkspaceHandle, ticker: TickerFn) -> Self {
        let change_sender = watch::Sender::new(None);
        Self { workspace, ticker, change_sender, is_polling: Mutex::new(false) }
    }

    /// Returns the workspace's current change number, which moves when the content of pages may have changed.
    pub(crate) fn read_change_number(workspace: &WorkspaceHandle) -> i64 {
        workspace.store().ok().and_then(|store| store.change_counter().ok()).unwrap_or(NO_DATABASE)
    }

    /// Subscribes to the change number; polling continues as long as a receiver exists.
    pub(crate) fn subscribe(self: &Arc<Self>) -> watch::Receiver<Option<i64>> {
        let mut is_polling = self.is_polling.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = self.change_sender.subscribe();
        if !*is_polling {
            *is_polling = true;
            // the number may have moved since the last subscriber left
            self.change_sender.send_replace(None);
            tokio::spawn(Arc::clone(self).poll_changes());
        }
        receiver
    }

    /// Waits for a number of ticks.
    pub(crate) async fn wait_ticks(&self, ticks: u32) {
        for _ in 0..ticks {
            (self.ticker)().await;
        }
    }

    async fn poll_changes(self: Arc<Self>) {
        while !self.stop_if_unused() {
            let workspace = self.workspace.clone();
            let now =
                tokio::task::spawn_blocking(move || Self::read_change_number(&workspace)).await;
            let now = Some(now.unwrap_or(NO_DATABASE));
            self.change_sender.send_if_modified(|last| std::mem::replace(last, now) != now);
            (self.ticker)().await;
        }
    }

    /// Stops polling if there are no subscribers, so that the next one restarts it. Returns true if it stopped.
    fn stop_if_unused(&self) -> bool {
        let mut is_polling = self.is_polling.lock().unwrap_or_else(PoisonError::into_inner);
        *is_polling = self.change_sender.receiver_count() > 0;
        !*is_polling
    }
}
