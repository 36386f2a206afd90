//! The pages of the site, one module each.

pub(crate) mod health;
pub(crate) mod search;
pub(crate) mod thread;
