//! A face for language models: the mirror over the Model Context Protocol.
//!
//! It reads the store and nothing else: no request leaves it, and nothing is written. What a tool says is made by
//! pure functions (`form`, `sheet`, `answer`, `prompt`) from rows that the store has given.

mod answer;
mod arguments;
mod desk;
mod form;
mod http;
mod listing;
mod missing_words;
mod prompt;
mod schema;
mod server;
mod sheet;
mod stdio;
mod tools;

pub use http::{Door, Listener, NotServed};
pub use server::Server;
pub use stdio::{Broken, over_stdio};
pub use tools::Toolset;
