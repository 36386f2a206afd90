//! Tests of the program as a person meets it, and of the tree it is built from.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test may stop where it stands, may read its own environment, and may say its seed"
)]

// One module a subject: a new one goes here, in the order of the alphabet.
mod beside;
mod broken;
mod cli;
mod comments;
mod config;
mod console;
mod damage;
mod docs;
mod doctor;
mod echoes;
mod export;
mod honest;
mod house;
mod init;
mod journey;
mod judge;
mod kills;
mod lists;
mod logs;
mod mcp;
mod nasty;
mod owners;
mod proxy;
mod pull;
mod refusals;
mod removed;
mod running;
mod search;
#[cfg(target_os = "linux")]
mod servers;
mod shells;
mod show;
mod stopping;
mod terminal;
mod tidy;
mod tls;
mod tokens;
mod web;
mod workspaces;
