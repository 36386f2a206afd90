//! The GitHub client: queries for both APIs, and readers for responses as the API really sends them.

pub mod closing_pull_requests;
pub mod closing_references;
pub mod comments;
pub mod graphql;
pub mod limits;
pub mod repositories;
pub mod rest;
pub mod since_lists;
pub mod source;
pub mod thread_by_number;
pub mod threads;
pub mod token_info;
pub mod viewer;
pub mod writes;

mod activity_row;
mod duplicate_ids;
mod lookup;
mod node;
mod request_headers;
mod thread_schema;

#[cfg(test)]
mod sample_responses;
