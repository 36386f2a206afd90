//! highwater: keeps a local, searchable copy of what people say, and never loses a word.
//!
//! This is the only place that reads arguments, environment and files, and that prints.

mod address;
mod cli;
mod commands;
mod config;
mod console;
mod interrupt;
mod names;
mod progress;
mod report;
mod summary;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

/// Parses, runs, reports.
fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let settings = config::Settings::from_environment();
    report::log_to_stderr(settings.log.as_deref(), commands::told_otherwise(&cli));
    report::exit(commands::run(cli, &settings))
}
