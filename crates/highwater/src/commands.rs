//! The commands, one file each. `run` of each executes it.

mod backup;
mod bluesky;
mod completions;
mod config;
mod demo;
mod doctor;
mod events;
mod export;
mod init;
mod list;
mod man;
mod mcp;
mod pull;
mod read_command;
mod removed;
mod search;
mod service;
mod show;
mod sources;
mod ui;
mod watch;
mod workspaces;

use std::path::PathBuf;

use crate::cli::{Cli, CliCommand, ConfigCommand};
use crate::config::{Environment, ResolvedSettings};

pub(crate) fn run(
    cli: Cli,
    resolved: &ResolvedSettings,
    environment: &Environment,
) -> anyhow::Result<()> {
    match cli.command {
        CliCommand::Init(args) => init::run(&args, resolved, environment),
        CliCommand::Config(args) => {
            let ConfigCommand::Show(args) = args.command;
            config::run(&args, resolved)
        }
        CliCommand::Pull(args) => pull::run(&args, &resolved.to_settings()?),
        CliCommand::Service(args) => service::run(&args, &resolved.to_settings()?),
        CliCommand::List(args) => list::run(args.command, &resolved.to_settings()?),
        CliCommand::Search(args) => search::run(&args, &resolved.to_settings()?),
        CliCommand::Show(args) => show::run(&args, &resolved.to_settings()?),
        CliCommand::Removed(args) => removed::run(args.command, &resolved.to_settings()?),
        CliCommand::Export(args) => export::run(&args, &resolved.to_settings()?),
        CliCommand::Mcp(args) => mcp::run(args, &resolved.to_settings()?),
        CliCommand::Ui(args) => ui::run(&args, &resolved.to_settings()?),
        CliCommand::Demo(args) => resolved.to_settings().and_then(|_| demo::run(&args)),
        CliCommand::Doctor(args) => doctor::run(&args, &resolved.to_settings()?),
        CliCommand::Backup(args) => backup::run(&args, &resolved.to_settings()?),
        CliCommand::Bluesky(args) => bluesky::run(args.command, &resolved.to_settings()?),
        CliCommand::Watch(args) => watch::run(args.command, &resolved.to_settings()?),
        CliCommand::Events(args) => events::run(args.command, &resolved.to_settings()?),
        CliCommand::Sources(args) => sources::run(&args, &resolved.to_settings()?),
        CliCommand::Workspaces(args) => workspaces::run(&args, &resolved.to_settings()?),
        CliCommand::Completions(args) => completions::run(&args),
        CliCommand::Man(args) => man::run(&args),
    }
}

/// Returns the modules whose warnings the command prints itself, so that stderr does not repeat them.
pub(crate) fn quiet_log_targets(cli: &Cli) -> &'static [&'static str] {
    match &cli.command {
        CliCommand::Pull(args) if !args.json => &["hw_sync::rate_limiter", "hw_sync::schedule"],
        CliCommand::Pull(_)
        | CliCommand::Service(_)
        | CliCommand::List(_)
        | CliCommand::Search(_)
        | CliCommand::Show(_)
        | CliCommand::Removed(_)
        | CliCommand::Export(_)
        | CliCommand::Mcp(_)
        | CliCommand::Ui(_)
        | CliCommand::Doctor(_)
        | CliCommand::Backup(_)
        | CliCommand::Bluesky(_)
        | CliCommand::Watch(_)
        | CliCommand::Events(_)
        | CliCommand::Sources(_)
        | CliCommand::Workspaces(_)
        | CliCommand::Demo(_)
        | CliCommand::Init(_)
        | CliCommand::Config(_)
        | CliCommand::Completions(_)
        | CliCommand::Man(_) => &[],
    }
}

/// Returns the folder that a long-running command logs to, in addition to stderr.
pub(crate) fn log_folder(cli: &Cli, resolved: &ResolvedSettings) -> Option<PathBuf> {
    let home = resolved.home.as_ref()?;
    matches!(cli.command, CliCommand::Pull(_) | CliCommand::Service(_))
        .then(|| home.path.join("logs"))
}
