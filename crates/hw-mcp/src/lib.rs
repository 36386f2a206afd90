//! Serves the mirror to language models over the Model Context Protocol.
//!
//! The crate sends no requests. It reads the store, and writes one thing: how far a consumer of events has come, which its
//! user decides. Pure functions (`item_template`,
//! `bounded_text`, `tool_answer`, `prompt`) build the answers from stored rows.

mod arguments;
mod bounded_text;
mod http;
mod item_template;
mod list_tool;
mod missing_words;
mod prompt;
mod schema;
mod server;
mod stdio;
mod tool_answer;
mod tool_error;
mod tools;

pub use http::{HttpListener, HttpOptions, ListenError};
pub use server::{McpServer, NowFn, TokenFn};
pub use stdio::{StdioError, serve_over_stdio};
pub use tools::Toolset;
