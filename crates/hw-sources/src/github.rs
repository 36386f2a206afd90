//! GitHub, as its API really behaves.

pub mod graphql;
pub mod limits;
pub mod repositories;
pub mod threads;
pub mod user;
pub mod viewer;

mod listing;
mod node;

#[cfg(test)]
mod answers;
