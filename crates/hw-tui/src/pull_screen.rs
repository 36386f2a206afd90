//! Draws the pull screen: a frame that shows the progress of a pull.
//!
//! [`ScreenState`] folds progress events and log lines, [`draw_frame`] draws the state as cells, and [`encode_rows`]
//! encodes the cells for a terminal. The time is an argument throughout.

mod activity_log;
mod ansi;
mod frame;
mod item_progress;
mod messages;
mod screen_state;
mod spinner;

#[cfg(test)]
mod svg_snapshot;
#[cfg(test)]
mod tests;

pub use activity_log::MessageTone;
pub use ansi::{ColorMode, encode_rows};
pub use frame::draw_frame;
pub use screen_state::{PullEnding, ScreenState};

/// The width of the narrowest terminal that the screen is designed for.
pub const MIN_COLUMNS: u16 = 64;
