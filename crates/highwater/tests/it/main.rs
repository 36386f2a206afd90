//! Tests of the program as a user runs it, and of the source tree.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test may panic, read its own environment, and print its seed"
)]

// One module per subject, in alphabetical order.
mod architecture_journey;
mod bench_page;
mod bluesky;
mod cli;
mod cli_docs;
mod comments;
mod config;
mod damaged_workspace;
mod doctor;
mod echoed_token;
mod event_fixture;
mod events;
mod export;
mod fixture;
mod hostile_posts;
mod incomplete_answers;
mod init;
mod killed_pull;
mod list;
mod logging;
mod mcp;
mod mcp_events;
mod mcp_posts;
mod mirror_assertions;
mod nasty_queries;
mod owners;
mod post_fixture;
mod posts;
mod proxy;
mod pseudo_terminal;
mod pull;
mod pull_process;
mod pull_screen;
mod refused_pull;
mod removed;
mod search;
mod search_during_pull;
#[cfg(target_os = "linux")]
mod server_load;
mod service;
mod shared_pull;
mod shell_and_man;
mod show;
mod show_post;
mod source_tree;
mod sources;
mod stopped_pull;
mod thread_order;
mod tls;
mod token_secrecy;
mod unusable_database;
mod watch;
mod web;
mod workspaces;
