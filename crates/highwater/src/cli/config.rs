//! The arguments of `highwater config` and `highwater init`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::WorkspaceArgs;
use crate::names;

/// Shows the settings.
///
/// They come, strongest first, from flags, from the environment, from .env and
/// highwater.toml in the home directory, and from defaults.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) what: Setting,
}

#[derive(Subcommand)]
pub(crate) enum Setting {
    /// What is in force, and where each value came from; secrets are masked.
    Show(Show),
}

#[derive(Args)]
pub(crate) struct Show {
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

/// Writes a first highwater.toml, with every setting explained.
///
/// It asks for nothing. The organisation is the one named with -o, by the
/// settings, or by the `origin` of the git repository that it is run in; it tells
/// whether a token is found, and which command is next.
///
/// Examples:
///   highwater init -o acme
///   highwater init --force       replaces a highwater.toml that is there
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Init {
    /// The organisation [default: as the settings say, else the owner of this folder's `origin`].
    #[arg(short = 'o', long, value_name = "LOGIN", value_parser = names::owner)]
    pub(crate) organization: Option<String>,

    /// The home directory [default: $HIGHWATER_HOME, else ~/.highwater].
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// Replace a highwater.toml that is there.
    #[arg(long)]
    pub(crate) force: bool,
}
