//! `highwater list`

mod comments;
mod fresh;
mod repositories;
mod threads;

use std::io::{BufWriter, StdoutLock, Write as _};

use anyhow::Context as _;
use hw_rules::lane::Surface;
use hw_store::Store;

use crate::cli::{Listed, WorkspaceArgs};
use crate::config::Settings;
use crate::report::{Hint, Unheard};
use crate::workspace;

pub(crate) fn run(what: Listed, settings: &Settings) -> anyhow::Result<()> {
    match what {
        Listed::Issues(args) => threads::run(&args, Surface::Issues, settings),
        Listed::Prs(args) => threads::run(&args, Surface::PullRequests, settings),
        Listed::Discussions(args) => threads::run(&args, Surface::Discussions, settings),
        Listed::Comments(args) => comments::run(&args, settings),
        Listed::Repos(args) => repositories::run(&args, settings),
    }
}

fn open(args: &WorkspaceArgs, settings: &Settings) -> anyhow::Result<Store> {
    let place = workspace::place(args, settings)?;
    Store::open_reader(&place).context("cannot open the workspace").context(Hint(
        "`highwater pull -o NAME` makes one, and `highwater demo --once` one to look at".into(),
    ))
}

/// Stdout, for as many lines as there are.
struct Page(BufWriter<StdoutLock<'static>>);

impl Page {
    fn new() -> Self {
        Self(BufWriter::new(std::io::stdout().lock()))
    }

    fn line(&mut self, line: &str) -> Result<(), Unheard> {
        Ok(writeln!(self.0, "{line}")?)
    }

    fn end(mut self) -> Result<(), Unheard> {
        Ok(self.0.flush()?)
    }
}
