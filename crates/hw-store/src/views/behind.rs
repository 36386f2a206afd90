//! How fresh is an answer, and what may be missing from it?

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::address::RepositoryAddress;
use hw_rules::clean::shorten_echo;
use hw_rules::freshness::Freshness;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, Scope, Surface};
use hw_rules::plan::LaneState;
use hw_rules::since::is_behind;
use hw_rules::time::Mark;

use crate::Store;
use crate::error::Error;
use crate::views::pulls::FailedPull;

/// What is behind an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Behind {
    /// Everything that was said up to here is in the answer; none when a list was never read.
    pub fresh_through: Option<Mark>,
    /// What may be missing, a sentence each; nothing when all is well.
    pub missing: Vec<String>,
}

/// How many repositories are worth naming.
const NAMED: usize = 5;

impl Store {
    /// What is behind an answer from these surfaces, of one repository or of all.
    ///
    /// Comments that were never pulled were not chosen, and are missed only where nothing else is asked for.
    pub fn behind(&self, surfaces: &[Surface], repository: Option<&str>) -> Result<Behind, Error> {
        let lanes: BTreeMap<Lane, LaneState> =
            self.lanes()?.into_iter().map(|(lane, state, _)| (lane, state)).collect();
        let mut held = self.held_repositories(&lanes)?;
        let meant = repository.map(RepositoryAddress::of);
        held.retain(|(_, it)| meant.is_none_or(|meant| meant.means(&it.owner, &it.name)));
        let mut told = Told::default();
        for FailedPull { organization, error, .. } in self.failed_pulls()? {
            let error = self.lane_names()?.replace_keys(&error);
            told.missing.push(format!("the last pull of {organization} failed: {error}"));
        }
        if surfaces.contains(&Surface::Repositories) {
            told.listing(&lanes);
        }
        told.failed_listing(&lanes);
        let texts: Vec<_> =
            surfaces.iter().copied().filter(|it| *it != Surface::Repositories).collect();
        let pulled: BTreeSet<Surface> = lanes.keys().map(|lane| lane.surface).collect();
        let only_comments = texts.iter().all(|it| Surface::COMMENTS.contains(it));
        // what was left out of a pull on purpose is missed only where nothing else is asked for
        let has_any = texts.iter().any(|surface| pulled.contains(surface));
        for surface in &texts {
            if pulled.contains(surface) {
                told.surface(*surface, &lanes, &held, meant.is_some());
            } else if Surface::THREADS.contains(surface) && !has_any {
                told.never(format!("no {} were ever pulled into this workspace", surface.name()));
            }
        }
        if only_comments && !texts.is_empty() && texts.iter().all(|it| !pulled.contains(it)) {
            told.never(
                "no comments were ever pulled into this workspace: `highwater pull -i comments` does"
                    .into(),
            );
        }
        if let (Some(name), true) = (repository, held.is_empty()) {
            let name = shorten_echo(name);
            told.never(format!("no repository named {name} is in this workspace"));
        }
        Ok(told.behind())
    }

    fn held_repositories(
        &self,
        lanes: &BTreeMap<Lane, LaneState>,
    ) -> Result<Vec<(String, Repository)>, Error> {
        let hosts: BTreeSet<&String> = lanes.keys().map(|lane| &lane.host).collect();
        let mut held = Vec::new();
        for host in hosts {
            let here = self.repositories(host)?;
            held.extend(here.into_iter().map(|repository| (host.clone(), repository)));
        }
        Ok(held)
    }
}

/// What is gathered, lane by lane.
#[derive(Default)]
struct Told {
    /// The earliest look at any lane; none inside when one was never looked at.
    earliest: Option<Option<Mark>>,
    missing: Vec<String>,
}

impl Told {
    fn never(&mut self, sentence: String) {
        self.earliest = Some(None);
        self.missing.push(sentence);
    }

    fn looked(&mut self, at: Option<Mark>) {
        self.earliest = Some(self.earliest.map_or(at, |earliest| earliest.min(at)));
    }

    /// The listing of an organisation's repositories.
    fn listing(&mut self, lanes: &BTreeMap<Lane, LaneState>) {
        let mut is_read = false;
        for (lane, state) in lanes {
            let Scope::Organization(login) = &lane.scope else { continue };
            is_read |= state.checked_at_ms.is_some();
            self.looked(Freshness::of([(login.clone(), state)]).fresh_through);
            if state.checked_at_ms.is_none() {
                self.missing
                    .push(format!("the repositories of {login} were never listed to the end"));
            }
        }
        if !is_read {
            self.never("no organisation was ever pulled into this workspace as a whole".into());
        }
    }

    /// Whatever is asked for: who could not be listed may have written something.
    fn failed_listing(&mut self, lanes: &BTreeMap<Lane, LaneState>) {
        for (lane, state) in lanes {
            if let Scope::Organization(login) = &lane.scope
                && 0 < state.failures
            {
                self.missing
                    .push(format!("the last listing of the repositories of {login} failed"));
            }
        }
    }

    fn surface(
        &mut self,
        surface: Surface,
        lanes: &BTreeMap<Lane, LaneState>,
        held: &[(String, Repository)],
        is_named: bool,
    ) {
        let (mut read, mut unread) = (Vec::new(), Vec::new());
        for (host, repository) in held.iter().filter(|(_, it)| has(it, surface)) {
            let name = format!("{}/{}", repository.owner, repository.name);
            let lane_of = |surface| lanes.get(&Lane::of_repository(host, repository.id, surface));
            match lane_of(surface) {
                Some(state) => read.push((name, with_probes(state, surface, lane_of))),
                None if is_named || is_unread(surface, lane_of) => unread.push(name),
                None => {}
            }
        }
        let read = read.iter().map(|(name, state)| (name.clone(), state)).collect();
        self.read(read, surface);
        self.unread(&unread, surface);
    }

    fn read(&mut self, lanes: Vec<(String, &LaneState)>, surface: Surface) {
        if lanes.is_empty() {
            return;
        }
        let (fresh, surface) = (Freshness::of(lanes), surface.name());
        self.looked(fresh.fresh_through);
        if let Some(names) = named(&fresh.incomplete) {
            self.missing.push(format!("the {surface} of {names} are not complete yet"));
        }
        if let Some(names) = named(&fresh.failing) {
            self.missing.push(format!("the last reading of the {surface} of {names} failed"));
        }
    }

    /// Their threads are followed, and what is said in them was not read yet.
    fn unread(&mut self, names: &[String], surface: Surface) {
        let Some(names) = named(names) else { return };
        self.looked(None);
        self.missing.push(format!("the {} of {names} were never pulled", surface.name()));
    }

    fn behind(self) -> Behind {
        Behind { fresh_through: self.earliest.flatten(), missing: self.missing }
    }
}

/// Whether a list is followed and was not begun yet. What was left out on purpose has no list of threads, either.
fn is_unread<'a>(surface: Surface, lane_of: impl Fn(Surface) -> Option<&'a LaneState>) -> bool {
    Surface::COMMENTS.contains(&surface)
        && Surface::THREADS.into_iter().any(|it| lane_of(it).is_some())
}

/// A list of comments as fresh as its threads, if it was read after all that moved them: a probe that shows that no
/// thread moved is a look at what is said in them, too.
fn with_probes<'a>(
    state: &LaneState,
    surface: Surface,
    lane_of: impl Fn(Surface) -> Option<&'a LaneState>,
) -> LaneState {
    let threads: Vec<&LaneState> =
        surface.commented_threads().iter().filter_map(|it| lane_of(*it)).collect();
    let is_read = state.coverage.is_complete() && threads.iter().all(|it| !is_behind(state, it));
    let probed_at_ms = threads.iter().map(|it| it.checked_at_ms).min().flatten();
    let mut state = state.clone();
    if is_read && state.checked_at_ms.is_some() {
        state.checked_at_ms = state.checked_at_ms.max(probed_at_ms);
    }
    state
}

/// The first few names, and how many more there are; none when there is nobody to name.
fn named(names: &[String]) -> Option<String> {
    let (named, rest) = names.split_at(names.len().min(NAMED));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    (!named.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

/// Whether a repository has such a listing.
fn has(repository: &Repository, surface: Surface) -> bool {
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
    fn a_thousand_lists_that_are_behind_are_one_sentence() {
        let names: Vec<String> = (0..1_002).map(|number| format!("acme/r{number:04}")).collect();
        let (behind, mut told) = (LaneState::default(), Told::default());
        told.read(names.iter().map(|name| (name.clone(), &behind)).collect(), Surface::Issues);
        let first = "acme/r0000, acme/r0001, acme/r0002, acme/r0003, acme/r0004";
        let sentence = format!("the issues of {first} and 997 more are not complete yet");
        assert_eq!(told.missing, [sentence]);
        assert_eq!(named(&names[..1]).as_deref(), Some("acme/r0000"));
    }

    #[test]
    fn a_thousand_lists_that_fail_are_one_sentence() {
        let failing = LaneState { failures: 3, ..LaneState::default() };
        let mut told = Told::default();
        let lanes = (0..1_000).map(|number| (format!("acme/r{number}"), &failing));
        told.read(lanes.collect(), Surface::Reviews);
        let failed = told.missing.iter().filter(|it| it.ends_with(" and 995 more failed"));
        assert_eq!(failed.count(), 1, "{:?}", told.missing);
    }
}
