//! Resolves a list's repository filter: by name, by owner, or by both.

use std::collections::BTreeMap;

use hw_rules::safe_text::sanitize_for_storage;
use hw_rules::thread_address::RepositoryRef;

use super::pending_chores::PendingChores;
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow};
use crate::transaction::Transaction;

/// The repositories that a list is limited to.
pub(crate) struct RepositoryMatch {
    /// The names in their stored spelling, so that an index can be used; empty if only an owner is given.
    pub(crate) names: Vec<String>,
    /// Ids by host, if an owner is given: other owners may have repositories of the same name, and ids are
    /// unique within a host only.
    pub(crate) ids: Option<HostIds>,
}

/// Repository ids, by host.
pub(crate) type HostIds = BTreeMap<String, Vec<i64>>;

struct StoredRepositoryName {
    host: String,
    id: i64,
    owner: String,
    name: String,
}

impl RepositoryMatch {
    /// Finds stored repositories by name and owner, ignoring case. A name that matches nothing is passed on as it
    /// is, so that the list stays empty.
    ///
    /// During a rename, texts are stored under two names, and only the id of their repository selects all of them.
    pub(crate) fn find(
        tx: &mut Transaction<'_>,
        repository: Option<&str>,
        owner: Option<&str>,
        pending: &PendingChores,
    ) -> Result<Option<Self>, StoreError> {
        const ALL: Sql = Sql::portable("select host, id, owner, name from repositories");
        if repository.is_none() && owner.is_none() {
            return Ok(None);
        }
        let repository = repository.map(sanitize_for_storage);
        let address = repository.as_deref().map(RepositoryRef::parse);
        let mut stored = tx.query_readable(ALL, &[], StoredRepositoryName::read)?.rows;
        stored.retain(|row| {
            owner.is_none_or(|owner| owner.eq_ignore_ascii_case(&row.owner))
                && address.is_none_or(|address| address.matches_name(&row.owner, &row.name))
        });
        let has_owner = owner.is_some() || address.is_some_and(|address| address.owner.is_some());
        let needs_ids = has_owner || pending.has_renames();
        let ids = needs_ids.then(|| ids_by_host(&stored));
        let mut names = Vec::new();
        if let Some(repository) = repository.as_ref().filter(|_| !pending.has_renames()) {
            names.extend(stored.into_iter().map(|row| row.name));
            names.sort_unstable();
            names.dedup();
            if names.is_empty() {
                names.push(repository.clone());
            }
        }
        Ok(Some(Self { names, ids }))
    }
}

impl StoredRepositoryName {
    fn read(mut row: SqlRow) -> Result<Self, StoreError> {
        let (host, id) = (row.text("host")?, row.int("id")?);
        Ok(Self { host, id, owner: row.text("owner")?, name: row.text("name")? })
    }
}

fn ids_by_host(stored: &[StoredRepositoryName]) -> HostIds {
    let mut ids = HostIds::new();
    for row in stored {
        ids.entry(row.host.clone()).or_default().push(row.id);
    }
    ids
}
