//! The terminal's face: what is shown there, as pure values.
//!
//! Nothing here fetches, asks for the time or writes to a terminal: news and times come in, rows of cells
//! go out, and the program prints them.

pub mod console;
pub mod words;
