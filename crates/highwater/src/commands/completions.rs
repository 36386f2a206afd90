//! `highwater completions`

use clap::CommandFactory as _;

use crate::cli::{Cli, Completions};
use crate::terminal::say_bytes;

pub(crate) fn run(args: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "highwater", &mut script);
    Ok(say_bytes(&script)?)
}
