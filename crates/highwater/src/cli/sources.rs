//! The arguments of `highwater sources`.

use clap::{Args, Subcommand};
use hw_rules::followed_source::FollowedSource;

use super::WorkspaceFlags;
use crate::github_names;

/// Lists what a workspace follows, or stops following a source. Works offline.
///
/// Prints one line per source: its name, its repositories, and how its last pull
/// ended. `highwater pull` reads all of them; naming a new one there adds it.
///
/// Examples:
///   highwater sources
///   highwater sources --json
///   highwater sources remove rust-lang/cargo
#[derive(Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true)]
pub(crate) struct SourcesArgs {
    #[command(subcommand)]
    pub(crate) command: Option<SourcesCommand>,

    /// Print one JSON object per line.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

impl SourcesArgs {
    pub(crate) fn workspace_flags(&self) -> &WorkspaceFlags {
        match &self.command {
            Some(SourcesCommand::Remove(args)) => &args.workspace,
            None => &self.workspace,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum SourcesCommand {
    Remove(RemoveSourceArgs),
}

/// Stops following a source, and removes its repositories from the workspace.
///
/// Repositories that another source follows stay. Nothing changes on GitHub, and
/// naming the source in a later pull downloads everything again. Fails while a
/// pull is running in the workspace.
///
/// Examples:
///   highwater sources remove rust-lang/cargo
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RemoveSourceArgs {
    /// Source, as printed by `highwater sources`.
    #[arg(value_name = "SOURCE", value_parser = github_names::parse_source)]
    pub(crate) source: FollowedSource,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}
