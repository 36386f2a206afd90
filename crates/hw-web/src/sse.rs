//! `/events`: notifies a page that its content may have changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::app_state::AppState;
use crate::change_watcher::ChangeWatcher;
use crate::query_params::QueryParams;

/// Keeps idle streams open, and detects a dead proxy or a laptop that slept.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Ticks to wait after each notification, because a pull changes something all the time.
const REST_TICKS: u32 = 2;

pub(crate) async fn stream_changes(
    State(site): State<Arc<AppState>>,
    params: QueryParams,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let subscriber = ChangeSubscriber {
        changes: site.watcher.subscribe(),
        watcher: Arc::clone(&site.watcher),
        shutdown: site.shutdown.clone(),
        // the change number that the page already shows
        last_sent: params.get("since").and_then(|since| since.parse().ok()),
        is_throttled: false,
    };
    let events = unfold(subscriber, |mut subscriber| async move {
        let now = subscriber.next_change().await?;
        let event = Event::default().event("changed").id(now.to_string()).data(now.to_string());
        Some((Ok(event), subscriber))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// An open page.
struct ChangeSubscriber {
    changes: watch::Receiver<Option<i64>>,
    watcher: Arc<ChangeWatcher>,
    shutdown: CancellationToken,
    last_sent: Option<i64>,
    is_throttled: bool,
}

impl ChangeSubscriber {
    /// Waits for the next change number that the page does not have; returns none when the server shuts down.
    async fn next_change(&mut self) -> Option<i64> {
        let Self { changes, watcher, shutdown, last_sent, is_throttled } = self;
        let next = async {
            if *is_throttled {
                watcher.wait_ticks(REST_TICKS).await;
            }
            changes
                .wait_for(|now| now.is_some() && *now != *last_sent)
                .await
                .ok()
                .and_then(|now| *now)
        };
        let now = tokio::select! {
            () = shutdown.cancelled() => None,
            now = next => now,
        };
        (*last_sent, *is_throttled) = (now, true);
        now
    }
}
