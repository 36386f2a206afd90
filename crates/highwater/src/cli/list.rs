//! The arguments of `highwater list`.

use clap::{Args, Subcommand};
use hw_rules::bluesky::account_ref::AccountRef;
use hw_rules::bluesky::identifier::InvalidIdentifier;
use hw_rules::date_range::{self, DateRange};
use hw_rules::source_time::SourceInstant;

use super::{OutputArgs, WorkspaceFlags};
use crate::config::parse_limit;
use crate::report::UsageError;

/// Lists the contents of a workspace. Works offline.
///
/// Dates are RFC 3339 with any offset, or plain dates in UTC. A plain date covers
/// the whole day: --…-from starts at midnight, and --…-to includes the entire day.
/// In a workspace with several owners, -o limits the list to one of them. If a list
/// may be incomplete, a warning on stderr says why.
///
/// Examples:
///   highwater list issues
///   highwater list prs --json --repository pump --limit 5
///   highwater list prs --author anchor,beacon --merged-from 2026-01-01 --csv
///   highwater list issues --closed-to 2026-01-31T18:00:00+01:00 --fields title
///   highwater list comments --repository pump --thread 12
///   highwater list posts --account alice.bsky.social --since 2026-01-31
///   highwater list repos --database ./somewhere.db --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListArgs {
    #[command(subcommand)]
    pub(crate) command: ListCommand,
}

#[derive(Subcommand)]
pub(crate) enum ListCommand {
    /// Lists issues, oldest first.
    Issues(ListThreadsArgs),
    /// Lists pull requests, oldest first.
    #[command(visible_alias = "pull-requests")]
    Prs(ListPullRequestsArgs),
    /// Lists discussions, oldest first.
    Discussions(ListThreadsArgs),
    /// Lists comments, reviews and replies, oldest first.
    Comments(ListCommentsArgs),
    /// Lists posts and reposts of accounts on Bluesky, newest first.
    Posts(ListPostsArgs),
    /// Lists repositories by name.
    #[command(visible_alias = "repositories")]
    Repos(ListRepositoriesArgs),
}

impl ListCommand {
    pub(crate) fn workspace_flags(&self) -> &WorkspaceFlags {
        match self {
            Self::Issues(args) | Self::Discussions(args) => &args.listing.workspace,
            Self::Prs(args) => &args.threads.listing.workspace,
            Self::Comments(args) => &args.listing.workspace,
            Self::Posts(args) => &args.workspace,
            Self::Repos(args) => &args.workspace,
        }
    }
}

/// Arguments that all lists of texts share.
#[derive(Args)]
pub(crate) struct CommonListArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Only from this repository: NAME or OWNER/NAME, case-insensitive.
    #[arg(long, value_name = "NAME")]
    pub(crate) repository: Option<String>,

    /// Only by this author, case-insensitive, with or without @; separate several with commas or
    /// repeat the flag.
    #[arg(long = "author", value_name = "LOGIN", value_delimiter = ',', value_parser = parse_author)]
    pub(crate) authors: Vec<String>,

    /// Created on or after this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_first_instant)]
    created_from: Option<SourceInstant>,

    /// Created on or before this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_last_instant)]
    created_to: Option<SourceInstant>,

    /// Maximum number of results.
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

impl CommonListArgs {
    pub(crate) fn created_range(&self) -> Result<DateRange, UsageError> {
        date_range("created", self.created_from, self.created_to)
    }
}

#[derive(Args)]
pub(crate) struct ListThreadsArgs {
    #[command(flatten)]
    pub(crate) listing: CommonListArgs,

    /// Closed on or after this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_first_instant)]
    closed_from: Option<SourceInstant>,

    /// Closed on or before this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_last_instant)]
    closed_to: Option<SourceInstant>,
}

impl ListThreadsArgs {
    pub(crate) fn closed_range(&self) -> Result<DateRange, UsageError> {
        date_range("closed", self.closed_from, self.closed_to)
    }
}

#[derive(Args)]
pub(crate) struct ListPullRequestsArgs {
    #[command(flatten)]
    pub(crate) threads: ListThreadsArgs,

    /// Merged on or after this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_first_instant)]
    merged_from: Option<SourceInstant>,

    /// Merged on or before this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_last_instant)]
    merged_to: Option<SourceInstant>,
}

impl ListPullRequestsArgs {
    pub(crate) fn merged_range(&self) -> Result<DateRange, UsageError> {
        date_range("merged", self.merged_from, self.merged_to)
    }
}

#[derive(Args)]
pub(crate) struct ListCommentsArgs {
    #[command(flatten)]
    pub(crate) listing: CommonListArgs,

    /// Only from the thread with this number; best combined with --repository.
    #[arg(long, value_name = "NUMBER", value_parser = parse_thread_number, allow_negative_numbers = true)]
    pub(crate) thread: Option<i64>,
}

#[derive(Args)]
pub(crate) struct ListPostsArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Only posted or reposted by this account: a handle, a DID or the URL of a profile; separate
    /// several with commas or repeat the flag.
    #[arg(long = "account", value_name = "HANDLE", value_delimiter = ',', value_parser = parse_account)]
    pub(crate) accounts: Vec<AccountRef>,

    /// Posted or reposted on or after this date.
    #[arg(long, visible_alias = "created-from", value_name = "DATE", value_parser = date_range::parse_first_instant)]
    since: Option<SourceInstant>,

    /// Posted or reposted on or before this date.
    #[arg(long, visible_alias = "created-to", value_name = "DATE", value_parser = date_range::parse_last_instant)]
    until: Option<SourceInstant>,

    /// Leave out reposts.
    #[arg(long)]
    pub(crate) no_reposts: bool,

    /// Leave out replies.
    #[arg(long)]
    pub(crate) no_replies: bool,

    /// Maximum number of results.
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

impl ListPostsArgs {
    pub(crate) fn posted_range(&self) -> Result<DateRange, UsageError> {
        let range = DateRange { from: self.since, to: self.until };
        if range.is_backwards() {
            return Err(UsageError("--since is later than --until".to_owned()));
        }
        Ok(range)
    }
}

fn parse_account(text: &str) -> Result<AccountRef, InvalidIdentifier> {
    text.trim().parse()
}

#[derive(Args)]
pub(crate) struct ListRepositoriesArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Maximum number of results.
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

fn parse_thread_number(text: &str) -> Result<i64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("expected a thread number, got {text:?}"))
}

fn parse_author(text: &str) -> Result<String, String> {
    if text.trim().trim_start_matches('@').is_empty() {
        return Err(format!("expected a login, got {text:?}"));
    }
    Ok(text.to_owned())
}

/// Returns the range between `--{name}-from` and `--{name}-to`, or an error if it runs backwards.
fn date_range(
    name: &str,
    from: Option<SourceInstant>,
    to: Option<SourceInstant>,
) -> Result<DateRange, UsageError> {
    let range = DateRange { from, to };
    if range.is_backwards() {
        return Err(UsageError(format!("--{name}-from is later than --{name}-to")));
    }
    Ok(range)
}
