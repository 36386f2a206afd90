//! The mirror's texts: only what is present, under the name its repository has now.

pub(crate) mod comments;
pub(crate) mod names;
pub(crate) mod removal;
pub(crate) mod repositories;
pub(crate) mod threads;
