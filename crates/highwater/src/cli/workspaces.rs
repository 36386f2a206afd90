//! The arguments of `highwater workspaces`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Lists the workspaces in the home directory, or removes one. Works offline.
///
/// Prints one line per workspace: name, size, sources, and how the last pull ended.
/// With --database postgres://… it lists the workspaces in that database.
///
/// Examples:
///   highwater workspaces
///   highwater workspaces --json
///   highwater workspaces remove acme --yes
#[derive(Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct WorkspacesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WorkspacesCommand>,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) root: WorkspaceRootFlags,
}

impl WorkspacesArgs {
    pub(crate) fn root_flags(&self) -> &WorkspaceRootFlags {
        match &self.command {
            Some(WorkspacesCommand::Remove(args)) => &args.root,
            None => &self.root,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum WorkspacesCommand {
    Remove(RemoveWorkspaceArgs),
}

/// Removes a workspace and everything in it. Nothing changes on GitHub.
///
/// Fails while a pull is running in the workspace.
///
/// Examples:
///   highwater workspaces remove acme --yes
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RemoveWorkspaceArgs {
    /// Workspace name, as printed by `highwater workspaces`.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Confirm the removal; without this flag, nothing is removed.
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) root: WorkspaceRootFlags,
}

/// Flags that locate the workspaces.
#[derive(Args)]
pub(crate) struct WorkspaceRootFlags {
    /// Home directory [default: $HIGHWATER_HOME, else ~/.highwater].
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// PostgreSQL database to use instead of the home directory: postgres://… or "host=… dbname=…"
    /// [default: $HIGHWATER_DATABASE].
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
}
