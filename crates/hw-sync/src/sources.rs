//! Decides what a pull covers: the workspace's sources, and what belongs to them.

use hw_rules::followed_source::{FollowedSource, RepositoryName};
use hw_rules::item::Repository;
use hw_rules::lane::Lane;
use hw_rules::login::Login;
use hw_rules::repository_key::RepositoryKey;
use hw_sources::github::repositories::FoundName;

use crate::SyncError;
use crate::pull::{PullSource, PullSpec};
use crate::summary::PullSummary;
use crate::turn::PullContext;

/// A source that could not be read, and why. The others were read.
#[derive(Debug)]
pub(crate) struct FailedSource {
    pub(crate) source: FollowedSource,
    pub(crate) error: SyncError,
}

/// Returns the pull of what the workspace follows already and of the requested sources.
///
/// A new source is stored once something of it was read, so that a misspelled name is not followed.
pub(crate) fn load_sources(
    context: &PullContext<'_>,
    pull: &PullSpec,
) -> Result<PullSpec, SyncError> {
    let stored = context.store.repositories(&pull.host)?;
    let followed = context.store.sources()?.into_iter().filter(|source| source.host == pull.host);
    let mut sources: Vec<PullSource> = followed
        .map(|followed| PullSource {
            source: followed.source,
            // the name of a repository that is gone may lead to another one by now
            repository_id: followed
                .repository_id
                .filter(|id| stored.iter().any(|repository| repository.id == *id)),
            is_new: false,
        })
        .collect();
    for requested in &pull.sources {
        if !sources.iter().any(|known| known.source.is_same(&requested.source)) {
            sources.push(requested.clone());
        }
    }
    Ok(PullSpec { sources, ..pull.clone() })
}

/// Stores a source of which something was read.
pub(crate) fn store_source(
    context: &PullContext<'_>,
    pull: &mut PullSpec,
    source: &FollowedSource,
) -> Result<(), SyncError> {
    let now_ms = context.client.clock().now_ms();
    for followed in pull.sources.iter_mut().filter(|followed| followed.source.is_same(source)) {
        if std::mem::take(&mut followed.is_new) {
            context.store.add_source(&pull.host, source, now_ms)?;
        }
    }
    Ok(())
}

/// Stores which repositories the names of single repositories lead to.
///
/// A name that leads to a known repository keeps it: another repository that took the name is not followed.
pub(crate) fn resolve_names(
    context: &PullContext<'_>,
    pull: &mut PullSpec,
    found_names: &[FoundName],
) -> Result<(), SyncError> {
    for found in found_names {
        let source = FollowedSource::Repository(found.name.clone());
        store_source(context, pull, &source)?;
        for followed in pull.sources.iter_mut().filter(|followed| followed.source == source) {
            if followed.repository_id.is_none() {
                followed.repository_id = Some(found.repository_id);
                let repository = RepositoryKey::new(&pull.host, found.repository_id);
                context.store.resolve_source(&source, &repository)?;
            }
        }
    }
    Ok(())
}

/// Records how the pull of each source ended, for readers of the mirror. Returns the first error.
pub(crate) fn record_pull_end(
    context: &PullContext<'_>,
    pull: &PullSpec,
    result: Result<PullSummary, SyncError>,
) -> Result<PullSummary, SyncError> {
    let recorded = record_source_ends(context, pull, &result);
    let recorded = recorded.and_then(|()| crate::pull_duty::store_source_clock(context, pull));
    result.and_then(|summary| Ok(recorded.map(|()| summary)?))
}

fn record_source_ends(
    context: &PullContext<'_>,
    pull: &PullSpec,
    result: &Result<PullSummary, SyncError>,
) -> Result<(), hw_store::StoreError> {
    let now_ms = context.client.clock().now_ms();
    let stored = context.store.sources()?.into_iter().filter(|stored| stored.host == pull.host);
    let mut sources: Vec<FollowedSource> = stored.map(|stored| stored.source).collect();
    if result.is_err() {
        // a first pull that fails as a whole has stored none
        let requested = pull.sources.iter().map(|requested| &requested.source);
        let unknown = requested.filter(|source| !sources.iter().any(|known| known.is_same(source)));
        sources.extend(unknown.cloned().collect::<Vec<_>>());
    }
    for source in sources.iter().filter(|source| pull.is_source_chosen(source)) {
        let error = match result {
            Ok(summary) => {
                let mut failed = summary.failed_sources.iter();
                let failed = failed.find(|failed| failed.source.is_same(source));
                failed.map(|failed| failed.error.reason())
            }
            Err(error) => Some(error.reason()),
        };
        let (host, name) = (&pull.host, source.to_string());
        context.store.record_pull_end(host, &name, now_ms, error.as_deref())?;
    }
    Ok(())
}

impl PullSpec {
    /// Returns the owners whose repositories are all followed.
    pub(crate) fn followed_owners(&self) -> impl Iterator<Item = &Login> {
        self.sources.iter().filter_map(|followed| match &followed.source {
            FollowedSource::Owner(login) => Some(login),
            FollowedSource::Repository(_) => None,
        })
    }

    /// Returns the single repositories that are followed, as the user wrote them.
    pub(crate) fn single_repositories(&self) -> impl Iterator<Item = SingleRepository<'_>> {
        self.sources.iter().filter_map(|followed| match &followed.source {
            FollowedSource::Owner(_) => None,
            FollowedSource::Repository(name) => {
                Some(SingleRepository { name, repository_id: followed.repository_id })
            }
        })
    }

    /// Returns the lane of the list that has the repositories of this owner.
    pub(crate) fn listing_lane(&self, owner: &str) -> Lane {
        match self.followed_owners().find(|login| login.is_same(owner)) {
            Some(login) => Lane::owner_repositories(&self.host, login.clone()),
            None => Lane::single_repositories(&self.host),
        }
    }

    /// Returns the lanes of all lists of repositories.
    pub fn listing_lanes(&self) -> Vec<Lane> {
        let owners = self.followed_owners();
        let mut lanes: Vec<Lane> =
            owners.map(|login| Lane::owner_repositories(&self.host, login.clone())).collect();
        if self.single_repositories().next().is_some() {
            lanes.push(Lane::single_repositories(&self.host));
        }
        lanes
    }

    /// Returns the names of all sources, as printed.
    pub(crate) fn source_names(&self) -> String {
        let names: Vec<String> =
            self.sources.iter().map(|followed| followed.source.to_string()).collect();
        names.join(", ")
    }

    /// Returns true if this stored repository belongs to a source.
    pub(crate) fn is_known(&self, repository: &Repository) -> bool {
        is_owner_followed(&self.sources, &repository.owner) || is_single(&self.sources, repository)
    }

    /// Returns true if the mirror includes this repository.
    pub(crate) fn is_mirrored(&self, repository: &Repository) -> bool {
        is_mirrored(&self.sources, repository)
    }

    /// Returns true if this repository's items are followed.
    pub(crate) fn is_followed(&self, repository: &Repository) -> bool {
        self.is_mirrored(repository) && !self.is_excluded(repository)
    }

    pub(crate) fn is_excluded(&self, repository: &Repository) -> bool {
        let Repository { owner, name, .. } = repository;
        self.excluded_repositories.iter().any(|excluded| excluded.selects(owner, name))
    }

    /// Returns true if this pull covers a repository: all of them, or those given by name.
    pub(crate) fn is_chosen(&self, repository: &Repository) -> bool {
        let Repository { owner, name, .. } = repository;
        self.only_repositories.is_empty()
            || self.only_repositories.iter().any(|only| only.is_name_of(owner, name))
    }

    /// Returns true if this pull reads something of a source.
    fn is_source_chosen(&self, source: &FollowedSource) -> bool {
        let mut only = self.only_repositories.iter();
        self.only_repositories.is_empty()
            || only.any(|only| match source {
                FollowedSource::Owner(login) => only.owner == *login,
                FollowedSource::Repository(name) => only.is_same(name),
            })
    }
}

/// A repository that is followed by itself.
#[derive(Clone, Copy)]
pub(crate) struct SingleRepository<'a> {
    pub(crate) name: &'a RepositoryName,
    pub(crate) repository_id: Option<i64>,
}

/// Returns true if these sources follow a repository.
pub(crate) fn is_mirrored(sources: &[PullSource], repository: &Repository) -> bool {
    let is_listed = !repository.is_archived && !repository.is_fork;
    is_listed && is_owner_followed(sources, &repository.owner) || is_single(sources, repository)
}

fn is_owner_followed(sources: &[PullSource], owner: &str) -> bool {
    sources.iter().any(|followed| match &followed.source {
        FollowedSource::Owner(login) => login.is_same(owner),
        FollowedSource::Repository(_) => false,
    })
}

/// Returns true if a repository is followed by itself.
fn is_single(sources: &[PullSource], repository: &Repository) -> bool {
    sources.iter().any(|followed| match (&followed.source, followed.repository_id) {
        (FollowedSource::Owner(_), _) => false,
        (FollowedSource::Repository(_), Some(id)) => id == repository.id,
        (FollowedSource::Repository(name), None) => {
            name.is_name_of(&repository.owner, &repository.name)
        }
    })
}
