//! Plans lanes: decides which lanes are followed, and what each of them needs in this pull.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{CommentKind, Repository, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::{self, ChangeSign, LanePlan, LaneRequest, LaneState};
use hw_rules::probe::{self, ExpectedRows, ListingProbe};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_time::SourceInstant;
use hw_store::StoreReader;

use crate::SyncError;
use crate::lane_turn::LaneReading;
use crate::pull::PullSpec;
use crate::turn::{LaneTarget, PullContext, TargetRepository};

/// Probes of a page, by repository id and surface.
pub(crate) type LaneProbes = BTreeMap<(i64, Surface), ListingProbe>;

/// A lane and what it does in this pull.
pub(crate) struct PlannedLane {
    pub(crate) target: LaneTarget,
    pub(crate) plan: LanePlan,
    pub(crate) state: LaneState,
    pub(crate) reading: LaneReading,
    /// Shown as the expected total while the pull runs; none without a probe.
    pub(crate) expected: Option<ExpectedRows>,
}

impl PlannedLane {
    /// Plans a lane that no probe has described and that was not read yet.
    pub(crate) fn without_probe(target: LaneTarget, plan: LanePlan, state: LaneState) -> Self {
        Self { target, plan, state, reading: LaneReading::Unread, expected: None }
    }
}

/// The stored state before the pull requests anything.
pub(crate) struct MirrorSnapshot {
    /// Stored repositories of the sources.
    pub(crate) repositories: Vec<Repository>,
    lane_states: BTreeMap<Lane, LaneState>,
    /// Lanes with quarantined rows.
    waiting_lanes: BTreeSet<Lane>,
}

impl MirrorSnapshot {
    pub(crate) fn from_store(store: &StoreReader, pull: &PullSpec) -> Result<Self, SyncError> {
        let mut repositories = store.repositories(&pull.host)?;
        repositories.retain(|repository| pull.is_known(repository));
        let lanes = store.lanes()?.into_iter();
        let lane_states = lanes.map(|(lane, state, _)| (lane, state)).collect();
        Ok(Self { repositories, lane_states, waiting_lanes: store.lanes_with_quarantine()? })
    }

    /// Returns true if a lane of this host relies on a time later than `base`, or was checked later.
    pub(crate) fn has_claims_beyond(&self, host: &str, base: SourceInstant) -> bool {
        let lanes = self.lane_states.iter().filter(|(lane, _)| lane.host == *host);
        lanes.map(|(_, state)| state).any(|state| {
            state.coverage.latest_claim().max(state.checked_at_ms.map(SourceInstant)) > Some(base)
        })
    }

    /// Returns the lanes that are followed for the first time.
    pub(crate) fn new_lanes<'a>(&self, lanes: &'a [PlannedLane]) -> Vec<&'a Lane> {
        let lanes = lanes.iter().map(|planned| &planned.target.lane);
        lanes.filter(|lane| !self.lane_states.contains_key(*lane)).collect()
    }

    fn plan_lane(
        &self,
        context: &PullContext<'_>,
        pull: &PullSpec,
        target: LaneTarget,
        probe: Option<&ListingProbe>,
    ) -> PlannedLane {
        let lane = &target.lane;
        let state = self.lane_states.get(lane).cloned().unwrap_or_else(LaneState::new);
        let request = LaneRequest {
            has_quarantined: self.waiting_lanes.contains(lane),
            ..context.lane_request(&target, pull.sweep_request())
        };
        let expected = probe.map(|probe| probe::expected_rows(&state, request.window, probe));
        let sign = probe.map_or(ChangeSign::Unknown, ChangeSign::Probe);
        let plan = plan::plan_lane(&state, sign, &request, context.client.clock().now_ms());
        PlannedLane { target, plan, state, reading: LaneReading::Unread, expected }
    }
}

/// Plans the followed lanes of a repository: one for each chosen surface that it has enabled.
pub(crate) fn plan_repository_lanes(
    context: &PullContext<'_>,
    pull: &PullSpec,
    known: &MirrorSnapshot,
    repository: &Repository,
    probes: &LaneProbes,
) -> Vec<PlannedLane> {
    if !pull.is_followed(repository) {
        return Vec::new();
    }
    let target_repository = TargetRepository::from_repository(repository);
    pull.thread_surfaces()
        .filter(|surface| has_surface(repository, *surface))
        .filter_map(|surface| {
            let lane = Lane::for_repository(RepositoryKey::new(&pull.host, repository.id), surface);
            let target = LaneTarget::new(lane, target_repository.clone())?;
            Some(known.plan_lane(context, pull, target, probes.get(&(repository.id, surface))))
        })
        .collect()
}

/// Returns true if a repository has this surface enabled.
pub(crate) fn has_surface(repository: &Repository, surface: Surface) -> bool {
    match surface {
        Surface::Threads(ThreadKind::Discussion)
        | Surface::Comments(CommentKind::DiscussionComment) => repository.has_discussions_enabled,
        Surface::Threads(ThreadKind::Issue) => repository.has_issues_enabled,
        // pull requests have issue comments, too
        Surface::Threads(ThreadKind::PullRequest)
        | Surface::Comments(CommentKind::Conversation)
        | Surface::Comments(CommentKind::ReviewComment)
        | Surface::Comments(CommentKind::Review) => true,
        Surface::Repositories | Surface::Activity | Surface::Feed => false,
    }
}
