//! `highwater completions`

use std::io::Write as _;

use clap::CommandFactory as _;

use crate::cli::{Cli, Completions};
use crate::report::Unheard;

pub(crate) fn run(args: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "highwater", &mut script);
    Ok(std::io::stdout().write_all(&script).map_err(Unheard::from)?)
}
