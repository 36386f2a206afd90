//! What all pages share: the workspace, who may ask, the clock, and the end.

use std::sync::Arc;

use hw_store::{Error, Store};
use tokio::sync::watch;

use crate::held::{Find, Held};
use crate::hosts::Hosts;
use crate::problem::Problem;
use crate::pulse::{Pulse, Ticker};

/// What is served, and to whom.
pub struct Site {
    pub find: Find,
    pub hosts: Hosts,
    /// The machine's time in unix milliseconds.
    pub now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    /// The rhythm in which it is asked whether anything changed, while somebody listens.
    pub ticker: Ticker,
    /// When streams are to end.
    pub closing: Closing,
}

/// Tells that the end has come: whoever made it has dropped its other half.
#[derive(Clone)]
pub struct Closing(watch::Receiver<()>);

/// A promise of an end: dropping the first ends the second.
pub fn closing() -> (watch::Sender<()>, Closing) {
    let (close, closing) = watch::channel(());
    (close, Closing(closing))
}

impl Closing {
    /// Waits for the end.
    pub(crate) async fn closed(&mut self) {
        while self.0.changed().await.is_ok() {}
    }
}

/// A site at work.
pub(crate) struct Shared {
    pub(crate) held: Held,
    pub(crate) hosts: Hosts,
    pub(crate) now_ms: Arc<dyn Fn() -> i64 + Send + Sync>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) closing: Closing,
}

impl Shared {
    pub(crate) fn of(site: Site) -> Self {
        let Site { find, hosts, now_ms, ticker, closing } = site;
        let held = Held::new(find);
        let pulse = Arc::new(Pulse::new(held.clone(), ticker));
        Self { held, hosts, now_ms, pulse, closing }
    }

    /// Asks the store something, on a thread that may wait.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Store) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let held = self.held.clone();
        aside(move || Ok(question(&held.store()?)?)).await
    }
}

/// Does what may wait where nobody else is kept waiting.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Problem::Ours))
}
