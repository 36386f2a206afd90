//! The arguments of `highwater show`.

use clap::Args;

use super::WorkspaceFlags;
use crate::show_target::ShowTarget;

/// Shows one thread with its comments, as Markdown, or one post. Works offline.
///
/// Control characters that could affect a terminal are removed, even when the
/// output goes to a pipe or a file; `--json` and `highwater export` keep them.
///
/// Examples:
///   highwater show acme/pump#12
///   highwater show pump#12 --json
///   highwater show https://github.com/acme/pump/pull/7 | less
///   highwater show https://bsky.app/profile/alice.bsky.social/post/3k44deefqdk2g
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ShowArgs {
    /// URL of the thread or of a comment in it, or OWNER/REPOSITORY#NUMBER, or REPOSITORY#NUMBER;
    /// or the URL or the at:// URI of a post.
    #[arg(value_name = "THREAD", value_parser = ShowTarget::parse)]
    pub(crate) target: ShowTarget,

    /// Print one JSON object that includes the comments, or the reposts.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) workspace: WorkspaceFlags,
}
