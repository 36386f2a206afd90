//! The duty of one repository: its comments. The pull that finds them due requests it, and any worker with the same
//! options may perform it.

use std::sync::Arc;

use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::{LanePlan, LaneState};
use hw_rules::repository_key::RepositoryKey;

use crate::SyncError;
use crate::plan_lanes::PlannedLane;
use crate::pull::PullSpec;
use crate::schedule::{LaneOutcome, run_lanes};
use crate::turn::{LaneTarget, PullContext, TargetRepository};

/// What is to be read of a repository, as the row of its duty stores it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepositoryTask {
    /// The options of the pull that requested it.
    pub(crate) run: String,
    pub(crate) lists: Vec<CommentListTask>,
}

/// What is to be done with one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommentListTask {
    pub(crate) surface: Surface,
    /// True if nothing in it moved, so that only its sweep is due.
    pub(crate) is_unchanged: bool,
}

const RUN_SEPARATOR: &str = " | ";
const UNCHANGED_PREFIX: &str = "unchanged ";

impl RepositoryTask {
    pub(crate) fn to_detail(&self) -> String {
        let lists: Vec<String> = self.lists.iter().copied().map(CommentListTask::to_text).collect();
        format!("{}{RUN_SEPARATOR}{}", self.run, lists.join(","))
    }

    /// Reads a task; none if it is that of a later version.
    pub(crate) fn from_detail(detail: &str) -> Option<Self> {
        let (run, lists) = detail.rsplit_once(RUN_SEPARATOR)?;
        let lists: Option<Vec<_>> = lists.split(',').map(CommentListTask::from_text).collect();
        Some(Self { run: run.to_owned(), lists: lists? })
    }
}

impl CommentListTask {
    pub(crate) fn from_planned(planned: &PlannedLane) -> Self {
        let is_unchanged = planned.plan == LanePlan::Sweep { scan_first: false };
        Self { surface: planned.target.surface(), is_unchanged }
    }

    fn to_text(self) -> String {
        let prefix = if self.is_unchanged { UNCHANGED_PREFIX } else { "" };
        format!("{prefix}{}", self.surface.name())
    }

    fn from_text(text: &str) -> Option<Self> {
        let unchanged = text.strip_prefix(UNCHANGED_PREFIX);
        let surface = Surface::from_name(unchanged.unwrap_or(text))?;
        Some(Self { surface, is_unchanged: unchanged.is_some() })
    }
}

/// Reads these comments of a repository.
pub(crate) async fn perform_repository(
    context: &PullContext<'_>,
    pull: &PullSpec,
    repository: &Arc<TargetRepository>,
    lists: &[CommentListTask],
) -> Result<Vec<LaneOutcome>, SyncError> {
    let lanes = lists.iter().filter_map(|list| {
        let lane =
            Lane::for_repository(RepositoryKey::new(&pull.host, repository.id), list.surface);
        let target = LaneTarget::new(lane, Arc::clone(repository))?;
        // the turn loads the state, and plans by it
        let plan = match list.is_unchanged {
            true => LanePlan::Sweep { scan_first: false },
            false => LanePlan::Scan,
        };
        Some(PlannedLane::without_probe(target, plan, LaneState::new()))
    });
    run_lanes(context, pull, lanes.collect()).await
}

#[cfg(test)]
mod tests {
    use hw_rules::item::CommentKind;

    use super::*;

    #[test]
    fn repository_task_is_read_as_it_is_written() {
        let task = RepositoryTask {
            run: "issues | comments".to_owned(),
            lists: vec![
                CommentListTask {
                    surface: Surface::Comments(CommentKind::Conversation),
                    is_unchanged: false,
                },
                CommentListTask {
                    surface: Surface::Comments(CommentKind::Review),
                    is_unchanged: true,
                },
            ],
        };
        assert_eq!(task.to_detail(), "issues | comments | issue-comments,unchanged reviews");
        assert_eq!(RepositoryTask::from_detail(&task.to_detail()), Some(task));
        for detail in ["", "issues", "issues | ", "issues | smoke-signals"] {
            assert_eq!(RepositoryTask::from_detail(detail), None, "{detail:?}");
        }
    }
}
