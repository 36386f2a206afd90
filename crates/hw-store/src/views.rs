//! Views: one question a file, with its statement, its row and its answer.

pub(crate) mod after;
pub(crate) mod behind;
mod cell;
pub(crate) mod changes;
pub(crate) mod comments;
pub(crate) mod counts;
pub(crate) mod health;
pub(crate) mod meant;
mod pages;
pub(crate) mod pulls;
pub(crate) mod repositories;
pub(crate) mod thread;
pub(crate) mod threads;
pub(crate) mod viewers;
pub(crate) mod wishes;
