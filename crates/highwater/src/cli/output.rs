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

    /// Fields to print, comma-separated and in this order (JSON, CSV, or else tab-separated columns).
    /// An unknown name prints the full list; see docs/json.md.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
}
