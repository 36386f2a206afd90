//! Defines the command line. Each doc comment is the help text.
//!
//! Arguments can carry a token or a database password, so none of these types implements `Debug`.

mod backup;
mod bluesky;
mod config;
mod doctor;
mod events;
mod export;
mod flags;
mod list;
mod mcp;
mod output;
mod pull;
mod removed;
mod search;
mod service;
mod show;
mod sources;
mod ui;
mod watch;
mod workspaces;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use hw_rules::login::Login;

use crate::config::{LogFormat, parse_port};
use crate::github_names;

pub(crate) use backup::BackupArgs;
pub(crate) use bluesky::{
    AddAccountsArgs, BlueskyArgs, BlueskyCommand, ListAccountsArgs, PollArgs, PollStatusArgs,
    RemoveAccountsArgs, ResetAccountsArgs, TrendingArgs,
};
pub(crate) use config::{ConfigArgs, ConfigCommand, InitArgs, ShowConfigArgs};
pub(crate) use doctor::{DoctorArgs, DoctorPart};
pub(crate) use events::{
    AckEventsArgs, AddConsumerArgs, ConsumersArgs, ConsumersCommand, EventRef, EventsArgs,
    EventsCommand, ExecEventsArgs, ListDeadArgs, ListEventsArgs, NackEventsArgs, ReadEventsArgs,
    RemoveConsumerArgs, RetryEventsArgs, ShowEventArgs, parse_event_ref,
};
pub(crate) use export::ExportArgs;
pub(crate) use list::{
    CommonListArgs, ListArgs, ListCommand, ListCommentsArgs, ListPostsArgs, ListPullRequestsArgs,
    ListRepositoriesArgs, ListThreadsArgs,
};
pub(crate) use mcp::McpArgs;
pub(crate) use output::OutputArgs;
pub(crate) use pull::PullArgs;
pub(crate) use removed::{ListRemovedArgs, RemovedArgs, RemovedCommand, RestoreRemovedArgs};
pub(crate) use search::SearchArgs;
pub(crate) use service::ServiceArgs;
pub(crate) use show::ShowArgs;
pub(crate) use sources::{RemoveSourceArgs, SourcesArgs, SourcesCommand};
pub(crate) use ui::UiArgs;
pub(crate) use watch::{
    AddWatchArgs, ListWatchesArgs, PauseWatchArgs, RemoveWatchArgs, ResumeWatchArgs, WatchArgs,
    WatchCommand, WatchSelection,
};
pub(crate) use workspaces::{
    RemoveWorkspaceArgs, WorkspaceRootFlags, WorkspacesArgs, WorkspacesCommand,
};

/// Returns the arguments with the excluded words of a search shielded from clap.
pub(crate) fn prepare_arguments(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let command = Cli::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    search::shield_excluded_words(args, &names)
}

/// Returns the command with its options after its subcommand, if they were refused because they came before.
pub(crate) fn suggest_option_order(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let prior = error.get(ContextKind::PriorArg)?;
    let options = if let ContextValue::Strings(options) = prior {
        options.clone()
    } else {
        vec![prior.to_string()]
    };
    // only the usage names the command of the subcommand
    let usage = error.get(ContextKind::Usage)?.to_string();
    let program = Cli::command();
    let command = program
        .get_subcommands()
        .find(|command| usage.contains(&format!("highwater {} ", command.get_name())))?;
    let subcommand = command.find_subcommand(name)?;
    let mut words = vec!["highwater", command.get_name(), name];
    for option in &options {
        let flag = option.split(' ').next()?.strip_prefix("--")?;
        // without it, another order does not help
        subcommand.get_arguments().find(|known| known.get_long() == Some(flag))?;
        words.push(option);
    }
    let positionals = subcommand.get_positionals().filter_map(clap::Arg::get_value_names).flatten();
    words.extend(positionals.map(clap::builder::Str::as_str));
    Some(words.join(" ").replace(['<', '>'], ""))
}

/// Keeps a local, searchable copy of what people write on GitHub, and never loses a word.
#[derive(Parser)]
#[command(name = "highwater", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Log format [default: $HIGHWATER_LOG_FORMAT, else text].
    #[arg(long, global = true, value_name = "FORMAT", value_parser = LogFormat::NAMES)]
    pub(crate) log_format: Option<String>,

    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

#[derive(Subcommand)]
pub(crate) enum CliCommand {
    Pull(Box<PullArgs>),
    Service(ServiceArgs),
    Search(SearchArgs),
    List(ListArgs),
    Show(ShowArgs),
    Export(ExportArgs),
    Removed(RemovedArgs),
    Mcp(McpArgs),
    Ui(UiArgs),
    Doctor(Box<DoctorArgs>),
    Backup(BackupArgs),
    Bluesky(BlueskyArgs),
    Watch(WatchArgs),
    Events(EventsArgs),
    Sources(SourcesArgs),
    Workspaces(WorkspacesArgs),
    Demo(DemoArgs),
    Init(InitArgs),
    Config(ConfigArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Runs highwater on simulated data; no token or network needed.
///
/// Starts a simulated GitHub on this machine, pulls its repositories, discussions,
/// issues, pull requests and comments into a temporary workspace, and compares
/// every stored text with the simulated original. It also polls a dozen accounts of
/// a simulated Bluesky. Then it serves the workspace to your browser and keeps
/// reading what the simulated users write, until Ctrl-C.
///
/// Examples:
///   highwater demo            pulls, then serves http://127.0.0.1:8080/
///   highwater demo --once     pulls once, compares, and stops
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct DemoArgs {
    /// Stop after the first pull.
    #[arg(long)]
    pub(crate) once: bool,

    /// Print one JSON object instead of the summary.
    #[arg(long, requires = "once")]
    pub(crate) json: bool,

    /// Port for the web page [default: 8080, or any free port if it is taken].
    #[arg(short = 'p', long, value_name = "PORT", conflicts_with = "once", value_parser = parse_port,
          allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,

    /// Seed for the simulated data: the same number gives the same repositories and texts.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = parse_seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,

    /// Keep the workspace in this directory instead of a temporary one.
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
}

fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a non-negative whole number, got {text:?}"))
}

/// Prints a shell completion script.
///
/// For bash (takes effect in a new shell):
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
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for.
    pub(crate) shell: clap_complete::Shell,
}

/// Prints the manual page, or writes the pages of all commands to a directory.
///
/// Examples:
///   highwater man | man -l -
///   highwater man ~/.local/share/man/man1
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ManArgs {
    /// Directory to write one page per command to; created if missing.
    #[arg(value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

/// Flags that select a workspace.
#[derive(Args)]
pub(crate) struct WorkspaceFlags {
    /// Home directory [default: $HIGHWATER_HOME, else ~/.highwater].
    #[arg(short = 'm', long, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,

    /// Workspace name [default: $HIGHWATER_WORKSPACE, else the organization, else the only existing workspace, else `default`].
    #[arg(long, value_name = "NAME")]
    pub(crate) workspace: Option<String>,

    /// Organization or user [default: $ORGANIZATION].
    #[arg(short = 'o', long, value_name = "LOGIN", value_parser = github_names::parse_owner)]
    pub(crate) organization: Option<Login>,

    /// Database to use instead of the one in the home directory: a file, postgres://… or
    /// "host=… dbname=…" [default: $HIGHWATER_DATABASE].
    #[arg(long, value_name = "URL")]
    pub(crate) database: Option<String>,
}
