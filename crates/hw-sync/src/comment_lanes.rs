//! Decides which comment lanes are due, once the threads are read.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::discovered_page::is_read_since;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, ReadStrategy, Scope, Surface};
use hw_rules::plan::{self, ChangeSign, LanePlan, LaneState, SweepRequest};
use hw_rules::repository_key::RepositoryId;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::since_walk;
use hw_rules::source_time::SourceInstant;

use crate::SyncError;
use crate::plan_lanes::{PlannedLane, has_surface};
use crate::pull::PullSpec;
use crate::turn::{LaneTarget, PullContext, TargetRepository};

/// Thread surfaces that moved in this pull, by repository id.
pub(crate) type MovedSurfaces = BTreeSet<(i64, Surface)>;

/// What this pull has shown about comments so far.
pub(crate) struct MovedLists<'a> {
    /// The listings of threads that moved.
    pub(crate) surfaces: &'a MovedSurfaces,
    /// When the pull began that this one took over. What was read since is not read again.
    pub(crate) resumed_from: Option<SourceInstant>,
}

/// Comment lanes, split into those to read and those that are up to date.
pub(crate) struct DueCommentLanes {
    pub(crate) lanes: Vec<PlannedLane>,
    /// Lanes that are as fresh as the listing of their threads, with the time of that listing.
    pub(crate) fresh_lanes: Vec<(Lane, i64)>,
}

/// The stored state before comments are requested.
struct CommentLaneSnapshot {
    lane_states: BTreeMap<Lane, LaneState>,
    /// Lanes with threads whose comments are due.
    lanes_with_due_threads: BTreeSet<Lane>,
    /// Lanes with quarantined rows.
    waiting_lanes: BTreeSet<Lane>,
}

/// Collects the surfaces of the planned lanes.
pub(crate) fn moved_surfaces(lanes: &[PlannedLane]) -> MovedSurfaces {
    lanes.iter().map(|planned| (planned.target.repository.id, planned.target.surface())).collect()
}

/// Decides which lanes of these repositories are read in this pull.
pub(crate) fn find_due_lanes(
    context: &PullContext<'_>,
    pull: &PullSpec,
    repositories: &[Repository],
    moved: &MovedLists<'_>,
) -> Result<DueCommentLanes, SyncError> {
    let mut due = DueCommentLanes { lanes: Vec::new(), fresh_lanes: Vec::new() };
    if pull.comment_surfaces().next().is_none() {
        return Ok(due);
    }
    let lanes = context.store.lanes()?.into_iter();
    let known = CommentLaneSnapshot {
        lane_states: lanes.map(|(lane, state, _)| (lane, state)).collect(),
        lanes_with_due_threads: context.store.lanes_with_due_threads()?,
        waiting_lanes: context.store.lanes_with_quarantine()?,
    };
    let now_ms = context.client.clock().now_ms();
    for repository in repositories.iter().filter(|repository| pull.is_followed(repository)) {
        let target_repository = TargetRepository::from_repository(repository);
        for surface in pull.comment_surfaces().filter(|surface| has_surface(repository, *surface)) {
            let lane = Lane::for_repository(RepositoryKey::new(&pull.host, repository.id), surface);
            let state = known.lane_states.get(&lane).cloned().unwrap_or_else(LaneState::new);
            let mut state = state.without_later_sweep(now_ms);
            let Some(target) = LaneTarget::new(lane, target_repository.clone()) else { continue };
            // a sweep that waits for issues to be enabled is not due now
            state.sweep_due_ms = state.sweep_due_ms.filter(|_| target.can_be_swept());
            let is_due = pull.reconcile || known.is_due(context, &target, &state, moved);
            let sign = if is_due { ChangeSign::Unknown } else { ChangeSign::Unchanged };
            let request = context.lane_request(&target, pull.sweep_request());
            let plan = plan::plan_lane(&state, sign, &request, now_ms);
            if plan != LanePlan::Skip {
                due.lanes.push(PlannedLane::without_probe(target, plan, state));
            } else if let Some(at) = known.threads_checked_at(&target) {
                due.fresh_lanes.push((target.lane, at));
            }
        }
    }
    Ok(due)
}

/// Returns the thread lanes whose sweep is due.
pub(crate) fn find_lanes_to_sweep(
    context: &PullContext<'_>,
    pull: &PullSpec,
    repositories: &[Repository],
) -> Result<Vec<PlannedLane>, SyncError> {
    if pull.comment_surfaces().next().is_none() {
        return Ok(Vec::new());
    }
    let mut planned = Vec::new();
    let now_ms = context.client.clock().now_ms();
    for (lane, state, _) in context.store.lanes()? {
        if !pull.thread_surfaces().any(|surface| lane.surface == surface) {
            continue;
        }
        let repository = repositories
            .iter()
            .find(|repository| lane.scope == Scope::Repository(RepositoryId(repository.id)))
            .filter(|repository| {
                pull.is_followed(repository) && has_surface(repository, lane.surface)
            });
        if let Some(repository) = repository {
            let repository = TargetRepository::from_repository(repository);
            let Some(target) = LaneTarget::new(lane, repository) else { continue };
            let request = context.lane_request(&target, SweepRequest::WhenDue);
            let plan = plan::plan_lane(&state, ChangeSign::Unknown, &request, now_ms);
            if let LanePlan::Sweep { .. } = plan {
                planned.push(PlannedLane::without_probe(target, plan, state));
            }
        }
    }
    Ok(planned)
}

impl CommentLaneSnapshot {
    fn is_due(
        &self,
        context: &PullContext<'_>,
        target: &LaneTarget,
        state: &LaneState,
        moved: &MovedLists<'_>,
    ) -> bool {
        let (lane, surface) = (&target.lane, target.surface());
        let has_moved = surface.commented_threads().iter().any(|kind| {
            let surface = Surface::Threads(*kind);
            let threads =
                Lane::for_repository(RepositoryKey::new(&lane.host, target.repository.id), surface);
            moved.surfaces.contains(&(target.repository.id, surface))
                || self
                    .lane_states
                    .get(&threads)
                    .is_some_and(|threads| since_walk::is_behind_threads(state, threads))
        });
        let is_read = moved.resumed_from.is_some_and(|began| is_read_since(state, began));
        if is_read && !has_moved && !state.has_leftovers() {
            return self.lanes_with_due_threads.contains(lane);
        }
        let is_due = match target.strategy {
            ReadStrategy::PerThread(_) => {
                self.lanes_with_due_threads.contains(lane) || state.has_leftovers()
            }
            ReadStrategy::Since(_) | ReadStrategy::NewestFirst(_) if !target.can_be_swept() => {
                since_walk::is_optional_list_due(
                    state,
                    has_moved,
                    context.client.last_source_date(),
                )
            }
            ReadStrategy::Since(_) | ReadStrategy::NewestFirst(_) => since_walk::is_list_due(
                state,
                context.window_floor(surface),
                has_moved,
                context.client.last_source_date(),
            ),
        };
        is_due || self.waiting_lanes.contains(lane)
    }

    /// Returns the time of the last listing of the lane's threads.
    fn threads_checked_at(&self, target: &LaneTarget) -> Option<i64> {
        self.lane_states.get(&target.threads_lane()?)?.checked_at_ms
    }
}
