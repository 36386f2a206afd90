//! Polls the feeds of Bluesky accounts: every new post, for few requests.
//!
//! Profiles, 25 a request, show which feeds moved; only those and the ones that are due are read. A feed is read from the
//! top, newest first, and each page is stored together with how far it got.

pub mod accounts;
pub mod client;
pub mod poll;

mod feed_read;
mod feed_turn;
mod profiles;
mod removals;
mod round;

pub use poll::{PollSpec, PollSummary, poll_accounts};
