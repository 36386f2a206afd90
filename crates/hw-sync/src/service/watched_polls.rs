//! Polls a watched repository.

use std::sync::Arc;

use hw_rules::item::CommentKind;
use hw_rules::lane::Surface;

use crate::SyncError;
use crate::pull::PullSpec;
use crate::repository_duty::{CommentListTask, perform_repository};
use crate::schedule::LaneResult;
use crate::turn::{PullContext, TargetRepository};

/// The lists of comments that one request brings up to date.
const LISTS: [CommentKind; 2] = [CommentKind::Conversation, CommentKind::ReviewComment];

/// Reads what is new in a repository, and returns what could not be read.
pub(super) async fn poll_repository(
    context: &PullContext<'_>,
    pull: &PullSpec,
    repository: &Arc<TargetRepository>,
) -> Result<Vec<String>, SyncError> {
    let lists =
        LISTS.map(|kind| CommentListTask { surface: Surface::Comments(kind), is_unchanged: false });
    let outcomes = perform_repository(context, pull, repository, &lists).await?;
    let failures = outcomes.into_iter().filter_map(|outcome| match outcome.result {
        LaneResult::Done(_) | LaneResult::Yielded => None,
        LaneResult::Hidden(error) => Some(error.reason()),
        LaneResult::Failed(failure) => Some(failure.message),
    });
    Ok(failures.collect())
}
