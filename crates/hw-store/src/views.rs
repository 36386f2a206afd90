//! Views: one question a file, with its statement, its row and its answer.

mod cell;
pub(crate) mod comments;
pub(crate) mod counts;
pub(crate) mod health;
pub(crate) mod repositories;
pub(crate) mod threads;
