//! `/events`: tells a page that what it shows may have changed.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::Stream;
use futures_util::stream::unfold;
use tokio::sync::watch;

use crate::asked::Asked;
use crate::pulse::Pulse;
use crate::site::{Closing, Shared};

/// A proxy, or a laptop that slept, is noticed by then.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How many ticks a page is left alone after it was told: a pull changes something all the time.
const REST: u32 = 2;

pub(crate) async fn events(
    State(site): State<Arc<Shared>>,
    asked: Asked,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    // what the page shows already
    let since = asked.get("since").and_then(|since| since.parse().ok());
    let heard = site.pulse.listen();
    let (pulse, closing) = (Arc::clone(&site.pulse), site.closing.clone());
    let listener = Listener { heard, pulse, closing, known: since, is_tired: false };
    let told = unfold(listener, |mut listener| async move {
        let now = listener.next().await?;
        let event = Event::default().event("changed").id(now.to_string()).data(now.to_string());
        Some((Ok(event), listener))
    });
    Sse::new(told).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// One open page.
struct Listener {
    heard: watch::Receiver<Option<i64>>,
    pulse: Arc<Pulse>,
    closing: Closing,
    known: Option<i64>,
    is_tired: bool,
}

impl Listener {
    /// The next number that the page does not know; none when it is over.
    async fn next(&mut self) -> Option<i64> {
        let Self { heard, pulse, closing, known, is_tired } = self;
        let news = async {
            if *is_tired {
                pulse.rest(REST).await;
            }
            let is_new = |now: &Option<i64>| now.is_some() && (*now != *known);
            heard.wait_for(is_new).await.ok().and_then(|now| *now)
        };
        let now = tokio::select! {
            () = closing.closed() => None,
            now = news => now,
        };
        (*known, *is_tired) = (now, true);
        now
    }
}
