//! The arguments of `highwater export`.

use std::path::PathBuf;

use clap::Args;

use super::WorkspaceFlags;

/// Writes each thread with its comments to its own Markdown file.
///
/// Works offline. Files are named DIR/OWNER/REPOSITORY/issues/12.md; pull requests
/// go to pull-requests/ and discussions to discussions/. Each file starts with
/// YAML front matter, followed by the title, the body and the comments. Bodies are
/// written byte for byte.
///
/// Only you can read the files. Symbolic links inside DIR are not followed. If two
/// repositories would share a directory (the same name on another host, or names
/// that differ only in case), all but the first get their id appended: pump~12.
///
/// Run it again after a pull: files of unchanged threads are left alone, and files
/// of deleted threads are removed. Only files that highwater wrote and that have
/// not been edited since are overwritten or removed. Any other file in the way is
/// reported and left alone, and the exit code is 1.
///
/// Examples:
///   highwater export --markdown ./acme
///   highwater export --markdown ./acme -o acme --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExportArgs {
    /// Directory to write to; created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) markdown: PathBuf,

    /// Print one JSON object instead of the summary.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}
