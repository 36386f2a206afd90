//! One file a command: its `run` does what its arguments say.

mod completions;
mod demo;
mod doctor;
mod list;
mod man;
mod pull;

use crate::cli::{Cli, Command};
use crate::config::Settings;

pub(crate) fn run(cli: Cli, settings: &Settings) -> anyhow::Result<()> {
    match cli.command {
        Command::Pull(args) => pull::run(&args, settings),
        Command::List(args) => list::run(args.what, settings),
        Command::Doctor(args) => doctor::run(&args, settings),
        Command::Demo(args) => demo::run(&args),
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
        | Command::Doctor(_)
        | Command::Demo(_)
        | Command::Completions(_)
        | Command::Man(_) => &[],
    }
}
