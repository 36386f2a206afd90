//! The arguments of `highwater backup`.

use std::path::PathBuf;

use clap::Args;

use super::WorkspaceFlags;

/// Copies the workspace's database to a file, even while a pull is running.
///
/// Works offline. The copy is a consistent snapshot, even while other processes
/// read or write. It gets its final name only after it has been verified. An
/// existing file is kept unless --force is given. To restore a backup, copy it
/// over the workspace's database while nothing is running, or open it with
/// --database.
///
/// For a PostgreSQL workspace, it prints the pg_dump command to run instead.
///
/// Examples:
///   highwater backup acme.backup.db
///   highwater backup -o acme --force /backups/acme.db
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct BackupArgs {
    /// File to write the copy to.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Overwrite an existing file.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print one JSON object instead of the summary.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}
