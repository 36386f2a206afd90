//! highwater: keeps a local, searchable copy of what people say, and never loses a word.
//!
//! This is the only place that reads arguments, environment and files, and that prints.

mod address;
mod advice;
mod cli;
mod columns;
mod commands;
mod config;
mod console;
mod core_dumps;
mod http_server;
mod interrupt;
mod listening;
mod logs;
mod markdown;
mod names;
mod private;
mod progress;
mod proxy;
mod removed_ref;
mod report;
mod sheet;
mod summary;
mod terminal;
mod token;
mod web;
mod workspace;

use std::process::ExitCode;

use clap::Parser as _;
use config::{Environment, LogSettings, Resolved};
use secrecy::ExposeSecret as _;

/// Parses, resolves, runs, reports.
fn main() -> ExitCode {
    core_dumps::forbid();
    terminal::end_with_a_report();
    let environment = Environment::read();
    terminal::hide(|mask| environment.tokens().for_each(|token| mask.hide_token(token)));
    let cli = match cli::Cli::try_parse_from(cli::arguments(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return report::unparsed(&error),
    };
    let resolved = Resolved::new(&cli.flags(), &environment);
    hide_secrets(&resolved);
    resolved.warnings.iter().for_each(|warning| terminal::warn(warning));
    let folder = commands::logs_folder(&cli, &resolved);
    logs::begin(&LogSettings::of(&resolved), commands::told_otherwise(&cli), folder);
    report::exit(commands::run(cli, &resolved, &environment))
}

/// Nothing that is resolved is shown by accident from here on.
fn hide_secrets(resolved: &Resolved) {
    terminal::hide(|mask| {
        resolved.tokens.iter().for_each(|token| mask.hide_token(token.expose_secret()));
        for secret in resolved.proxies.iter().filter_map(|it| proxy::secret(it.expose_secret())) {
            mask.hide_password(secret);
            mask.hide_password(&config::decoded(secret));
        }
        for database in &resolved.databases {
            for password in config::passwords(database.expose_secret()) {
                mask.hide_password(password);
                mask.hide_password(&config::decoded(password));
                // in `password='it\'s'` the backslash belongs to the quoting
                mask.hide_password(&password.replace('\\', ""));
            }
        }
    });
}
