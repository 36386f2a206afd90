//! The pull console: a frame that shows what a pull does, drawn from what it tells.
//!
//! [`State`] folds news and log lines, [`draw`] makes cells of it, and [`paint`] bytes of those. The time
//! is an argument throughout.

mod activity;
mod draw;
mod item;
mod paint;
mod spinner;
mod state;
mod told;

#[cfg(test)]
mod picture;
#[cfg(test)]
mod tests;

pub use activity::Tone;
pub use draw::draw;
pub use paint::{Paint, paint};
pub use state::{Ending, State};

/// The narrowest terminal that it is meant for.
pub const NARROWEST: u16 = 64;
