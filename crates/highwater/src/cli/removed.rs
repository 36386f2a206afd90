//! The arguments of `highwater removed`.

use clap::{ArgGroup, Args, Subcommand};
use hw_rules::date_range;
use hw_rules::source_time::SourceInstant;

use super::{OutputArgs, WorkspaceFlags};
use crate::config::parse_limit;
use crate::removed_ref::RemovedRef;

/// Lists or restores items that pulls removed. Works offline.
///
/// Once a pull confirms that an item no longer exists on GitHub, lists and
/// searches leave it out, but it can be restored for 30 days. The next pull checks
/// restored items: those that GitHub does not have are removed again.
///
/// Examples:
///   highwater removed list
///   highwater removed restore acme/pump#12
///   highwater removed restore https://github.com/acme/pump/pull/7#issuecomment-99
///   highwater removed restore --all-since 2026-01-31
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RemovedArgs {
    #[command(subcommand)]
    pub(crate) command: RemovedCommand,
}

#[derive(Subcommand)]
pub(crate) enum RemovedCommand {
    List(ListRemovedArgs),
    Restore(RestoreRemovedArgs),
}

impl RemovedCommand {
    pub(crate) fn workspace_flags(&self) -> &WorkspaceFlags {
        match self {
            Self::List(args) => &args.workspace,
            Self::Restore(args) => &args.workspace,
        }
    }
}

/// Lists removed items that can still be restored, newest first.
///
/// Comments removed with their thread, and everything removed with its
/// repository, are counted on that item's line.
///
/// Examples:
///   highwater removed list --limit 20
///   highwater removed list --json --fields url,removed_at,kept_until
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ListRemovedArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,

    /// Maximum number of results.
    #[arg(long, value_name = "NUMBER", value_parser = parse_limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}

/// Restores removed items.
///
/// They reappear in lists and searches immediately, and the next pull checks them.
/// A thread comes back with its comments, a repository with everything in it. An
/// item that a pull has already brought back is left unchanged.
///
/// Examples:
///   highwater removed restore acme/pump#12 acme/pump#13
///   highwater removed restore acme/pump
///   highwater removed restore --all-since 2026-01-31T18:00:00+01:00
#[derive(Args)]
#[command(verbatim_doc_comment, group(ArgGroup::new("selection").required(true)))]
pub(crate) struct RestoreRemovedArgs {
    /// Items to restore: URL, OWNER/REPOSITORY#NUMBER, REPOSITORY#NUMBER, OWNER/REPOSITORY, or the id
    /// from `highwater removed list --json`.
    #[arg(value_name = "ITEM", value_parser = RemovedRef::parse, group = "selection")]
    pub(crate) items: Vec<RemovedRef>,

    /// Restore everything removed on or after this date.
    #[arg(long, value_name = "DATE", value_parser = date_range::parse_first_instant, group = "selection")]
    pub(crate) all_since: Option<SourceInstant>,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}
