//! `highwater list`

mod comments;
mod repositories;
mod threads;

use std::ops::ControlFlow;

use hw_rules::lane::Surface;
use hw_store::Store;

use super::reading;
use crate::cli::Listed;
use crate::config::Settings;
use crate::report::Unheard;
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

/// Whether rows go on: not when nobody hears them any more.
fn while_heard(written: &Result<(), Unheard>) -> ControlFlow<()> {
    if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// Says on stderr that nothing fulfils what was asked for; a list of everything speaks for itself.
fn tell_if_empty(count: u64, is_narrowed: bool) {
    if count == 0 && is_narrowed {
        tell("nothing matches");
    }
}
