//! One file a command: its `run` does what its arguments say.

mod demo;
mod list_issues;

use crate::cli::{Cli, Command, List, Listed};
use crate::config::Settings;

pub(crate) fn run(cli: Cli, settings: &Settings) -> anyhow::Result<()> {
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::List(List { what: Listed::Issues(args) }) => list_issues::run(&args, settings),
    }
}
