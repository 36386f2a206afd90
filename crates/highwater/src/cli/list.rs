//! The arguments of `highwater list`.

use clap::{Args, Subcommand};

use super::WorkspaceArgs;

/// Lists what a workspace holds. Never asks GitHub.
///
/// Examples:
///   highwater list issues
///   highwater list prs --json --repository pump --limit 5
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
    Prs(ListThreads),
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
            Self::Issues(args) | Self::Prs(args) | Self::Discussions(args) => &args.workspace,
            Self::Comments(args) => &args.workspace,
            Self::Repos(args) => &args.workspace,
        }
    }
}

#[derive(Args)]
pub(crate) struct ListThreads {
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Only those of this repository (its name, without the organisation).
    #[arg(long, value_name = "NAME")]
    pub(crate) repository: Option<String>,

    /// Only those by this author, in any case.
    #[arg(long, value_name = "LOGIN")]
    pub(crate) author: Option<String>,

    /// At most this many.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

#[derive(Args)]
pub(crate) struct ListComments {
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Only those of this repository (its name, without the organisation).
    #[arg(long, value_name = "NAME")]
    pub(crate) repository: Option<String>,

    /// Only those of the thread of this number; best with --repository.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) thread: Option<i64>,

    /// Only those by this author, in any case.
    #[arg(long, value_name = "LOGIN")]
    pub(crate) author: Option<String>,

    /// At most this many.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

#[derive(Args)]
pub(crate) struct ListRepositories {
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,

    /// At most this many.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}
