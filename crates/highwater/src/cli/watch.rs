//! The arguments of `highwater watch`.

use clap::{Args, Subcommand};
use hw_rules::watch::{WatchStart, WatchSubject};

use super::{OutputArgs, WorkspaceFlags};

/// Watches threads and repositories, so that programs read each comment once.
///
/// `add` writes down what to watch, `highwater service` reads it, and `list`
/// shows what came of it. What is said becomes events: `highwater events`.
///
/// Examples:
///   highwater watch add acme/pump#12
///   highwater watch list
///   highwater events exec --consumer triage -- ./handle-event
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) command: WatchCommand,
}

#[derive(Subcommand)]
pub(crate) enum WatchCommand {
    Add(AddWatchArgs),
    Remove(RemoveWatchArgs),
    List(ListWatchesArgs),
    Pause(PauseWatchArgs),
    Resume(ResumeWatchArgs),
}

impl WatchCommand {
    pub(crate) fn workspace_flags(&self) -> &WorkspaceFlags {
        match self {
            Self::Add(args) => &args.workspace,
            Self::Remove(args) => &args.workspace,
            Self::List(args) => &args.workspace,
            Self::Pause(args) => &args.workspace,
            Self::Resume(args) => &args.workspace,
        }
    }
}

/// Watches a thread, or all threads of a repository. Works offline.
///
/// The service looks it up and reads it; a thread that is already in the workspace
/// starts with what is stored. Without --from, a pull request is read from its
/// start, and issues and command threads from now on.
///
/// Examples:
///   highwater watch add acme/pump#12
///   highwater watch add acme/pump --label agent
///   highwater watch add acme/pump#12 --from 2026-01-31T18:00:00Z
///   highwater watch add acme/pump --source-issue 7
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AddWatchArgs {
    /// OWNER/REPOSITORY#NUMBER, or OWNER/REPOSITORY for all of its threads.
    #[arg(value_name = "SUBJECT", value_parser = parse_subject)]
    pub(crate) subject: WatchSubject,

    /// Only threads of the repository that have this label.
    #[arg(long, value_name = "LABEL", value_parser = parse_label, conflicts_with = "source_issue")]
    pub(crate) label: Option<String>,

    /// Emit what was said since: `start`, `now` or a time [default: start for pull requests, else now].
    #[arg(long = "from", value_name = "START", value_parser = parse_start)]
    pub(crate) start: Option<WatchStart>,

    /// Follow this issue until a pull request closes it, then watch that pull request.
    #[arg(long, value_name = "NUMBER", value_parser = parse_number)]
    pub(crate) source_issue: Option<i64>,

    /// Only look for commands; comments are listed, but not delivered.
    #[arg(long)]
    pub(crate) commands_only: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Stops watching. Events that were emitted stay. Works offline.
///
/// Examples:
///   highwater watch remove acme/pump#12
///   highwater watch remove acme/pump --label agent
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RemoveWatchArgs {
    #[command(flatten)]
    pub(crate) selection: WatchSelection,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Stops emitting events without forgetting the watch. Works offline.
///
/// What is said meanwhile becomes events once the watch is resumed.
///
/// Examples:
///   highwater watch pause acme/pump#12
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PauseWatchArgs {
    #[command(flatten)]
    pub(crate) selection: WatchSelection,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Continues with a paused watch. Works offline.
///
/// Examples:
///   highwater watch resume acme/pump#12
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ResumeWatchArgs {
    #[command(flatten)]
    pub(crate) selection: WatchSelection,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Existing watches, as the user names them.
#[derive(Args)]
pub(crate) struct WatchSelection {
    /// What is watched, as `highwater watch list` prints it.
    #[arg(value_name = "SUBJECT", value_parser = parse_subject, required = true)]
    pub(crate) subjects: Vec<WatchSubject>,

    /// The watch by this label.
    #[arg(long, value_name = "LABEL", value_parser = parse_label, conflicts_with = "source_issue")]
    pub(crate) label: Option<String>,

    /// The watch that follows this issue.
    #[arg(long, value_name = "NUMBER", value_parser = parse_number)]
    pub(crate) source_issue: Option<i64>,
}

/// Lists the watches, and what came of each. Works offline.
///
/// Examples:
///   highwater watch list
///   highwater watch list --json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListWatchesArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

fn parse_subject(text: &str) -> Result<WatchSubject, String> {
    text.parse().map_err(|error: hw_rules::watch::ParseSubjectError| error.to_string())
}

fn parse_start(text: &str) -> Result<WatchStart, String> {
    text.parse().map_err(|error: hw_rules::watch::ParseStartError| error.to_string())
}

fn parse_label(text: &str) -> Result<String, String> {
    let label = text.trim();
    if label.is_empty() { Err("expected a label".to_owned()) } else { Ok(label.to_owned()) }
}

fn parse_number(text: &str) -> Result<i64, String> {
    let number = text.trim_start_matches('#').parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("expected the number of an issue, got {text:?}"))
}
