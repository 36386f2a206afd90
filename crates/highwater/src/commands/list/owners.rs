//! Looks up the owners of the stored repositories, for rows that carry only a repository's name.

use std::collections::BTreeMap;

use hw_store::StoreReader;

use super::read_command::{self, HostedRepository};

pub(super) struct RepositoryOwners(BTreeMap<String, BTreeMap<i64, String>>);

impl RepositoryOwners {
    pub(super) fn load(store: &StoreReader) -> anyhow::Result<Self> {
        let mut owners: BTreeMap<String, BTreeMap<i64, String>> = BTreeMap::new();
        for HostedRepository { host, repository } in read_command::read_repositories(store)?.rows {
            owners.entry(host).or_default().insert(repository.id, repository.owner);
        }
        Ok(Self(owners))
    }

    /// Returns the owner's login; empty when the repository's own row is damaged.
    pub(super) fn find_owner(&self, host: &str, repository_id: i64) -> String {
        self.0.get(host).and_then(|ids| ids.get(&repository_id)).cloned().unwrap_or_default()
    }
}
