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
    /// `--fields help` prints the names; docs/json.md describes each field.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
}
