//! Single repositories among the sources: those that an owner's list shows need no request of their own.

use hw_rules::followed_source::{FollowedSource, RepositoryName};
use hw_rules::item::Repository;
use hw_sources::error::SourceError;
use hw_sources::github::repositories::FoundName;

use super::{NOT_FOUND_MESSAGE, RepositoryDiscovery};
use crate::SyncError;
use crate::sources::{FailedSource, SingleRepository};

impl RepositoryDiscovery<'_> {
    /// Returns the names of the single repositories that an owner's list has shown.
    pub(super) fn listed_single_names(&self) -> Vec<FoundName> {
        let mut found = Vec::new();
        for SingleRepository { name, .. } in self.pull.single_repositories() {
            let mut listed = self.result.repositories.iter();
            let listed = listed.find(|listed| name.is_name_of(&listed.owner, &listed.name));
            found.extend(
                listed.map(|listed| FoundName { name: name.clone(), repository_id: listed.id }),
            );
        }
        found
    }

    /// Returns the names of the single repositories that no owner's list has shown. A known one has its current name.
    pub(super) fn unlisted_single_names(&self) -> Vec<RepositoryName> {
        let mut names = Vec::new();
        for SingleRepository { name, repository_id } in self.pull.single_repositories() {
            let stored = self.known.repositories.iter();
            let mut stored = stored.filter(|stored| Some(stored.id) == repository_id);
            let name = stored.next().map_or_else(
                || name.clone(),
                |known| RepositoryName::from_known(&known.owner, &known.name),
            );
            let is_listed = |repository: &Repository| {
                Some(repository.id) == repository_id
                    || name.is_name_of(&repository.owner, &repository.name)
            };
            if !self.result.repositories.iter().any(is_listed) {
                names.push(name);
            }
        }
        names
    }

    /// Records the single repositories that were not found under the name that the user wrote.
    pub(super) fn fail_missing_sources(&mut self) {
        for single in self.pull.single_repositories() {
            if single.repository_id.is_none() && self.result.missing.contains(single.name) {
                let error = SourceError::Hidden(NOT_FOUND_MESSAGE.to_owned());
                let error = SyncError::Source { lane: self.lane.to_string(), error };
                let source = FollowedSource::Repository(single.name.clone());
                self.result.failed_sources.push(FailedSource { source, error });
            }
        }
    }
}
