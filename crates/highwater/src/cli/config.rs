//! The arguments of `highwater config` and `highwater init`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use hw_rules::login::Login;

use super::WorkspaceFlags;
use crate::github_names;

/// Shows the settings.
///
/// Flags override environment variables, which override .env and then
/// highwater.toml in the home directory, which override the defaults.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Shows the settings in effect and where each comes from; secrets are masked.
    Show(ShowConfigArgs),
}

#[derive(Args)]
pub(crate) struct ShowConfigArgs {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Writes a commented highwater.toml that explains every setting.
///
/// Asks no questions. The organization comes from -o, from the settings, or from
/// the `origin` remote of the git repository in the current directory. Also
/// reports whether a token was found and which command to run next.
///
/// Examples:
///   highwater init -o acme
///   highwater init --force       overwrites an existing highwater.toml
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct InitArgs {
    /// Organization [default: from the settings, else the owner of this directory's `origin`].
    #[arg(short = 'o', long, value_name = "LOGIN", value_parser = github_names::parse_owner)]
    pub(crate) organization: Option<Login>,

    /// Home directory [default: $HIGHWATER_HOME, else ~/.highwater].
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// Overwrite an existing highwater.toml.
    #[arg(long)]
    pub(crate) force: bool,
}
