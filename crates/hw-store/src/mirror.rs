//! The texts of the mirror: only present items, under the current name of their repository.

pub(crate) mod comments;
pub(crate) mod repositories;
pub(crate) mod repository_names;
pub(crate) mod threads;
pub(crate) mod tombstones;
