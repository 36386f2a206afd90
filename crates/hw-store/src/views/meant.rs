//! Matches the repositories that a list is narrowed to: by name, by owner, or by both.

use std::collections::BTreeMap;

use hw_rules::address::RepositoryAddress;
use hw_rules::clean::storable;

use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tx::Tx;

/// The repositories that a list is narrowed to.
pub(crate) struct Meant {
    /// The names as rows carry them, so that an index finds them; empty when only an owner is given.
    pub(crate) names: Vec<String>,
    /// Ids by host, where an owner is given: other owners may have repositories of that name, and ids are
    /// unique within a host only.
    pub(crate) ids: Option<HostIds>,
}

/// Repository ids, by host.
pub(crate) type HostIds = BTreeMap<String, Vec<i64>>;

struct StoredName {
    host: String,
    id: i64,
    owner: String,
    name: String,
}

impl Meant {
    /// Finds stored repositories by name and owner, in any case. A name that matches nothing stays as it is, and
    /// finds nothing.
    pub(crate) fn by(
        tx: &mut Tx<'_>,
        repository: Option<&str>,
        owner: Option<&str>,
    ) -> Result<Option<Self>, Error> {
        const ALL: Sql = Sql::both("select host, id, owner, name from repositories");
        if repository.is_none() && owner.is_none() {
            return Ok(None);
        }
        let repository = repository.map(storable);
        let address = repository.as_deref().map(RepositoryAddress::of);
        let read = |mut row: Row| {
            let (host, id) = (row.text(0)?, row.int(1)?);
            Ok(StoredName { host, id, owner: row.text(2)?, name: row.text(3)? })
        };
        let mut stored = tx.query_readable(ALL, &params![], read)?.rows;
        stored.retain(|row| {
            owner.is_none_or(|owner| owner.eq_ignore_ascii_case(&row.owner))
                && address.is_none_or(|address| address.means(&row.owner, &row.name))
        });
        let has_owner = owner.is_some() || address.is_some_and(|address| address.owner.is_some());
        let ids = has_owner.then(|| ids_by_host(&stored));
        let mut names = Vec::new();
        if let Some(repository) = &repository {
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

fn ids_by_host(stored: &[StoredName]) -> HostIds {
    let mut ids = HostIds::new();
    for row in stored {
        ids.entry(row.host.clone()).or_default().push(row.id);
    }
    ids
}
