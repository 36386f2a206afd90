//! The pages, asked for without a socket, and looked at as a browser would.

#![expect(clippy::unwrap_used, reason = "a story that goes wrong ends there")]

mod bounds;
mod browser;
mod events;
mod guard;
mod hostile;
mod pages;
mod queries;
mod shapes;
mod world;
