//! Which lanes are followed, and what each of them needs in this pull.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::Repository;
use hw_rules::lane::{Lane, Surface};
use hw_rules::plan::LaneState;
use hw_rules::probe::{self, ExpectedRows, Need, Probe};
use hw_rules::time::Mark;
use hw_store::Store;

use crate::Error;
use crate::run::Pull;
use crate::turn::{Followed, Home, Room};

/// What the probes of a page said, by repository and surface.
pub(crate) type Probes = BTreeMap<(i64, Surface), Probe>;

/// A lane, and what it needs.
pub(crate) struct Wish {
    pub(crate) followed: Followed,
    pub(crate) need: Need,
    pub(crate) state: LaneState,
    /// For the progress of the run; none without a probe.
    pub(crate) expected: Option<ExpectedRows>,
}

/// What is held before anything is asked.
pub(crate) struct Known {
    /// Those of this organisation.
    pub(crate) repositories: Vec<Repository>,
    states: BTreeMap<Lane, LaneState>,
    /// Lanes with rows that could not be read yet.
    waiting: BTreeSet<String>,
}

impl Known {
    pub(crate) fn of(store: &Store, pull: &Pull) -> Result<Self, Error> {
        let mut repositories = store.repositories(&pull.host)?;
        repositories.retain(|held| pull.is_owner(&held.owner));
        let lanes = store.lanes()?.into_iter();
        let states = lanes.map(|(lane, state, _)| (lane, state)).collect();
        Ok(Self { repositories, states, waiting: store.waiting_lanes()? })
    }

    /// Whether some lane of a host relies on a time later than this, or was looked at later.
    pub(crate) fn claims_beyond(&self, host: &str, base: Mark) -> bool {
        let lanes = self.states.iter().filter(|(lane, _)| lane.host == host);
        lanes.map(|(_, state)| state).any(|state| {
            state.coverage.latest_claim().max(state.checked_at_ms.map(Mark)) > Some(base)
        })
    }

    /// The lanes that are followed for the first time.
    pub(crate) fn unknown_lanes<'a>(&self, wishes: &'a [Wish]) -> Vec<&'a Lane> {
        let lanes = wishes.iter().map(|wish| &wish.followed.lane);
        lanes.filter(|lane| !self.states.contains_key(*lane)).collect()
    }

    fn wish(
        &self,
        room: &Room<'_>,
        pull: &Pull,
        followed: Followed,
        probe: Option<&Probe>,
    ) -> Wish {
        let lane = &followed.lane;
        let state = self.states.get(lane).cloned().unwrap_or_else(LaneState::new);
        let has_waiting = self.waiting.contains(&lane.to_string());
        let window = room.window(lane.surface);
        let expected = probe.map(|probe| probe::expected_rows(&state, window, probe));
        let mut need = probe::need(&state, window, probe, has_waiting);
        if pull.reconcile && need == Need::Nothing {
            need = Need::Roll;
        }
        Wish { followed, need, state, expected }
    }
}

/// The lanes of a repository that are followed: its surfaces that are chosen and switched on.
pub(crate) fn wishes(
    room: &Room<'_>,
    pull: &Pull,
    known: &Known,
    repository: &Repository,
    probes: &Probes,
) -> Vec<Wish> {
    if !pull.follows(repository) {
        return Vec::new();
    }
    let home = Home::of(repository);
    let chosen = pull.surfaces().filter(|surface| is_on(repository, *surface));
    let wish = |surface| {
        let lane = Lane::of_repository(&pull.host, repository.id, surface);
        let probe = probes.get(&(repository.id, surface));
        known.wish(room, pull, Followed { lane, home: home.clone() }, probe)
    };
    chosen.map(wish).collect()
}

/// Whether a repository has such a listing.
pub(crate) fn is_on(repository: &Repository, surface: Surface) -> bool {
    match surface {
        Surface::Discussions | Surface::DiscussionComments => repository.has_discussions_enabled,
        Surface::Issues => repository.has_issues_enabled,
        // pull requests have a conversation, too
        Surface::PullRequests
        | Surface::IssueComments
        | Surface::ReviewComments
        | Surface::Reviews => true,
        Surface::Repositories => false,
    }
}
