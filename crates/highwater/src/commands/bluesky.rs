//! `highwater bluesky`

mod trending;

use crate::cli::BlueskyCommand;
use crate::config::AppSettings;

/// Explains an empty answer of a workspace that follows no accounts.
pub(crate) const NO_ACCOUNTS: &str =
    "this workspace follows no accounts on Bluesky; `highwater bluesky add HANDLE` adds one";

pub(crate) fn run(command: BlueskyCommand, settings: &AppSettings) -> anyhow::Result<()> {
    match command {
        BlueskyCommand::Trending(args) => trending::run(&args, settings),
    }
}
