//! The arguments of `highwater search`.

use clap::{Args, value_parser};

use super::{Output, WorkspaceArgs};

/// Finds discussions, issues and pull requests by their words and comments.
///
/// Never asks GitHub. Any text is a query. Every word of it must be there, "words
/// in quotes" side by side, a word with a trailing * as a beginning. These narrow
/// what is found, and need no word beside them:
///   repo:pump  author:anchor  label:bug  type:issue|pr|discussion|comment
///   state:open|closed|merged  created:>=2026-01-01  updated:<2026-02-01
/// The best come first. Highwater's own arguments stand in front of `--`, or
/// anywhere if the query does not begin with a hyphen.
///
/// Examples:
///   highwater search tide gauge
///   highwater search 'repo:pump "last reading" state:open' --limit 3
///   highwater search node.js --json --fields title,url
///   highwater search --csv -- -Werror
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Search {
    /// The query; several words need no quotes.
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,

    /// At most this many.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = value_parser!(u64).range(1..))]
    pub(crate) limit: u64,

    #[command(flatten)]
    pub(crate) output: Output,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}
