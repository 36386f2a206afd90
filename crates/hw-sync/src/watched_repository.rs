//! The turn of a watched repository: which threads moved, what is said in them, and what is new in the comment lists.
//!
//! Three conditional lists show whether anything happened, however many threads are watched and however long they are. Only
//! threads that moved are looked at. What no list brings is read thread by thread: what was said before a watch began, and
//! once a day everything, to find what is gone.

mod departed_threads;
mod moved_threads;
mod repository_poll;
mod shadow;
mod source_issues;
mod thread_scan;
mod thread_sweep;

use std::sync::Arc;

use crate::SyncError;
use crate::turn::TargetRepository;
use crate::watch_context::{PollOutcome, WatchContext};
use repository_poll::RepositoryPoll;

/// Reads a repository for its watches. What cannot be read is reported, and the rest goes on.
pub(crate) async fn poll_repository(
    context: &WatchContext<'_>,
    repository: &Arc<TargetRepository>,
) -> Result<PollOutcome, SyncError> {
    let Some(mut poll) = RepositoryPoll::load(context, repository)? else {
        return Ok(PollOutcome::default());
    };
    poll.read_activity().await?;
    poll.look_at_moved_threads().await?;
    poll.find_closing_pull_requests().await?;
    poll.derive_stored_events()?;
    poll.read_reviews().await?;
    if context.settings.enable_incremental_comment_fetch {
        poll.read_comment_lists().await?;
        poll.bootstrap_threads().await?;
        poll.sweep_threads().await?;
        if context.settings.shadow_compare {
            poll.compare_with_full_scan().await?;
        }
    } else {
        poll.scan_all_threads().await?;
    }
    Ok(poll.finish())
}
