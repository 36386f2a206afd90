//! One file a command: its `run` does what its arguments say.

mod demo;
mod list;
mod pull;

use crate::cli::{Cli, Command};
use crate::config::Settings;

pub(crate) fn run(cli: Cli, settings: &Settings) -> anyhow::Result<()> {
    match cli.command {
        Command::Pull(args) => pull::run(&args, settings),
        Command::List(args) => list::run(args.what, settings),
        Command::Demo(args) => demo::run(&args),
    }
}

/// The modules whose warnings a command tells in its own words.
pub(crate) fn told_otherwise(cli: &Cli) -> &'static [&'static str] {
    match &cli.command {
        Command::Pull(args) if !args.json => &["hw_sync::door", "hw_sync::work"],
        Command::Pull(_) | Command::List(_) | Command::Demo(_) => &[],
    }
}
