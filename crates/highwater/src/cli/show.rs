//! The arguments of `highwater show`.

use clap::Args;
use hw_rules::address::ThreadAddress;

use super::WorkspaceArgs;

/// Shows one thread with its comments, as Markdown. Never asks GitHub.
///
/// Characters that could steer a terminal are left out, also in a pipe or a file;
/// `--json` and `highwater export` keep every one.
///
/// Examples:
///   highwater show acme/pump#12
///   highwater show pump#12 --json
///   highwater show https://github.com/acme/pump/pull/7 | less
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowThread {
    /// Which one: its address in the web, or that of a comment in it, or OWNER/REPOSITORY#NUMBER, or
    /// REPOSITORY#NUMBER.
    #[arg(value_name = "THREAD", value_parser = ThreadAddress::parse)]
    pub(crate) thread: ThreadAddress,

    /// Print one JSON object, the comments in it.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceArgs,
}
