//! The arguments of `highwater removed`.

use clap::{Args, Subcommand, value_parser};
use hw_rules::dates;
use hw_rules::time::Mark;

use super::{Output, WorkspaceArgs};
use crate::removed_ref::RemovedRef;

/// Lists what pulls removed, and restores it. Never asks GitHub.
///
/// What a pull confirms gone leaves the mirror: no list and no search shows it. It
/// is kept for 30 days. A restored item is back at once, and the next pull looks
/// whether GitHub still has it: if not, it is removed again.
///
/// Examples:
///   highwater removed list
///   highwater removed restore acme/pump#12
///   highwater removed restore https://github.com/acme/pump/pull/7#issuecomment-99
///   highwater removed restore --all-since 2026-01-31
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Removed {
    #[command(subcommand)]
    pub(crate) what: RemovedCommand,
}

#[derive(Subcommand)]
pub(crate) enum RemovedCommand {
    List(ListRemoved),
    Restore(RestoreRemoved),
}

impl RemovedCommand {
    pub(crate) fn workspace(&self) -> &WorkspaceArgs {
        match self {
            Self::List(args) => &args.workspace,
            Self::Restore(args) => &args.workspace,
        }
    }
}

/// Lists what was removed and can be restored, the newest first.
///
/// Comments that went with their thread, and everything that went with its
/// repository, are counted in one line with it.
///
/// Examples:
///   highwater removed list --limit 20
///   highwater removed list --json --fields url,removed_at,kept_until
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListRemoved {
    #[command(flatten)]
    pub(crate) output: Output,

    /// At most this many.
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}

/// Restores removed items.
///
/// They are back in lists and search at once, and the next pull checks them. A
/// thread comes back with its comments, a repository with everything in it. An
/// item that has come back by itself stays as it is.
///
/// Examples:
///   highwater removed restore acme/pump#12 acme/pump#13
///   highwater removed restore acme/pump
///   highwater removed restore --all-since 2026-01-31T18:00:00+01:00
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RestoreRemoved {
    /// Which ones: URL, OWNER/REPOSITORY#NUMBER, REPOSITORY#NUMBER, OWNER/REPOSITORY, or the id that
    /// `highwater removed list` shows.
    #[arg(value_name = "ITEM", value_parser = RemovedRef::parse, required_unless_present = "all_since")]
    pub(crate) items: Vec<RemovedRef>,

    /// Everything that was removed at this moment or later.
    #[arg(long, value_name = "DATE", value_parser = dates::parse_from, conflicts_with = "items")]
    pub(crate) all_since: Option<Mark>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}
