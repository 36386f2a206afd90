//! The arguments of `highwater doctor`.

use clap::{Args, ValueEnum};

use super::WorkspaceArgs;

/// Says what is wrong, and what to do about it. Changes nothing.
///
/// Asks GitHub about the token, its scopes and its budgets, compares the clocks,
/// and looks into the database: its schema, damage, lists that fail or have gaps,
/// what could not be read, who is at work. One line a check, `ok`, `warn` or
/// `fail`; the exit code is 1 when something fails.
///
/// With --deep it reads the whole database, compares every stored text with the
/// digest of what was read from GitHub, and names each item that is damaged;
/// `highwater pull --repair` reads those again.
///
/// Examples:
///   highwater doctor -o acme            everything
///   highwater doctor github             only the token and the source
///   highwater doctor store --json       only the database, one JSON object a line
///   highwater doctor store --deep       also verifies every stored text
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Doctor {
    /// Only this part [default: both].
    #[arg(value_enum)]
    pub(crate) part: Option<Part>,

    /// Verify every stored text; reads the whole database.
    #[arg(long)]
    pub(crate) deep: bool,

    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,

    /// The token [default: $GITHUB_TOKEN, where others on this machine cannot see it].
    #[arg(short = 't', long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// GitHub's REST API [default: $GITHUB_API_URL, else https://api.github.com].
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,

    /// GitHub's GraphQL API [default: $GITHUB_GRAPHQL_URL, else the one beside the REST API].
    #[arg(long, value_name = "URL")]
    pub(crate) graphql_url: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The token and the source.
    Github,
    /// The database.
    Store,
}
