//! The arguments of `highwater service`.

use clap::Args;

use super::WorkspaceFlags;

/// Keeps the workspace up to date until it is stopped.
///
/// Pulls what the workspace follows every 15 minutes, polls its accounts on Bluesky
/// every 15 minutes and its watched repositories every minute, and compares each
/// list with GitHub's once a day. `highwater config show` lists the intervals. When
/// the rate limit is short, watched threads come first, then accounts, then pulls.
///
/// It needs no terminal: it logs to files in the `logs` directory of the home
/// directory, one a day, kept for two weeks. Ctrl-C and SIGTERM stop it within two
/// seconds; nothing is lost, and the next start continues from there. `highwater
/// doctor` and the web page show whether it runs and what it does next.
///
/// A `highwater pull` beside it is done by the service, and reports the result.
/// One service runs in a workspace that is a file; any number share one on
/// PostgreSQL. docs/operations.md describes how to run it under systemd.
///
/// Examples:
///   highwater service                   everything the workspace follows
///   highwater service -o acme           the workspace of one organization
///   highwater service --once            what is due now, for cron
///   highwater service --once --json     the same, with one JSON object at the end
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ServiceArgs {
    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,

    /// Poll every watched repository and account now, do what else is due, and stop.
    #[arg(long)]
    pub(crate) once: bool,

    /// Print one JSON object instead of the summary.
    #[arg(long, requires = "once")]
    pub(crate) json: bool,
}
