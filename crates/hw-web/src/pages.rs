//! The pages of the site, one module each.

pub(crate) mod health;
pub(crate) mod posts;
pub(crate) mod search;
pub(crate) mod thread;
pub(crate) mod trending;
pub(crate) mod watches;
