//! The web face of highwater: pages over a workspace, for a browser on this machine.
//!
//! It shows what the store holds and how fresh that is. It never asks a source, never writes, and never has a
//! browser ask anybody else: every file that a page needs is in the program. Time comes in by argument.

mod asked;
mod assets;
mod behind;
mod chips;
mod events;
mod guard;
mod held;
mod hosts;
mod markdown;
mod page;
mod pages;
mod problem;
mod pulse;
mod site;
mod texts;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

pub use held::Find;
pub use hosts::Hosts;
pub use pulse::{Tick, Ticker};
pub use site::{Closing, Site, closing};

use site::Shared;

/// Every page and file, behind the guard.
pub fn router(site: Site) -> Router {
    let shared = Arc::new(Shared::of(site));
    Router::new()
        .route("/", get(pages::search::page))
        .route("/search", get(pages::search::results))
        .route("/threads/{owner}/{repository}/{number}", get(pages::thread::page))
        .route("/health", get(pages::health::page))
        .route("/events", get(events::events))
        .route("/assets/{*name}", get(assets::file))
        .route("/favicon.ico", get(assets::favicon))
        .fallback(problem::unknown_page)
        .layer(from_fn_with_state(Arc::clone(&shared), guard::guard))
        .with_state(shared)
}

/// How many ticks the last answers may take after the end was said: about a second.
const LAST_TICKS: usize = 5;

/// Answers at a listener until `stop` says so: then streams end, what is being answered is finished, and it
/// returns. Whoever reads too slowly is not waited for.
pub async fn serve(
    listener: TcpListener,
    mut site: Site,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let (close, closing) = closing();
    site.closing = closing.clone();
    let late = late(closing, Arc::clone(&site.ticker));
    // an event is small, and worth sending at once
    let listener = listener.tap_io(|stream| {
        stream.set_nodelay(true).ok();
    });
    let stopped = async move {
        stop.await;
        drop(close);
    };
    let served = axum::serve(listener, router(site)).with_graceful_shutdown(stopped);
    tokio::select! {
        served = served.into_future() => served,
        () = late => Ok(()),
    }
}

/// Waits for the end, and a little longer.
async fn late(mut closing: Closing, ticker: Ticker) {
    closing.closed().await;
    for _ in 0..LAST_TICKS {
        ticker().await;
    }
}
