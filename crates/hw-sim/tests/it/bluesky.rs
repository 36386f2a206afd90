//! Readers of feeds against the simulated AppView.

mod reference_poller;
mod saved_cursor;
mod transport;
