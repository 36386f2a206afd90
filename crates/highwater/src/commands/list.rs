//! `highwater list`

mod comments;
mod owners;
mod repositories;
mod threads;

use hw_rules::lane::Surface;
use hw_store::Store;

use super::reading;
use crate::cli::Listed;
use crate::config::Settings;
use crate::terminal::tell;

#[expect(clippy::needless_pass_by_value, reason = "a command takes its arguments")]
pub(crate) fn run(what: Listed, settings: &Settings) -> anyhow::Result<()> {
    reading::answer(settings, |store| list(&what, store))
}

fn list(what: &Listed, store: &Store) -> anyhow::Result<()> {
    match what {
        Listed::Issues(args) => threads::run(args, Surface::Issues, store),
        Listed::Prs(args) => threads::run_pull_requests(args, store),
        Listed::Discussions(args) => threads::run(args, Surface::Discussions, store),
        Listed::Comments(args) => comments::run(args, store),
        Listed::Repos(args) => repositories::run(args, store),
    }
}

/// How many rows are read at a time: whoever reads them slowly must not keep the database from tidying.
const PAGE: u64 = 1_000;

/// Says on stderr that nothing fulfils what was asked for; a list of everything speaks for itself.
fn tell_if_empty(count: u64, is_narrowed: bool) {
    if count == 0 && is_narrowed {
        tell("nothing matches");
    }
}
