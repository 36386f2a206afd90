//! highwater: keeps a local, searchable copy of what people write on GitHub, and never loses a word.
//!
//! This crate alone reads arguments, the environment and files, and it alone prints.

mod api_endpoints;
mod cli;
mod columns;
mod commands;
mod config;
mod consumer_program;
mod core_dumps;
mod event_text;
mod github_names;
mod github_token;
mod hints;
mod http_server;
mod interrupt;
mod listen_address;
mod logging;
mod markdown;
mod post_text;
mod private_files;
mod progress;
mod proxy_url;
mod pull_report;
mod pull_screen;
mod removed_ref;
mod report;
mod row_writer;
mod show_target;
mod terminal;
mod web_server;
mod workspace;

use std::process::ExitCode;

use clap::Parser as _;
use config::{Environment, LogSettings, ResolvedSettings};
use secrecy::ExposeSecret as _;

/// Parses the arguments, resolves the settings, runs the command and reports its result.
fn main() -> ExitCode {
    core_dumps::forbid();
    terminal::install_panic_hook();
    let environment = Environment::read();
    terminal::update_mask(|mask| environment.tokens().for_each(|token| mask.hide_token(token)));
    let cli = match cli::Cli::try_parse_from(cli::prepare_arguments(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => return report::report_parse_error(&error),
    };
    let resolved = ResolvedSettings::new(&cli.flag_settings(), &environment);
    hide_secrets(&resolved);
    resolved.warnings.iter().for_each(|warning| terminal::print_warning(warning));
    let folder = commands::log_folder(&cli, &resolved);
    logging::init_logging(
        &LogSettings::from_resolved(&resolved),
        commands::quiet_log_targets(&cli),
        folder,
    );
    report::report_result(commands::run(cli, &resolved, &environment))
}

/// Adds every resolved secret to the mask, so that no later output can leak one.
fn hide_secrets(resolved: &ResolvedSettings) {
    terminal::update_mask(|mask| {
        resolved.tokens.iter().for_each(|token| mask.hide_token(token.expose_secret()));
        for secret in
            resolved.proxies.iter().filter_map(|url| proxy_url::find_secret(url.expose_secret()))
        {
            mask.hide_password(secret);
            mask.hide_password(&config::decode_percent(secret));
        }
        for database in &resolved.databases {
            for password in config::find_passwords(database.expose_secret()) {
                mask.hide_password(password);
                mask.hide_password(&config::decode_percent(password));
                // in `password='it\'s'` the backslash is part of the quoting
                mask.hide_password(&password.replace('\\', ""));
            }
        }
    });
}
