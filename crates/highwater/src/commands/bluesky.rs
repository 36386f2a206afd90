//! `highwater bluesky`

mod add;
mod change;
mod list;
mod poll;
mod server;
mod status;
mod trending;

pub(crate) use server::BlueskyServer;
pub(crate) use status::PollHealth;

use crate::cli::BlueskyCommand;
use crate::config::AppSettings;

/// Explains an empty answer of a workspace that follows no accounts.
pub(crate) const NO_ACCOUNTS: &str =
    "this workspace follows no accounts on Bluesky; `highwater bluesky add HANDLE` adds one";

pub(crate) fn run(command: BlueskyCommand, settings: &AppSettings) -> anyhow::Result<()> {
    match command {
        BlueskyCommand::Add(args) => add::run(&args, settings),
        BlueskyCommand::Remove(args) => change::remove(&args, settings),
        BlueskyCommand::List(args) => list::run(&args, settings),
        BlueskyCommand::Reset(args) => change::reset(&args, settings),
        BlueskyCommand::Poll(args) => poll::run(&args, settings),
        BlueskyCommand::Status(args) => status::run(&args, settings),
        BlueskyCommand::Trending(args) => trending::run(&args, settings),
    }
}
