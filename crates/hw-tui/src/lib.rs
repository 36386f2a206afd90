//! Renders the terminal interface as pure values.
//!
//! Nothing here sends requests, reads a clock or writes to a terminal: events and times come in, rows of cells
//! go out, and the program prints them.

pub mod pull_screen;
mod text_width;
