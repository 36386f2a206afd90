//! `highwater list`

mod comments;
mod fresh;
mod repositories;
mod threads;

use hw_rules::lane::Surface;
use hw_store::Store;

use crate::cli::Listed;
use crate::config::Settings;
use crate::{advice, workspace};

#[expect(clippy::needless_pass_by_value, reason = "a command takes its arguments")]
pub(crate) fn run(what: Listed, settings: &Settings) -> anyhow::Result<()> {
    let listed = match &what {
        Listed::Issues(args) => threads::run(args, Surface::Issues, settings),
        Listed::Prs(args) => threads::run(args, Surface::PullRequests, settings),
        Listed::Discussions(args) => threads::run(args, Surface::Discussions, settings),
        Listed::Comments(args) => comments::run(args, settings),
        Listed::Repos(args) => repositories::run(args, settings),
    };
    listed.map_err(|error| advice::hinted(named(error, settings)))
}

/// A database that was opened and then failed has still to be named.
fn named(error: anyhow::Error, settings: &Settings) -> anyhow::Error {
    let bare: Option<&hw_store::Error> = error.chain().next().and_then(|it| it.downcast_ref());
    let is_bare = bare.is_some();
    match workspace::place(settings) {
        Ok(place) if is_bare => error.context(format!("cannot read {}", place.shown())),
        Ok(_) | Err(_) => error,
    }
}

fn open(settings: &Settings) -> anyhow::Result<Store> {
    let place = workspace::place(settings)?;
    Store::open_reader(&place).map_err(|error| {
        let says_where = matches!(error, hw_store::Error::NoDatabase(_));
        let what = if says_where { "the workspace".to_owned() } else { place.shown() };
        anyhow::Error::new(error).context(format!("cannot open {what}"))
    })
}
