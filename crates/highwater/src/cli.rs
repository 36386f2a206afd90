//! The arguments. Each doc comment is the help text.
//!
//! They can carry a token or a database's password, so none of them can be printed with `{:?}`.

mod backup;
mod config;
mod doctor;
mod export;
mod flags;
mod list;
mod mcp;
mod output;
mod pull;
mod removed;
mod search;
mod show;
mod ui;
mod workspaces;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use crate::config::Format;
use crate::names;

pub(crate) use backup::Backup;
pub(crate) use config::{Config, Init, Setting, Show};
pub(crate) use doctor::{Doctor, Part};
pub(crate) use export::Export;
pub(crate) use list::{
    List, ListComments, ListPullRequests, ListRepositories, ListThreads, Listed, Listing,
};
pub(crate) use mcp::Mcp;
pub(crate) use output::Output;
pub(crate) use pull::Pull;
pub(crate) use removed::{ListRemoved, Removed, RemovedCommand, RestoreRemoved};
pub(crate) use search::Search;
pub(crate) use show::ShowThread;
pub(crate) use ui::Ui;
pub(crate) use workspaces::{RemoveWorkspace, Workspaces, WorkspacesCommand, WorkspacesReach};

/// The arguments as clap is to read them.
pub(crate) fn arguments(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let command = Cli::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    search::shield_excluded_words(args, &names)
}

/// Keeps a local, searchable copy of what people say on GitHub, and never loses a word.
#[derive(Parser)]
#[command(name = "highwater", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// How logs are written [default: $HIGHWATER_LOG_FORMAT, else text].
    #[arg(long, global = true, value_name = "FORMAT", value_parser = Format::NAMES)]
    pub(crate) log_format: Option<String>,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Pull(Box<Pull>),
    Search(Search),
    List(List),
    Show(ShowThread),
    Export(Export),
    Removed(Removed),
    Mcp(Mcp),
    Ui(Ui),
    Doctor(Box<Doctor>),
    Backup(Backup),
    Workspaces(Workspaces),
    Demo(Demo),
    Init(Init),
    Config(Config),
    Completions(Completions),
    Man(Man),
}

/// Tries everything without a token and without a network.
///
/// Starts a simulated GitHub on this machine, pulls its repositories, discussions,
/// issues, pull requests and comments into a throw-away workspace, and compares
/// what it holds, text by text, with what the simulated GitHub holds. Then it
/// shows the workspace in a browser, and follows the simulated writers, until
/// Ctrl-C.
///
/// Examples:
///   highwater demo            pulls, then open http://127.0.0.1:8080/
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

    /// The port of the page in the browser [default: 8080, else any that is free].
    #[arg(short = 'p', long, value_name = "PORT", conflicts_with = "once")]
    pub(crate) port: Option<u16>,

    /// Which simulated world: the same number gives the same repositories and texts.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Keep the workspace here instead of in a temporary folder.
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
}

/// Prints a script with which a shell completes highwater's arguments.
///
/// For bash (a new shell reads it):
///   dir=~/.local/share/bash-completion/completions
///   mkdir -p $dir && highwater completions bash > $dir/highwater
///
/// For zsh:
///   mkdir -p ~/.zfunc
///   highwater completions zsh > ~/.zfunc/_highwater
///   echo 'fpath+=(~/.zfunc); autoload -Uz compinit; compinit' >> ~/.zshrc
///
/// For fish:
///   mkdir -p ~/.config/fish/completions
///   highwater completions fish > ~/.config/fish/completions/highwater.fish
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// Which shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Prints the manual page, or writes the pages of all commands to a folder.
///
/// Examples:
///   highwater man | man -l -
///   highwater man ~/.local/share/man/man1
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Man {
    /// Where to write one page a command; it is made when it is missing.
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Which workspace.
#[derive(Args)]
pub(crate) struct WorkspaceArgs {
    /// The home directory [default: $HIGHWATER_HOME, else ~/.highwater].
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// The workspace's name [default: $HIGHWATER_WORKSPACE, else the organisation, else the only one there, else `default`].
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,

    /// The organisation [default: $ORGANIZATION].
    #[arg(short = 'o', long, value_name = "LOGIN", value_parser = names::owner)]
    pub(crate) organization: Option<String>,

    /// A database file, postgres://… or "host=… dbname=…", instead of the home directory's
    /// [default: $HIGHWATER_DATABASE].
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
}
