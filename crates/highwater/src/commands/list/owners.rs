//! Looks up the owners of the stored repositories, for rows that carry only a repository's name.

use std::collections::BTreeMap;

use hw_rules::repository_key::RepositoryKey;
use hw_store::StoreReader;

use super::read_command::{self, HostedRepository};

pub(super) struct RepositoryOwners(BTreeMap<RepositoryKey, String>);

impl RepositoryOwners {
    pub(super) fn load(store: &StoreReader) -> anyhow::Result<Self> {
        let rows = read_command::read_repositories(store)?.rows.into_iter();
        let owners = rows.map(|HostedRepository { host, repository }| {
            (RepositoryKey::new(host, repository.id), repository.owner)
        });
        Ok(Self(owners.collect()))
    }

    /// Returns the owner's login; empty when the repository's own row is damaged.
    pub(super) fn find_owner(&self, repository: &RepositoryKey) -> String {
        self.0.get(repository).cloned().unwrap_or_default()
    }
}
