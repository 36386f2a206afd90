//! One file a command: its `run` does what its arguments say.

mod backup;
mod completions;
mod config;
mod demo;
mod doctor;
mod export;
mod init;
mod list;
mod man;
mod mcp;
mod pull;
mod reading;
mod removed;
mod search;
mod show;
mod ui;
mod workspaces;

use std::path::PathBuf;

use crate::cli::{Cli, Command, Setting};
use crate::config::{Environment, Resolved};

pub(crate) fn run(cli: Cli, resolved: &Resolved, environment: &Environment) -> anyhow::Result<()> {
    match cli.command {
        Command::Init(args) => init::run(&args, resolved, environment),
        Command::Config(args) => {
            let Setting::Show(args) = args.what;
            config::run(&args, resolved)
        }
        Command::Pull(args) => pull::run(&args, &resolved.settings()?),
        Command::List(args) => list::run(args.what, &resolved.settings()?),
        Command::Search(args) => search::run(&args, &resolved.settings()?),
        Command::Show(args) => show::run(&args, &resolved.settings()?),
        Command::Removed(args) => removed::run(args.what, &resolved.settings()?),
        Command::Export(args) => export::run(&args, &resolved.settings()?),
        Command::Mcp(args) => mcp::run(args, &resolved.settings()?),
        Command::Ui(args) => ui::run(&args, &resolved.settings()?),
        Command::Demo(args) => resolved.settings().and_then(|_| demo::run(&args)),
        Command::Doctor(args) => doctor::run(&args, &resolved.settings()?),
        Command::Backup(args) => backup::run(&args, &resolved.settings()?),
        Command::Workspaces(args) => workspaces::run(&args, &resolved.settings()?),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

/// The modules whose warnings a command tells in its own words.
pub(crate) fn told_otherwise(cli: &Cli) -> &'static [&'static str] {
    match &cli.command {
        Command::Pull(args) if !args.json => &["hw_sync::door", "hw_sync::work"],
        Command::Pull(_)
        | Command::List(_)
        | Command::Search(_)
        | Command::Show(_)
        | Command::Removed(_)
        | Command::Export(_)
        | Command::Mcp(_)
        | Command::Ui(_)
        | Command::Doctor(_)
        | Command::Backup(_)
        | Command::Workspaces(_)
        | Command::Demo(_)
        | Command::Init(_)
        | Command::Config(_)
        | Command::Completions(_)
        | Command::Man(_) => &[],
    }
}

/// Where a command that works for long logs to, besides stderr.
pub(crate) fn logs_folder(cli: &Cli, resolved: &Resolved) -> Option<PathBuf> {
    let (home, _) = resolved.home.as_ref()?;
    matches!(cli.command, Command::Pull(_)).then(|| home.join("logs"))
}
