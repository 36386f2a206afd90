//! The arguments of `highwater backup`.

use std::path::PathBuf;

use clap::Args;

use super::WorkspaceArgs;

/// Copies the workspace's database to a file, while everything runs.
///
/// Never asks GitHub. The copy is of one moment, whoever reads and writes
/// meanwhile. It is verified, and only then takes its name; a file that is there
/// already stays unless --force is given. To restore it, put it in the place of
/// the workspace's database while nothing runs, or name it with --database.
///
/// A workspace in PostgreSQL is backed up with pg_dump; the command prints how.
///
/// Examples:
///   highwater backup acme.backup.db
///   highwater backup -o acme --force /backups/acme.db
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Backup {
    /// Where to write the copy.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// Replace a file that is there already.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print one JSON object instead of the summary.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}
