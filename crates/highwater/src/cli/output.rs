//! The arguments that choose the output format of a list.

use clap::Args;

#[derive(Args)]
pub(crate) struct OutputArgs {
    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print CSV with a header line; list values are joined with `;`.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,

    /// Comma-separated fields to print, in the order given (as JSON, CSV or, by default, tab-separated columns).
    /// Pass an unknown name to see the full list; docs/json.md describes it.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
}
