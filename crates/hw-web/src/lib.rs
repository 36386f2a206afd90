//! The web face of highwater: pages over a workspace, for a browser on this machine.
//!
//! It shows what the store holds and how fresh that is. It never asks a source, never writes, and never has a
//! browser ask anybody else: every file that a page needs is in the program. Time comes in by argument.

mod asked;
mod assets;
mod behind;
mod chips;
mod events;
mod fold;
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
mod thread_links;
mod title;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

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
