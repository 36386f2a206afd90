//! The arguments of `highwater doctor`.

use clap::{Args, ValueEnum};

use super::WorkspaceFlags;

/// Finds problems and suggests how to fix them. Changes nothing.
///
/// Checks the token, its scopes and its rate limits with GitHub, compares the
/// clocks, and inspects the database: schema, damage, lists that fail or have
/// gaps, items that could not be read, running pulls. Prints one line per check:
/// `ok`, `warn` or `fail`. The exit code is 1 if a check fails.
///
/// With --deep it reads the whole database, compares every stored text with the
/// digest recorded when it was downloaded, and lists each damaged item;
/// `highwater pull --repair` downloads those again.
///
/// Examples:
///   highwater doctor -o acme            everything
///   highwater doctor github             only the token and the connection
///   highwater doctor store --json       only the database, as JSON lines
///   highwater doctor store --deep       also verifies every stored text
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DoctorArgs {
    /// Run only these checks [default: both].
    #[arg(value_enum)]
    pub(crate) part: Option<DoctorPart>,

    /// Verify the text of every stored item; reads the whole database.
    #[arg(long)]
    pub(crate) deep: bool,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,

    /// Token; prefer $GITHUB_TOKEN, which other users on this machine cannot see.
    #[arg(short = 't', long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,

    /// GitHub's REST API [default: $GITHUB_API_URL, else https://api.github.com].
    #[arg(long, value_name = "URL")]
    pub(crate) api_url: Option<String>,

    /// GitHub's GraphQL API [default: $GITHUB_GRAPHQL_URL, else derived from the REST API].
    #[arg(long, value_name = "URL")]
    pub(crate) graphql_url: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DoctorPart {
    /// The token and the connection to GitHub.
    Github,
    /// The database.
    Store,
}
