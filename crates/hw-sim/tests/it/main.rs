//! System tests: all of highwater against the simulated world, on virtual time.
//!
//! Expectations come from the world, never from our own rules. A failing test prints its seed.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod altered_answers;
mod bluesky;
mod chores;
mod closing_references;
mod comments;
mod converge;
mod database_outages;
mod followed_sources;
mod harness;
mod http_client;

mod progress_events;
#[expect(dead_code, reason = "the store's own tests use all of it")]
#[path = "../../../hw-store/tests/it/proxy.rs"]
mod proxy;
mod pull_costs;
mod pull_selection;
mod query_costs;
mod rate_limits;
mod reconcile;
mod removals;
mod repairs;
mod repository_departures;
mod service;
mod shared_workspace;
mod sweeps;
mod unreadable_items;
mod walks;
mod watched_threads;
mod writes;
mod wrong_answers;
