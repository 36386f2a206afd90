//! How an answer of many rows is printed.

use clap::Args;

#[derive(Args)]
pub(crate) struct Output {
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print CSV: a line of names, then one record a row, its lists with `;` between their entries.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,

    /// Only these fields, in this order, comma separated: of JSON and CSV, and else as columns with
    /// tabs between them. docs/json.md has their names, and a wrong one is answered with all of them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) fields: Vec<String>,
}
