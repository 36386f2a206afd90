//! The arguments of `highwater export`.

use std::path::PathBuf;

use clap::Args;

use super::WorkspaceArgs;

/// Writes every thread with its comments to a file of its own.
///
/// Never asks GitHub. The files are DIR/OWNER/REPOSITORY/issues/12.md, and
/// likewise in pull-requests and discussions. Each begins with its facts as YAML
/// front matter; titles, bodies and comments follow, bodies byte for byte.
///
/// Files are readable by their owner alone. Links inside DIR are not followed. Of
/// several repositories that would share a folder, on another host or in another
/// case, all but the first have their id in the folder's name: pump~12.
///
/// Run it again after a pull: a file whose thread did not change is left as it is,
/// and a file whose thread is gone is removed. Only files that highwater wrote,
/// and nobody changed since, are replaced or removed; any other one in its way is
/// named, left alone, and makes the exit code 1.
///
/// Examples:
///   highwater export --markdown ./acme
///   highwater export --markdown ./acme -o acme --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Export {
    /// Where to write them; it is made when it is missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) markdown: PathBuf,

    /// Print one JSON object instead of the summary.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}
