//! Decides which repository has which name: a name that was reused belongs to the repository that was observed last.

use std::collections::BTreeMap;

use hw_rules::item::{ItemObservation, MirrorItem, ObjectId, Repository};
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;

use super::WrittenText;
use super::repository_names::NamedRepository;

/// An observed repository with its claim to its name.
pub(super) struct ClaimedRepository<'a> {
    pub(super) item: &'a MirrorItem,
    pub(super) repository: &'a Repository,
    pub(super) claim: NameClaim,
}

impl<'a> ClaimedRepository<'a> {
    /// Returns the repository under the name that it was given.
    pub(super) fn to_written_text(
        &self,
        names: &NameAssignments,
    ) -> Option<(ObjectId, WrittenText<'a>)> {
        let NamedRepository { name, url, .. } = &names.now.get(&self.repository.id)?.name;
        let (repository, url) = (name.clone(), url.clone());
        let item = self.item;
        let text = WrittenText { item, repository, url, search_rowid: None, prepared: None };
        Some((item.key(), text))
    }
}

pub(super) fn repository_claim(observation: &ItemObservation) -> Option<ClaimedRepository<'_>> {
    match &observation.item {
        MirrorItem::Repository(repository) => {
            let claim = NameClaim::new(repository, observation.observed_at);
            Some(ClaimedRepository { item: &observation.item, repository, claim })
        }
        MirrorItem::Thread(_) | MirrorItem::Comment(_) | MirrorItem::Post(_) => None,
    }
}

/// The last observation of a repository under its name. The latest observation has the best claim to a name.
///
/// A listing can contain one name twice if a rename happens while it is read. Then the name belongs to the repository
/// that was updated last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NameClaim {
    pub(super) seen: Option<ObservedAt>,
    pub(super) updated_at: Option<SourceInstant>,
    pub(super) id: i64,
}

impl NameClaim {
    pub(super) fn new(repository: &Repository, seen: ObservedAt) -> Self {
        let updated_at = Some(repository.updated_at.instant());
        Self { seen: Some(seen), updated_at, id: repository.id }
    }

    /// Creates the claim of a repository that is about to be renamed.
    pub(super) fn none(id: i64) -> Self {
        Self { seen: None, updated_at: None, id }
    }
}

/// A repository's name with its claim to it.
#[derive(Clone)]
pub(super) struct ClaimedName {
    pub(super) name: NamedRepository,
    pub(super) claim: NameClaim,
}

/// The names of the repositories around a page, before and after it is written.
pub(super) struct NameAssignments {
    pub(super) before: BTreeMap<i64, ClaimedName>,
    pub(super) now: BTreeMap<i64, ClaimedName>,
}

impl NameAssignments {
    /// Drops the claims that are later than the source's clock, because a clock was wrong.
    pub(super) fn distrust_beyond(&mut self, latest: Option<SourceInstant>) {
        let Some(latest) = latest else { return };
        for (id, ClaimedName { claim, .. }) in &mut self.now {
            if claim.seen.is_some_and(|seen| seen.at_ms > latest.0) {
                *claim = NameClaim::none(*id);
            }
        }
    }

    /// Renews the claims of repositories that the page lists under their current name.
    pub(super) fn confirm_names<'a>(
        &mut self,
        observed: impl Iterator<Item = ClaimedRepository<'a>>,
    ) {
        for ClaimedRepository { repository, claim, .. } in observed {
            if let Some(current) = self.now.get_mut(&repository.id)
                && current.name == NamedRepository::from_repository(repository)
            {
                current.claim = claim.max(current.claim);
            }
        }
    }

    /// Gives each of these repositories its name, unless another repository has a better claim to it.
    pub(super) fn assign_names(&mut self, repositories: &[ClaimedRepository<'_>]) {
        for ClaimedRepository { repository, .. } in repositories {
            if let Some(current) = self.now.get_mut(&repository.id) {
                current.claim = NameClaim::none(repository.id);
            }
        }
        for ClaimedRepository { repository, claim, .. } in repositories {
            let name = NamedRepository::from_repository(repository);
            let mut holders: Vec<_> =
                self.now.values_mut().filter(|holder| holder.name.conflicts_with(&name)).collect();
            let is_lost = holders.iter().any(|holder| *claim < holder.claim);
            if !is_lost {
                for holder in &mut holders {
                    holder.name = holder.name.to_displaced();
                }
            }
            let name = if is_lost { name.to_displaced() } else { name };
            self.now.insert(repository.id, ClaimedName { name, claim: *claim });
        }
    }

    /// Returns the new names of renamed repositories.
    pub(super) fn renamed_repositories(&self) -> impl Iterator<Item = &NamedRepository> {
        self.before.iter().filter_map(|(id, before)| {
            self.now.get(id).map(|now| &now.name).filter(|name| **name != before.name)
        })
    }

    /// Returns the names of repositories that had no row.
    pub(super) fn new_repositories(&self) -> impl Iterator<Item = &NamedRepository> {
        let new = self.now.iter().filter(|(id, _)| !self.before.contains_key(id));
        new.map(|(_, now)| &now.name)
    }

    /// Returns the names of repositories that lost theirs to another.
    pub(super) fn displaced_repositories(&self) -> impl Iterator<Item = &NamedRepository> {
        self.now.values().map(|now| &now.name).filter(|name| name.is_displaced())
    }
}
