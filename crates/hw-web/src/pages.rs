//! One file a page.

pub(crate) mod health;
pub(crate) mod search;
pub(crate) mod thread;
