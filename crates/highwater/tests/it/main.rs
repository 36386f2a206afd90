//! Tests of the program as a person meets it, and of the tree it is built from.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may stop where it stands, and may read its own environment"
)]

// One module a subject: a new one goes here, in the order of the alphabet.
mod cli;
mod docs;
mod journey;
mod tidy;
