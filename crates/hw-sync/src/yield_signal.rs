//! Asks the reading of a repository to stop between two requests, because something more important needs its duty.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Raised when a reading has to give way. What it has stored stays, and it continues from there later.
#[derive(Debug, Default)]
pub(crate) struct YieldSignal {
    is_raised: AtomicBool,
    raised: Notify,
}

impl YieldSignal {
    pub(crate) fn raise(&self) {
        self.is_raised.store(true, Ordering::SeqCst);
        self.raised.notify_waiters();
    }

    pub(crate) fn lower(&self) {
        self.is_raised.store(false, Ordering::SeqCst);
    }

    /// Waits until it is raised.
    pub(crate) async fn wait(&self) {
        loop {
            let raised = self.raised.notified();
            if self.is_raised.load(Ordering::SeqCst) {
                return;
            }
            raised.await;
        }
    }
}
