//! The system's tests: the whole of highwater against the simulated world, on virtual time.
//!
//! What is expected comes from the world, never from our own rules. A failing seed prints its number.

#![expect(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod choices;
mod comments;
mod converge;
mod costs;
mod departures;
mod harness;
mod http;
mod lies;
mod limits;
mod misheard;
mod news;
mod outages;
mod owners;
mod prices;
#[expect(dead_code, reason = "the store's own tests use all of it")]
#[path = "../../../hw-store/tests/it/proxy.rs"]
mod proxy;
mod readings;
mod reconcile;
mod removals;
mod repairs;
mod sweeps;
mod walks;
