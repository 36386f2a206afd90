//! `highwater list`

mod comments;
mod fresh;
mod repositories;
mod threads;

use anyhow::Context as _;
use hw_rules::lane::Surface;
use hw_store::Store;

use crate::cli::Listed;
use crate::config::Settings;
use crate::report::Hint;
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

fn open(settings: &Settings) -> anyhow::Result<Store> {
    let place = workspace::place(settings)?;
    Store::open_reader(&place).context("cannot open the workspace").context(Hint(
        "`highwater pull -o NAME` makes one, and `highwater demo --once` one to look at".into(),
    ))
}
