//! The arguments of `highwater bluesky`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hw_rules::bluesky::account_ref::AccountRef;

use super::{OutputArgs, WorkspaceFlags};
use crate::config::{parse_account, parse_limit};

/// Follows accounts on Bluesky: every new post, with few requests.
///
/// `add` follows accounts, and `poll` reads what they have posted since the last
/// poll. Public posts need no account; for a server that requires one, set
/// BLUESKY_HANDLE and BLUESKY_APP_PASSWORD.
///
/// Examples:
///   highwater bluesky add bsky.app alice.bsky.social
///   highwater bluesky poll
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
    Add(AddAccountsArgs),
    Remove(RemoveAccountsArgs),
    List(ListAccountsArgs),
    Reset(ResetAccountsArgs),
    Poll(PollArgs),
    Status(PollStatusArgs),
    Trending(TrendingArgs),
}

impl BlueskyCommand {
    pub(crate) fn workspace_flags(&self) -> &WorkspaceFlags {
        match self {
            Self::Add(args) => &args.workspace,
            Self::Remove(args) => &args.workspace,
            Self::List(args) => &args.workspace,
            Self::Reset(args) => &args.workspace,
            Self::Poll(args) => &args.workspace,
            Self::Status(args) => &args.workspace,
            Self::Trending(args) => &args.workspace,
        }
    }

    /// Returns the server to read from, if a flag names one.
    pub(crate) fn url(&self) -> Option<&String> {
        match self {
            Self::Add(args) => args.url.as_ref(),
            Self::Poll(args) => args.url.as_ref(),
            Self::Remove(_)
            | Self::List(_)
            | Self::Reset(_)
            | Self::Status(_)
            | Self::Trending(_) => None,
        }
    }
}

/// Follows accounts. The next `highwater bluesky poll` reads their posts.
///
/// An account is named by its handle, its DID, or the URL of its profile. It is
/// followed by its DID, so it stays the same account when its handle changes.
///
/// Examples:
///   highwater bluesky add alice.bsky.social did:plc:z72i7hdynmk6r22z27h6tvur
///   highwater bluesky add --from-file accounts.txt
///   highwater bluesky add --follows-of alice.bsky.social
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AddAccountsArgs {
    /// Accounts to follow.
    #[arg(value_name = "ACCOUNT", value_parser = parse_account,
          required_unless_present_any = ["from_file", "follows_of"])]
    pub(crate) accounts: Vec<AccountRef>,

    /// File with one account per line; empty lines and lines that begin with # are ignored. `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    pub(crate) from_file: Option<PathBuf>,

    /// Follow every account that this one follows.
    #[arg(long, value_name = "ACCOUNT", value_parser = parse_account)]
    pub(crate) follows_of: Option<AccountRef>,

    /// Server to read from [default: $BLUESKY_URL].
    #[arg(long = "bluesky-url", value_name = "URL")]
    pub(crate) url: Option<String>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Stops following accounts. Their posts stay. Works offline.
///
/// Examples:
///   highwater bluesky remove alice.bsky.social
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RemoveAccountsArgs {
    /// Accounts, as `highwater bluesky list` prints them.
    #[arg(value_name = "ACCOUNT", value_parser = parse_account, required = true)]
    pub(crate) accounts: Vec<AccountRef>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Lists the followed accounts, and why some cannot be read. Works offline.
///
/// Examples:
///   highwater bluesky list
///   highwater bluesky list --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListAccountsArgs {
    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Has the next poll read accounts as if for the first time. Works offline.
///
/// Nothing that is stored is lost, and stored posts are not new again. The feed is
/// read down to the look-back before its last daily read.
///
/// Examples:
///   highwater bluesky reset alice.bsky.social
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ResetAccountsArgs {
    /// Accounts, as `highwater bluesky list` prints them.
    #[arg(value_name = "ACCOUNT", value_parser = parse_account, required = true)]
    pub(crate) accounts: Vec<AccountRef>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Reads what the followed accounts have posted since the last poll.
///
/// Prints one line per account with news: [INITIAL] for the first poll, [POLL]
/// for new posts, [SKIP] for an account that is unavailable, [ERROR] for one that
/// could not be read and is tried again. Run it every 15 minutes; what it costs
/// depends on how many accounts have posted.
///
/// Examples:
///   highwater bluesky poll
///   highwater bluesky poll --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PollArgs {
    /// Print one JSON object instead of lines.
    #[arg(long)]
    pub(crate) json: bool,

    /// Remove posts even if more than a fifth of an account's posts are gone.
    #[arg(long)]
    pub(crate) allow_mass_removal: bool,

    /// Server to read from [default: $BLUESKY_URL].
    #[arg(long = "bluesky-url", value_name = "URL")]
    pub(crate) url: Option<String>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Shows how polls are going: cursors, active accounts, duration. Works offline.
///
/// Examples:
///   highwater bluesky status
///   highwater bluesky status --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PollStatusArgs {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Lists the links shared by the most accounts. Works offline.
///
/// Counts each account once, whether it posted a link or reposted a post with it.
/// On a tie, the link shared last comes first.
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
