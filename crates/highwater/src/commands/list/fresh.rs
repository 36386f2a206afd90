//! What is missing from a list, said on stderr. A list that is whole needs no words.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::freshness::Freshness;
use hw_rules::item::Repository;
use hw_rules::lane::{Lane, Scope, Surface};
use hw_rules::plan::LaneState;
use hw_store::Store;

use crate::report::warn;

/// How many repositories are worth naming.
const NAMED: usize = 5;

/// All repositories that are held, each with its host, by name.
pub(super) fn held(store: &Store) -> anyhow::Result<Vec<(String, Repository)>> {
    let hosts: BTreeSet<String> =
        store.lanes()?.into_iter().map(|(lane, _, _)| lane.host).collect();
    let mut held = Vec::new();
    for host in hosts {
        let here = store.repositories(&host)?;
        held.extend(here.into_iter().map(|repository| (host.clone(), repository)));
    }
    Ok(held)
}

/// Warns of the listings of one surface that are not complete, of one repository or of all.
pub(super) fn warn_of_threads(
    store: &Store,
    surface: Surface,
    repository: Option<&str>,
) -> anyhow::Result<()> {
    let lanes = store.lanes()?.into_iter().filter(|(lane, _, _)| lane.surface == surface);
    let lanes: BTreeMap<Lane, LaneState> = lanes.map(|(lane, state, _)| (lane, state)).collect();
    if lanes.is_empty() {
        warn(&format!("no {} were ever pulled into this workspace", surface.name()));
        return Ok(());
    }
    let mut held = held(store)?;
    held.retain(|(_, it)| repository.is_none_or(|name| it.name == name));
    if let (Some(name), true) = (repository, held.is_empty()) {
        warn(&format!("no repository named {name} is in this workspace"));
    }
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for (host, repository) in held.iter().filter(|(_, it)| has(it, surface)) {
        let name = format!("{}/{}", repository.owner, repository.name);
        match lanes.get(&Lane::of_repository(host, repository.id, surface)) {
            Some(state) => read.push((name, state)),
            None => unread.push(name),
        }
    }
    warn_of_read(read, surface);
    warn_of_unread(&unread, surface);
    Ok(())
}

/// Warns of the listings of comments that are not complete. Those that were never pulled were not chosen.
pub(super) fn warn_of_comments(store: &Store, repository: Option<&str>) -> anyhow::Result<()> {
    let pulled: BTreeSet<Surface> =
        store.lanes()?.into_iter().map(|(lane, _, _)| lane.surface).collect();
    let pulled: Vec<_> =
        Surface::COMMENTS.into_iter().filter(|surface| pulled.contains(surface)).collect();
    if pulled.is_empty() {
        warn("no comments were ever pulled into this workspace: `highwater pull -i comments` does");
    }
    pulled.into_iter().try_for_each(|surface| warn_of_threads(store, surface, repository))
}

/// Warns when the listing of repositories was not read to its end.
pub(super) fn warn_of_repositories(store: &Store) -> anyhow::Result<()> {
    let mut is_read = false;
    for (lane, state, _) in store.lanes()? {
        if let Scope::Organization(login) = &lane.scope {
            is_read |= state.checked_at_ms.is_some();
            if state.checked_at_ms.is_none() {
                warn(&format!("the repositories of {login} were never listed to the end"));
            }
            if 0 < state.failures {
                warn(&format!("the last listing of the repositories of {login} failed"));
            }
        }
    }
    if !is_read {
        warn("no organisation was ever pulled into this workspace as a whole");
    }
    Ok(())
}

fn warn_of_read(lanes: Vec<(String, &LaneState)>, surface: Surface) {
    let (fresh, surface) = (Freshness::of(lanes), surface.name());
    for name in &fresh.incomplete {
        warn(&format!("the {surface} of {name} are not complete yet"));
    }
    for name in &fresh.failing {
        warn(&format!("the last reading of the {surface} of {name} failed"));
    }
}

/// Excluded repositories are among them: a list without them is no list of everything.
fn warn_of_unread(names: &[String], surface: Surface) {
    let Some((named, rest)) = names.split_at_checked(names.len().min(NAMED)) else { return };
    if named.is_empty() {
        return;
    }
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    warn(&format!("the {} of {}{more} were never pulled", surface.name(), named.join(", ")));
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
