//! The arguments of `highwater bluesky`.

use clap::{Args, Subcommand};

use super::{OutputArgs, WorkspaceFlags};
use crate::config::parse_limit;

/// Works with accounts on Bluesky and their posts.
///
/// Examples:
///   highwater bluesky trending
///   highwater list posts --account alice.bsky.social
///   highwater search 'type:post pump'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BlueskyArgs {
    #[command(subcommand)]
    pub(crate) command: BlueskyCommand,
}

#[derive(Subcommand)]
pub(crate) enum BlueskyCommand {
    Trending(TrendingArgs),
}

impl BlueskyCommand {
    pub(crate) fn workspace_flags(&self) -> &WorkspaceFlags {
        match self {
            Self::Trending(args) => &args.workspace,
        }
    }
}

/// Lists the links that most accounts shared. Works offline.
///
/// Counts each account once, whether it posted a link or reposted a post with it.
/// Of links with equally many accounts, the one that was shared last comes first.
///
/// Examples:
///   highwater bluesky trending
///   highwater bluesky trending --hours 168 --limit 5
///   highwater bluesky trending --json --fields url,accounts,shared_by
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TrendingArgs {
    /// Count posts and reposts of the last hours.
    #[arg(long, value_name = "NUMBER", default_value_t = 24, value_parser = parse_hours, allow_negative_numbers = true)]
    pub(crate) hours: u32,

    /// Maximum number of results.
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

fn parse_hours(text: &str) -> Result<u32, String> {
    let hours = text.parse().ok().filter(|hours| *hours > 0);
    hours.ok_or_else(|| format!("expected a positive whole number of hours, got {text:?}"))
}
