//! The arguments. Each doc comment is the help text.
//!
//! They can carry a database's password, so none of them can be printed with `{:?}`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Keeps a local, searchable copy of what people say on GitHub, and never loses a word.
#[derive(Parser)]
#[command(name = "highwater", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(Demo),
    List(List),
}

/// Tries everything without a token and without a network.
///
/// Starts a simulated GitHub on this machine, pulls the issues of its repositories into a throw-away
/// workspace, and compares what it holds with what the simulated GitHub holds.
///
/// Examples:
///   highwater demo            pulls, then follows the simulated writers until Ctrl-C
///   highwater demo --once     pulls once, compares, and stops
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Demo {
    /// Stop after the first pull.
    #[arg(long)]
    pub(crate) once: bool,

    /// Print one JSON object instead of the summary.
    #[arg(long, requires = "once")]
    pub(crate) json: bool,

    /// Which simulated world: the same number gives the same repositories and issues.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Keep the workspace here instead of in a temporary folder.
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
}

/// Lists what a workspace holds. Never asks GitHub.
///
/// Examples:
///   highwater list issues
///   highwater list issues --json --repository pump-firmware --limit 5
///   highwater list issues --database ./somewhere.db --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct List {
    #[command(subcommand)]
    pub(crate) what: Listed,
}

#[derive(Subcommand)]
pub(crate) enum Listed {
    /// Issues, oldest first.
    Issues(ListIssues),
}

#[derive(Args)]
pub(crate) struct ListIssues {
    /// Print one JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,

    /// Only those of this repository (its name, without the organisation).
    #[arg(long, value_name = "NAME")]
    pub(crate) repository: Option<String>,

    /// Only those by this author, in any case.
    #[arg(long, value_name = "LOGIN")]
    pub(crate) author: Option<String>,

    /// At most this many.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

/// Which workspace.
#[derive(Args)]
pub(crate) struct WorkspaceArgs {
    /// The home directory [default: $HIGHWATER_HOME, else ~/.highwater].
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// The workspace's name [default: the organisation, else the only one there, else `default`].
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,

    /// The organisation.
    #[arg(short = 'o', long, value_name = "LOGIN")]
    pub(crate) organization: Option<String>,

    /// A database file, or postgres://…, instead of the home directory's.
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
}
