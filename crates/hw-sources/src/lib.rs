//! Clients of the sources: they build requests and turn responses into observations.
//!
//! A client remembers nothing and cannot see the store. Each observation carries the `observed_at` of its response.
//! This crate classifies every signal about limits and errors, but never waits: the limiter state computes the wait,
//! and its caller sleeps.

pub mod bluesky;
pub mod error;
pub mod github;
pub mod http_transport;
pub mod json_repair;
pub mod limiter_state;
mod minute_points;
pub mod page;
mod pause_table;
pub mod query;
pub mod raw_json;
mod request_headers;
mod response_headers;
pub mod response_meta;
pub mod source;
mod token_mask;
pub mod transport;
