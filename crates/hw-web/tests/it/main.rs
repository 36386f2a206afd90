//! Tests the pages without a socket, parsed as a browser would.

#![expect(clippy::unwrap_used, reason = "a failed step fails the test")]

mod bounds;
mod browser;
mod fixture;
mod guard;
mod hostile_input;
mod markdown_samples;
mod pages;
mod post_fixture;
mod posts;
mod queries;
mod sse;
mod watches;
