//! The only place where fetching and writing meet.
//!
//! It asks the rules what to do, a source for a page, and the store to keep what came together with how
//! far it got. Branches live in the rules; what is here is a straight line with waits.

pub mod clock;
pub mod crash;
pub mod error;
pub mod fetch;
pub mod lease;
pub mod run;
pub mod turn;

mod budget;
mod door;
mod list;
mod patience;
mod retry;
mod scan;
mod sweep;

pub use error::Error;
