//! `highwater completions`

use clap::CommandFactory as _;

use crate::cli::{Cli, CompletionsArgs};
use crate::terminal::print_bytes;

pub(crate) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "highwater", &mut script);
    Ok(print_bytes(&script)?)
}
