//! The arguments of `highwater show`.

use clap::Args;
use hw_rules::thread_address::ThreadAddress;

use super::WorkspaceFlags;

/// Shows one thread with its comments, as Markdown. Works offline.
///
/// Control characters that could affect a terminal are removed, even when the
/// output goes to a pipe or a file; `--json` and `highwater export` keep them.
///
/// Examples:
///   highwater show acme/pump#12
///   highwater show pump#12 --json
///   highwater show https://github.com/acme/pump/pull/7 | less
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowThreadArgs {
    /// URL of the thread or of a comment in it, or OWNER/REPOSITORY#NUMBER, or REPOSITORY#NUMBER.
    #[arg(value_name = "THREAD", value_parser = ThreadAddress::parse)]
    pub(crate) thread: ThreadAddress,

    /// Print one JSON object that includes the comments.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}
