//! GitHub, as its API really behaves.

pub mod comments;
pub mod graphql;
pub mod limits;
pub mod receipt;
pub mod repositories;
pub mod rest;
pub mod threads;
pub mod user;
pub mod viewer;

mod headers;
mod listing;
mod look;
mod node;
mod twins;

#[cfg(test)]
mod answers;
