//! Whether anything changed: one asker for all who listen, and none when nobody does.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::held::Held;

pub type Tick = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Gives the wait until the next look.
pub type Ticker = Arc<dyn Fn() -> Tick + Send + Sync>;

/// What a workspace without a database, or with one that fails, is said to be at.
const NOTHING: i64 = -1;

pub(crate) struct Pulse {
    held: Held,
    ticker: Ticker,
    told: watch::Sender<Option<i64>>,
    is_asking: Mutex<bool>,
}

impl Pulse {
    pub(crate) fn new(held: Held, ticker: Ticker) -> Self {
        let told = watch::Sender::new(None);
        Self { held, ticker, told, is_asking: Mutex::new(false) }
    }

    /// How far the workspace is now. It moves when what pages show may have changed.
    pub(crate) fn now(held: &Held) -> i64 {
        held.store().ok().and_then(|store| store.changes().ok()).unwrap_or(NOTHING)
    }

    /// Tells from now on how far the workspace is, and asks as long as somebody holds this.
    pub(crate) fn listen(self: &Arc<Self>) -> watch::Receiver<Option<i64>> {
        let mut is_asking = self.is_asking.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = self.told.subscribe();
        if !*is_asking {
            *is_asking = true;
            // what was true when the last one left may be long past
            self.told.send_replace(None);
            tokio::spawn(Arc::clone(self).ask());
        }
        heard
    }

    /// A few ticks, in which nobody is told.
    pub(crate) async fn rest(&self, ticks: u32) {
        for _ in 0..ticks {
            (self.ticker)().await;
        }
    }

    async fn ask(self: Arc<Self>) {
        while !self.is_alone() {
            let held = self.held.clone();
            let now = tokio::task::spawn_blocking(move || Self::now(&held)).await;
            let now = Some(now.unwrap_or(NOTHING));
            self.told.send_if_modified(|told| std::mem::replace(told, now) != now);
            (self.ticker)().await;
        }
    }

    /// Whether nobody listens; then the next who does starts anew.
    fn is_alone(&self) -> bool {
        let mut is_asking = self.is_asking.lock().unwrap_or_else(PoisonError::into_inner);
        *is_asking = 0 < self.told.receiver_count();
        !*is_asking
    }
}
