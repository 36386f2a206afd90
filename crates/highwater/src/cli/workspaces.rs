//! The arguments of `highwater workspaces`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Lists the workspaces of the home directory, and removes one. Never asks GitHub.
///
/// One line a workspace: its name, its size, the organizations in it, and how its
/// last pull ended. With --database postgres://… it lists the workspaces of that
/// database.
///
/// Examples:
///   highwater workspaces
///   highwater workspaces --json
///   highwater workspaces remove acme --yes
#[derive(Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct Workspaces {
    #[command(subcommand)]
    pub(crate) what: Option<WorkspacesCommand>,

    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) reach: WorkspacesReach,
}

impl Workspaces {
    pub(crate) fn reach(&self) -> &WorkspacesReach {
        match &self.what {
            Some(WorkspacesCommand::Remove(args)) => &args.reach,
            None => &self.reach,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum WorkspacesCommand {
    Remove(RemoveWorkspace),
}

/// Removes a workspace with everything in it. GitHub keeps what is there.
///
/// It is refused while a pull is at work in the workspace.
///
/// Examples:
///   highwater workspaces remove acme --yes
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RemoveWorkspace {
    /// The workspace's name, as `highwater workspaces` prints it.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Remove it: without this flag nothing happens.
    #[arg(long)]
    pub(crate) yes: bool,

    #[command(flatten)]
    pub(crate) reach: WorkspacesReach,
}

/// Where workspaces are looked for.
#[derive(Args)]
pub(crate) struct WorkspacesReach {
    /// The home directory [default: $HIGHWATER_HOME, else ~/.highwater].
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// postgres://… or "host=… dbname=…", instead of the home directory [default: $HIGHWATER_DATABASE].
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
}
