//! Views: one question a file, with its statement, its row and its answer.

pub(crate) mod after;
pub(crate) mod behind;
mod cell;
pub(crate) mod changes;
pub(crate) mod comments;
pub(crate) mod counts;
mod future_items;
pub(crate) mod health;
pub(crate) mod item_names;
pub(crate) mod items;
pub(crate) mod lane_names;
pub(crate) mod meant;
mod pages;
pub(crate) mod pulls;
pub(crate) mod repositories;
pub(crate) mod skipped;
mod stored_threads;
pub(crate) mod thread;
pub(crate) mod thread_outline;
pub(crate) mod threads;
pub(crate) mod viewers;
pub(crate) mod wishes;
