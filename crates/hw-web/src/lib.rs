//! Serves a workspace as web pages to a browser on this machine.
//!
//! Pages show the stored texts and how fresh they are. The crate never contacts a source and never writes, and its
//! pages load nothing from other hosts: every file they need is embedded in the program. Callers pass in the clock.

mod allowed_hosts;
mod app_state;
mod assets;
mod change_watcher;
mod excerpt;
mod filter_chips;
mod format;
mod freshness_banner;
mod guard;
mod markdown;
mod page_error;
mod page_frame;
mod pages;
mod post_view;
mod query_params;
mod sse;
mod thread_links;
mod title;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

pub use allowed_hosts::AllowedHosts;
pub use app_state::SiteOptions;
pub use change_watcher::{TickFuture, TickerFn};

use app_state::AppState;

/// Builds the router of all pages and files, wrapped in the request guard.
pub fn build_router(site: SiteOptions) -> Router {
    let state = Arc::new(AppState::new(site));
    Router::new()
        .route("/", get(pages::search::show_search))
        .route("/search", get(pages::search::show_results))
        .route("/threads/{owner}/{repository}/{number}", get(pages::thread::show_thread))
        .route("/posts", get(pages::posts::show_posts))
        .route("/trending", get(pages::trending::show_trending))
        .route("/watches", get(pages::watches::show_watches))
        .route("/health", get(pages::health::show_health))
        .route("/events", get(sse::stream_changes))
        .route("/assets/{*name}", get(assets::serve_asset))
        .route("/favicon.ico", get(assets::serve_favicon))
        .fallback(page_error::show_not_found)
        .layer(from_fn_with_state(Arc::clone(&state), guard::guard_request))
        .with_state(state)
}
