//! Reports how fresh an answer is, and what may be missing from it.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::freshness::AnswerFreshness;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, Scope, Surface};
use hw_rules::plan::LaneState;
use hw_rules::safe_text::truncate_echo;
use hw_rules::since_walk::is_behind_threads;
use hw_rules::source_time::SourceInstant;
use hw_rules::thread_address::RepositoryRef;

use crate::StoreReader;
use crate::error::StoreError;
use crate::views::lane_names::surface_label;
use crate::views::pulls::FailedPull;

/// The freshness of an answer and its known gaps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completeness {
    /// The answer has everything that was written up to this time; `None` if a list was never read.
    pub fresh_through: Option<SourceInstant>,
    /// One sentence for each thing that may be missing.
    pub missing: Vec<String>,
}

/// The number of repositories that a sentence names.
const MAX_NAMES: usize = 5;

/// The states of all lanes.
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
        let lanes: LaneStates =
            self.lanes()?.into_iter().map(|(lane, state, _)| (lane, state)).collect();
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
            builder.missing.push(format!("the last pull of {source} failed: {error}"));
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
            let name = truncate_echo(name);
            builder.add_never_read(format!("this workspace has no repository named {name}"));
        }
        Ok(builder.build())
    }

    fn stored_repositories(&self, lanes: &LaneStates) -> Result<Vec<HostRepository>, StoreError> {
        let hosts: BTreeSet<&String> = lanes.keys().map(|lane| &lane.host).collect();
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

/// Returns what a list of repositories is called; `None` for lists of a repository.
fn listing_label(scope: &Scope) -> Option<String> {
    match scope {
        Scope::Owner(login) => Some(format!("the repository list of {login}")),
        Scope::SingleRepositories => Some("the list of single repositories".to_owned()),
        Scope::Repository(_) => None,
    }
}

/// A repository, with its host.
struct HostRepository {
    host: String,
    repository: Repository,
}

/// Collects the freshness of lane after lane.
#[derive(Default)]
struct CompletenessBuilder {
    /// The earliest check of any lane; `Some(None)` if a lane was never checked.
    earliest_check: Option<Option<SourceInstant>>,
    missing: Vec<String>,
}

impl CompletenessBuilder {
    fn add_never_read(&mut self, sentence: String) {
        self.earliest_check = Some(None);
        self.missing.push(sentence);
    }

    fn note_check(&mut self, at: Option<SourceInstant>) {
        self.earliest_check = Some(self.earliest_check.map_or(at, |earliest| earliest.min(at)));
    }

    /// Reports the lists of repositories of all sources.
    fn add_listings(&mut self, lanes: &LaneStates) {
        let mut has_read = false;
        for (lane, state) in lanes {
            let Some(list) = listing_label(&lane.scope) else { continue };
            has_read |= state.checked_at_ms.is_some();
            self.note_check(AnswerFreshness::from_lanes([(list.clone(), state)]).fresh_through);
            if state.checked_at_ms.is_none() {
                self.missing.push(format!("{list} was never read to the end"));
            }
        }
        if !has_read {
            self.add_never_read(
                "no organization, user or single repository has been pulled into this workspace as a whole"
                    .into(),
            );
        }
    }

    /// Reports failed lists of repositories for every answer: a repository that was not listed may contain matches.
    fn add_failed_listings(&mut self, lanes: &LaneStates) {
        for (lane, state) in lanes {
            if let Some(list) = listing_label(&lane.scope)
                && state.failures > 0
            {
                self.missing.push(format!("the last update of {list} failed"));
            }
        }
    }

    /// Reports surfaces none of which was ever pulled. Comments count once, and only if nothing else is requested.
    fn add_never_pulled(&mut self, surfaces: &[Surface]) {
        let mut has_threads = false;
        for surface in surfaces.iter().filter(|surface| Surface::THREADS.contains(surface)) {
            has_threads = true;
            let label = surface_label(*surface);
            self.add_never_read(format!("no {label} have been pulled into this workspace"));
        }
        if !has_threads && !surfaces.is_empty() {
            self.add_never_read(
                "comments are not downloaded; get them with `highwater pull -i comments`".into(),
            );
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
            let lanes = RepositoryLanes { lanes, host, repository_id: repository.id };
            match lanes.get(surface) {
                Some(state) => read.push((name, lanes.with_probes(state, surface))),
                None if requested.is_some() || lanes.is_unread(surface) => unread.push(name),
                None => {}
            }
        }
        let read = read.iter().map(|(name, state)| (name.clone(), state)).collect();
        self.add_read_lanes(read, surface);
        self.add_unread_lanes(&unread, surface);
    }

    fn add_read_lanes(&mut self, lanes: Vec<(String, &LaneState)>, surface: Surface) {
        if lanes.is_empty() {
            return;
        }
        let (fresh, label) = (AnswerFreshness::from_lanes(lanes), surface_label(surface));
        self.note_check(fresh.fresh_through);
        if let Some(names) = join_names(&fresh.incomplete) {
            self.missing.push(format!("the {label} of {names} are not complete yet"));
        }
        if let Some(names) = join_names(&fresh.failing) {
            self.missing.push(format!("the last update of the {label} of {names} failed"));
        }
    }

    fn add_unread_lanes(&mut self, names: &[String], surface: Surface) {
        let Some(names) = join_names(names) else { return };
        self.note_check(None);
        self.missing.push(format!("the {} of {names} were never pulled", surface_label(surface)));
    }

    fn build(self) -> Completeness {
        Completeness { fresh_through: self.earliest_check.flatten(), missing: self.missing }
    }
}

/// The lanes of one repository.
struct RepositoryLanes<'a> {
    lanes: &'a LaneStates,
    host: &'a str,
    repository_id: i64,
}

impl<'a> RepositoryLanes<'a> {
    fn get(&self, surface: Surface) -> Option<&'a LaneState> {
        self.lanes.get(&Lane::for_repository(self.host, self.repository_id, surface))
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
        let threads: Vec<&LaneState> =
            surface.commented_threads().iter().filter_map(|threads| self.get(*threads)).collect();
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

/// Joins the first few names and the number of the others; `None` if there are no names.
fn join_names(names: &[String]) -> Option<String> {
    let (named, rest) = names.split_at(names.len().min(MAX_NAMES));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

/// Returns true if the surface is enabled for the repository.
fn has_surface(repository: &Repository, surface: Surface) -> bool {
    match surface {
        Surface::Discussions | Surface::DiscussionComments => repository.has_discussions_enabled,
        Surface::Issues => repository.has_issues_enabled,
        Surface::PullRequests
        | Surface::Repositories
        | Surface::IssueComments
        | Surface::ReviewComments
        | Surface::Reviews => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completeness_reports_a_thousand_incomplete_lists_in_one_sentence() {
        let names: Vec<String> = (0..1_002).map(|number| format!("acme/r{number:04}")).collect();
        let (incomplete, mut builder) = (LaneState::default(), CompletenessBuilder::default());
        builder.add_read_lanes(
            names.iter().map(|name| (name.clone(), &incomplete)).collect(),
            Surface::Issues,
        );
        let first = "acme/r0000, acme/r0001, acme/r0002, acme/r0003, acme/r0004";
        let sentence = format!("the issues of {first} and 997 more are not complete yet");
        assert_eq!(builder.missing, [sentence]);
        assert_eq!(join_names(&names[..1]).as_deref(), Some("acme/r0000"));
    }

    #[test]
    fn completeness_reports_a_thousand_failing_lists_in_one_sentence() {
        let failing = LaneState { failures: 3, ..LaneState::default() };
        let mut builder = CompletenessBuilder::default();
        let lanes = (0..1_000).map(|number| (format!("acme/r{number}"), &failing));
        builder.add_read_lanes(lanes.collect(), Surface::Reviews);
        let failed =
            builder.missing.iter().filter(|sentence| sentence.ends_with(" and 995 more failed"));
        assert_eq!(failed.count(), 1, "{:?}", builder.missing);
    }
}
