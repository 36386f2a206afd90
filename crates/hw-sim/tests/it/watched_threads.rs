//! Watched threads: what a poll costs, and that everything said in them becomes an event once.

mod convergence;
mod costs;
mod deliveries;
mod departures;
mod watch_fixture;
