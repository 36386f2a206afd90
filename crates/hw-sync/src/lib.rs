//! The only place where fetching and writing meet.
//!
//! It asks the rules what to do, a source for a page, and the store to keep what came together with how
//! far it got. Branches live in the rules; what is here is a straight line with waits.

pub mod checkup;
pub mod clock;
pub mod crash;
pub mod error;
pub mod fetch;
pub mod lease;
pub mod news;
pub mod remove_workspace;
pub mod restore;
pub mod run;

mod budget;
mod comments;
mod door;
mod follow;
mod gone;
mod list;
mod look;
mod outage;
mod patience;
mod repair;
mod retry;
mod run_removals;
mod scan;
mod share;
mod since;
mod source_time;
mod summary;
mod sweep;
mod talks;
mod turn;
mod wire;
mod work;

pub use error::Error;
pub use repair::Repair;
pub use summary::{Failure, Summary};
pub use turn::Tally;
