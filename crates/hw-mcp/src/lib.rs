//! Serves the mirror to language models over the Model Context Protocol.
//!
//! The crate only reads the store: it sends no requests and writes nothing. Pure functions (`item_template`,
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
pub use server::{McpServer, NowFn};
pub use stdio::{StdioError, serve_over_stdio};
pub use tools::Toolset;
