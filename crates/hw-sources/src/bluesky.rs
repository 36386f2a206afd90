//! The Bluesky client: queries for the XRPC API, and readers for responses as servers really send them.

pub mod feed;
pub mod follows;
pub mod posts;
pub mod profiles;
pub mod resolve_handle;
pub mod session;
pub mod source;
pub mod xrpc;

mod post_view;
mod xrpc_error;

#[cfg(test)]
mod sample_responses;
