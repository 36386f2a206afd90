//! What a discovery found, and what it could not read.

use std::collections::BTreeSet;

use hw_rules::followed_source::{FollowedSource, RepositoryName};
use hw_rules::item::Repository;
use hw_rules::lane::Surface;
use hw_rules::row_subject::RowSubject;

use crate::plan_lanes::{MirrorSnapshot, PlannedLane};
use crate::pull::PullSpec;
use crate::sources::FailedSource;
use crate::turn::PullTally;

/// The repositories and lanes that a discovery found.
#[derive(Default)]
pub(crate) struct DiscoveryResult {
    pub(crate) viewer: String,
    pub(crate) repositories: Vec<Repository>,
    pub(crate) lanes: Vec<PlannedLane>,
    /// Rows that could not be read. Their repositories are unknown, or known from an earlier pull.
    pub(crate) unreadable: Vec<RowSubject>,
    /// Rows that no repository can have. They wait in quarantine and do not fail the pull, because repeating it
    /// would not help.
    pub(crate) impossible: Vec<RowSubject>,
    /// Requested names that were not found.
    pub(crate) missing: Vec<RepositoryName>,
    /// Requested repositories that are not followed.
    pub(crate) skipped: Vec<SkippedRepository>,
    /// Sources that could not be read, while others could.
    pub(crate) failed_sources: Vec<FailedSource>,
    /// Surfaces that the token cannot read in any repository of an owner.
    pub(crate) denied_listings: BTreeSet<(String, Surface)>,
    /// Surfaces that the token cannot read in one repository.
    pub(crate) denied_lanes: BTreeSet<(i64, Surface)>,
    pub(crate) tally: PullTally,
}

/// A repository that was left out, and why.
pub(crate) struct SkippedRepository {
    pub(crate) name: RepositoryName,
    pub(crate) reason: String,
}

impl SkippedRepository {
    pub(crate) fn new(repository: &Repository, reason: &str) -> Self {
        let name = RepositoryName::from_known(&repository.owner, &repository.name);
        Self { name, reason: reason.to_owned() }
    }
}

impl DiscoveryResult {
    /// Returns the stored repositories that were not found: by a whole listing, or under a requested name.
    pub(crate) fn missing_suspects(
        &self,
        pull: &PullSpec,
        known: &MirrorSnapshot,
    ) -> Vec<Repository> {
        let stored = known.repositories.iter();
        stored
            .filter(|repository| {
                !self.has_listed(repository)
                    && !self.has_failed(repository)
                    && (pull.only_repositories.is_empty() || self.is_missing(repository))
            })
            .cloned()
            .collect()
    }

    fn has_listed(&self, repository: &Repository) -> bool {
        self.repositories.iter().any(|listed| listed.id == repository.id)
            || self.is_repository_unread(repository)
    }

    /// Returns true if the list of the repository's owner could not be read.
    fn has_failed(&self, repository: &Repository) -> bool {
        self.failed_sources.iter().any(|failed| match &failed.source {
            FollowedSource::Owner(login) => login.is_same(&repository.owner),
            FollowedSource::Repository(_) => false,
        })
    }

    fn is_missing(&self, repository: &Repository) -> bool {
        let Repository { owner, name, .. } = repository;
        self.missing.iter().any(|missing| missing.is_name_of(owner, name))
    }

    /// Returns true if this listing showed the row and it could not be read.
    pub(super) fn is_unread(&self, subject: &RowSubject) -> bool {
        self.unreadable.contains(subject) || self.impossible.contains(subject)
    }

    /// Returns true if this listing showed the repository and it could not be read.
    pub(super) fn is_repository_unread(&self, repository: &Repository) -> bool {
        self.is_unread(&RowSubject::Node(repository.node_id.clone()))
    }

    /// Returns true if this listing showed the repository with values that no repository can have.
    pub(crate) fn is_impossible(&self, repository: &Repository) -> bool {
        self.impossible.contains(&RowSubject::Node(repository.node_id.clone()))
    }

    pub(super) fn is_listing_denied(&self, scope: &str, surface: Surface) -> bool {
        self.denied_listings.iter().any(|(owner, denied)| owner == scope && *denied == surface)
    }

    pub(super) fn is_denied(&self, scope: &str, planned: &PlannedLane) -> bool {
        let (surface, id) = (planned.target.surface(), planned.target.repository.id);
        self.is_listing_denied(scope, surface) || self.denied_lanes.contains(&(id, surface))
    }
}
