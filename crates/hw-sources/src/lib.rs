//! The clients of the sources: requests out, observations in.
//!
//! A client remembers nothing and cannot see the store. Bytes become observations here, each with the
//! `seen` of the answer that carried it; every signal that the source gives about limits and trouble is
//! told apart here. Nobody waits here: the gate says until when, its caller waits.

pub mod gate;
pub mod github;
pub mod http;
pub mod json;
pub mod page;
pub mod raw_json;
mod token_mask;
pub mod transport;
pub mod trouble;
