//! The arguments of `highwater list`.

use clap::{Args, Subcommand, value_parser};
use hw_rules::dates::{self, Span};
use hw_rules::time::Mark;

use super::{Output, WorkspaceArgs};
use crate::report::Usage;

/// Lists what a workspace holds. Never asks GitHub.
///
/// Dates are RFC 3339 with any offset, or plain: 2026-01-31 is from its first or
/// to its last moment in UTC. In a workspace with several owners, -o lists those of
/// one owner. What may be missing from a list is told on stderr.
///
/// Examples:
///   highwater list issues
///   highwater list prs --json --repository pump --limit 5
///   highwater list prs --author anchor,beacon --merged-from 2026-01-01 --csv
///   highwater list issues --closed-to 2026-01-31T18:00:00+01:00 --fields title
///   highwater list comments --repository pump --thread 12
///   highwater list repos --database ./somewhere.db --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct List {
    #[command(subcommand)]
    pub(crate) what: Listed,
}

#[derive(Subcommand)]
pub(crate) enum Listed {
    /// Issues, oldest first.
    Issues(ListThreads),
    /// Pull requests, oldest first.
    #[command(visible_alias = "pull-requests")]
    Prs(ListPullRequests),
    /// Discussions, oldest first.
    Discussions(ListThreads),
    /// Comments, reviews and replies, oldest first.
    Comments(ListComments),
    /// Repositories, by name.
    #[command(visible_alias = "repositories")]
    Repos(ListRepositories),
}

impl Listed {
    pub(crate) fn workspace(&self) -> &WorkspaceArgs {
        match self {
            Self::Issues(args) | Self::Discussions(args) => &args.listing.workspace,
            Self::Prs(args) => &args.threads.listing.workspace,
            Self::Comments(args) => &args.listing.workspace,
            Self::Repos(args) => &args.workspace,
        }
    }
}

/// What every list of texts can be asked.
#[derive(Args)]
pub(crate) struct Listing {
    #[command(flatten)]
    pub(crate) output: Output,

    /// Only those of this repository: NAME or OWNER/NAME, in any case.
    #[arg(long, value_name = "NAME")]
    pub(crate) repository: Option<String>,

    /// Only those by this author, in any case, with or without an @; several are comma separated, or
    /// named one by one.
    #[arg(long = "author", value_name = "LOGIN", value_delimiter = ',')]
    authors: Vec<String>,

    /// Only those written at this moment or later.
    #[arg(long, value_name = "DATE", value_parser = dates::parse_from)]
    created_from: Option<Mark>,

    /// Only those written at this moment or earlier.
    #[arg(long, value_name = "DATE", value_parser = dates::parse_to)]
    created_to: Option<Mark>,

    /// At most this many.
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

impl Listing {
    pub(crate) fn authors(&self) -> Vec<String> {
        self.authors.clone()
    }

    pub(crate) fn created(&self) -> Result<Span, Usage> {
        span("created", self.created_from, self.created_to)
    }
}

#[derive(Args)]
pub(crate) struct ListThreads {
    #[command(flatten)]
    pub(crate) listing: Listing,

    /// Only those closed at this moment or later.
    #[arg(long, value_name = "DATE", value_parser = dates::parse_from)]
    closed_from: Option<Mark>,

    /// Only those closed at this moment or earlier.
    #[arg(long, value_name = "DATE", value_parser = dates::parse_to)]
    closed_to: Option<Mark>,
}

impl ListThreads {
    pub(crate) fn closed(&self) -> Result<Span, Usage> {
        span("closed", self.closed_from, self.closed_to)
    }
}

#[derive(Args)]
pub(crate) struct ListPullRequests {
    #[command(flatten)]
    pub(crate) threads: ListThreads,

    /// Only those merged at this moment or later.
    #[arg(long, value_name = "DATE", value_parser = dates::parse_from)]
    merged_from: Option<Mark>,

    /// Only those merged at this moment or earlier.
    #[arg(long, value_name = "DATE", value_parser = dates::parse_to)]
    merged_to: Option<Mark>,
}

impl ListPullRequests {
    pub(crate) fn merged(&self) -> Result<Span, Usage> {
        span("merged", self.merged_from, self.merged_to)
    }
}

#[derive(Args)]
pub(crate) struct ListComments {
    #[command(flatten)]
    pub(crate) listing: Listing,

    /// Only those of the thread of this number; best with --repository.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) thread: Option<i64>,
}

#[derive(Args)]
pub(crate) struct ListRepositories {
    #[command(flatten)]
    pub(crate) output: Output,

    /// At most this many.
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

/// The time between two arguments, `--…-from` and `--…-to`.
fn span(name: &str, from: Option<Mark>, to: Option<Mark>) -> Result<Span, Usage> {
    let span = Span { from, to };
    if span.is_backwards() {
        let sentence = format!("--{name}-from is later than --{name}-to: nothing is in between");
        return Err(Usage(sentence));
    }
    Ok(span)
}
