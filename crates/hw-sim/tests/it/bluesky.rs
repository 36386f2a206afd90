//! Readers of feeds against the simulated AppView.

mod converge;
mod feed_check;
mod poll_fixture;
mod polls;
mod reference_poller;
mod saved_cursor;
mod transport;
