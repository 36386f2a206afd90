//! Reports how fresh an answer is, and what may be missing from it.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::follow_reason::LaneUse;
use hw_rules::freshness::AnswerFreshness;
use hw_rules::item::{CommentKind, Repository, ThreadKind};
use hw_rules::lane::{Lane, Surface};
use hw_rules::missing::{Missing, RepositoryLanes, RepositoryListing};
use hw_rules::plan::LaneState;
use hw_rules::repository_key::{Host, RepositoryKey};
use hw_rules::safe_text::truncate_echo;
use hw_rules::since_walk::is_behind_threads;
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_address::RepositoryRef;

use crate::StoreReader;
use crate::error::StoreError;
use crate::views::pulls::FailedPull;

/// The freshness of an answer and its known gaps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completeness {
    /// The answer has everything that was written up to this time; `None` if a list was never read.
    pub fresh_through: Option<SourceInstant>,
    /// Everything that may be missing.
    pub missing: Vec<Missing>,
}

/// The states of the lanes that the mirror uses. A lane of another use says nothing of what was pulled.
type LaneStates = BTreeMap<Lane, LaneState>;

impl StoreReader {
    /// Reports how complete an answer from these surfaces is, for one repository or for all.
    ///
    /// A surface that was never pulled was left out on purpose, so it is reported only if the answer has no other.
    pub fn completeness(
        &self,
        surfaces: &[Surface],
        repository: Option<&str>,
    ) -> Result<Completeness, StoreError> {
        let lanes: LaneStates = self
            .lanes_used_by(LaneUse::Mirror)?
            .into_iter()
            .map(|(lane, state, _)| (lane, state))
            .collect();
        let mut stored = self.stored_repositories(&lanes)?;
        let requested = repository.map(RepositoryRef::parse);
        if let Some(requested) = requested {
            stored.retain(|HostRepository { repository, .. }| {
                requested.matches_name(&repository.owner, &repository.name)
            });
        }
        let mut builder = CompletenessBuilder::default();
        for FailedPull { source, error, .. } in self.failed_pulls()? {
            let error = self.lane_names()?.replace_keys(&error);
            builder.missing.push(Missing::FailedPull { source, error });
        }
        if surfaces.contains(&Surface::Repositories) {
            builder.add_listings(&lanes);
        }
        builder.add_failed_listings(&lanes);
        let pulled: BTreeSet<Surface> = lanes.keys().map(|lane| lane.surface).collect();
        let texts: Vec<Surface> =
            surfaces.iter().copied().filter(|surface| *surface != Surface::Repositories).collect();
        for surface in texts.iter().filter(|surface| pulled.contains(surface)) {
            builder.add_surface(*surface, &lanes, &stored, requested);
        }
        if texts.iter().all(|surface| !pulled.contains(surface)) {
            builder.add_never_pulled(&texts);
        }
        if let (Some(name), true) = (repository, stored.is_empty()) {
            let name = truncate_echo(name).into_owned();
            builder.add_never_read(Missing::UnknownRepository { name });
        }
        Ok(builder.build())
    }

    fn stored_repositories(&self, lanes: &LaneStates) -> Result<Vec<HostRepository>, StoreError> {
        let hosts: BTreeSet<&Host> = lanes.keys().map(|lane| &lane.host).collect();
        let mut stored = Vec::new();
        for host in hosts {
            let repositories = self.repositories(host)?.into_iter();
            stored.extend(
                repositories.map(|repository| HostRepository { host: host.clone(), repository }),
            );
        }
        Ok(stored)
    }
}

impl Completeness {
    /// Adds what else may be missing, each thing once.
    pub fn add_missing(&mut self, others: Vec<Missing>) {
        for other in others {
            if !self.missing.contains(&other) {
                self.missing.push(other);
            }
        }
    }
}

/// A repository, with its host.
struct HostRepository {
    host: Host,
    repository: Repository,
}

/// Collects the freshness of lane after lane.
#[derive(Default)]
struct CompletenessBuilder {
    /// The earliest check of any lane; `Some(None)` if a lane was never checked.
    earliest_check: Option<Option<SourceInstant>>,
    missing: Vec<Missing>,
}

impl CompletenessBuilder {
    fn add_never_read(&mut self, missing: Missing) {
        self.earliest_check = Some(None);
        self.missing.push(missing);
    }

    fn note_check(&mut self, at: Option<SourceInstant>) {
        self.earliest_check = Some(self.earliest_check.map_or(at, |earliest| earliest.min(at)));
    }

    /// Reports the lists of repositories of all sources.
    fn add_listings(&mut self, lanes: &LaneStates) {
        let mut has_read = false;
        for (lane, state) in lanes {
            let Some(list) = RepositoryListing::from_scope(&lane.scope) else { continue };
            has_read |= state.checked_at_ms.is_some();
            self.note_check(AnswerFreshness::from_lanes([(String::new(), state)]).fresh_through);
            if state.checked_at_ms.is_none() {
                self.missing.push(Missing::UnreadListing(list));
            }
        }
        if !has_read {
            self.add_never_read(Missing::NoListing);
        }
    }

    /// Reports failed lists of repositories for every answer: a repository that was not listed may contain matches.
    fn add_failed_listings(&mut self, lanes: &LaneStates) {
        for (lane, state) in lanes {
            if let Some(list) = RepositoryListing::from_scope(&lane.scope)
                && state.failures > 0
            {
                self.missing.push(Missing::FailedListing(list));
            }
        }
    }

    /// Reports surfaces none of which was ever pulled. Comments count once, and only if nothing else is requested.
    fn add_never_pulled(&mut self, surfaces: &[Surface]) {
        let mut has_threads = false;
        for surface in surfaces.iter().filter(|surface| Surface::THREADS.contains(surface)) {
            has_threads = true;
            self.add_never_read(Missing::NeverPulledThreads(*surface));
        }
        if !has_threads && !surfaces.is_empty() {
            self.add_never_read(Missing::NeverPulledComments);
        }
    }

    fn add_surface(
        &mut self,
        surface: Surface,
        lanes: &LaneStates,
        stored: &[HostRepository],
        requested: Option<RepositoryRef<'_>>,
    ) {
        let (mut read, mut unread) = (Vec::new(), Vec::new());
        for HostRepository { host, repository } in stored {
            if !has_surface(repository, surface) {
                continue;
            }
            let name = format!("{}/{}", repository.owner, repository.name);
            let lanes = StoredLanes { lanes, repository: RepositoryKey::new(host, repository.id) };
            match lanes.get(surface) {
                Some(state) => read.push((name, lanes.with_probes(state, surface))),
                None if requested.is_some() || lanes.is_unread(surface) => unread.push(name),
                None => {}
            }
        }
        let read = read.iter().map(|(name, state)| (name.clone(), state)).collect();
        self.add_read_lanes(read, surface);
        self.add_unread_lanes(unread, surface);
    }

    fn add_read_lanes(&mut self, lanes: Vec<(String, &LaneState)>, surface: Surface) {
        if lanes.is_empty() {
            return;
        }
        let fresh = AnswerFreshness::from_lanes(lanes);
        self.note_check(fresh.fresh_through);
        let incomplete = RepositoryLanes::new(surface, fresh.incomplete);
        self.missing.extend(incomplete.map(Missing::IncompleteLanes));
        let failed = RepositoryLanes::new(surface, fresh.failing);
        self.missing.extend(failed.map(Missing::FailedLanes));
    }

    fn add_unread_lanes(&mut self, names: Vec<String>, surface: Surface) {
        let Some(unread) = RepositoryLanes::new(surface, names) else { return };
        self.note_check(None);
        self.missing.push(Missing::NeverPulledLanes(unread));
    }

    fn build(self) -> Completeness {
        Completeness { fresh_through: self.earliest_check.flatten(), missing: self.missing }
    }
}

/// The lanes of one repository.
struct StoredLanes<'a> {
    lanes: &'a LaneStates,
    repository: RepositoryKey,
}

impl<'a> StoredLanes<'a> {
    fn get(&self, surface: Surface) -> Option<&'a LaneState> {
        self.lanes.get(&Lane::for_repository(self.repository.clone(), surface))
    }

    /// Returns true if a comment list is pulled but was not started yet. A repository that is left out on purpose has
    /// no thread lists, either.
    fn is_unread(&self, surface: Surface) -> bool {
        Surface::COMMENTS.contains(&surface)
            && Surface::THREADS.into_iter().any(|threads| self.get(threads).is_some())
    }

    /// Marks a comment list as fresh as its threads if it was read after everything that moved them: a probe that
    /// finds no moved thread covers the comments, too.
    fn with_probes(&self, state: &LaneState, surface: Surface) -> LaneState {
        let threads: Vec<&LaneState> = surface
            .commented_threads()
            .iter()
            .filter_map(|kind| self.get(Surface::Threads(*kind)))
            .collect();
        let is_read = state.coverage.is_complete()
            && threads.iter().all(|threads| !is_behind_threads(state, threads));
        let probed_at_ms = threads.iter().map(|threads| threads.checked_at_ms).min().flatten();
        let mut state = state.clone();
        if is_read && state.checked_at_ms.is_some() {
            state.checked_at_ms = state.checked_at_ms.max(probed_at_ms);
        }
        state
    }
}

/// Returns true if the surface is enabled for the repository.
fn has_surface(repository: &Repository, surface: Surface) -> bool {
    match surface {
        Surface::Threads(ThreadKind::Discussion)
        | Surface::Comments(CommentKind::DiscussionComment) => repository.has_discussions_enabled,
        Surface::Threads(ThreadKind::Issue) => repository.has_issues_enabled,
        Surface::Threads(ThreadKind::PullRequest)
        | Surface::Repositories
        | Surface::Comments(CommentKind::Conversation)
        | Surface::Comments(CommentKind::ReviewComment)
        | Surface::Comments(CommentKind::Review) => true,
        Surface::Activity | Surface::Feed => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completeness_reports_a_thousand_lists_as_one_missing_thing() {
        let names: Vec<String> = (0..1_000).map(|number| format!("acme/r{number:04}")).collect();
        let failing = LaneState { failures: 3, ..LaneState::default() };
        let mut builder = CompletenessBuilder::default();
        let lanes = names.iter().map(|name| (name.clone(), &failing));
        builder.add_read_lanes(lanes.collect(), Surface::Threads(ThreadKind::Issue));
        let lanes = RepositoryLanes::new(Surface::Threads(ThreadKind::Issue), names).unwrap();
        assert_eq!(
            builder.missing,
            [Missing::IncompleteLanes(lanes.clone()), Missing::FailedLanes(lanes)]
        );
    }
}
