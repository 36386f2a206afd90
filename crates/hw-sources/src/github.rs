//! GitHub, as its API really behaves.

pub mod graphql;
pub mod issues;
pub mod limits;
pub mod repositories;
pub mod viewer;

mod node;
