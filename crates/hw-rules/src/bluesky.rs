//! Bluesky: its accounts and records, what a feed's page means, and when a feed is read.

pub mod account_ref;
pub mod account_schedule;
pub mod account_state;
pub mod cid;
pub mod did;
pub mod feed_coverage;
pub mod feed_end;
pub mod handle;
pub mod identifier;
pub mod link_address;
pub mod links;
pub mod poll_lines;
pub mod poll_signs;
pub mod polling_settings;
pub mod post;
pub mod record_uri;
