//! The users whose tokens read the mirror, one per host.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::ThreadKind;

use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;

/// Stores the login of the token's user: search prefers the repositories that this user has written in.
pub(crate) fn store_viewer(
    tx: &mut Transaction<'_>,
    host: &str,
    login: &str,
) -> Result<(), StoreError> {
    const UPSERT: Sql = Sql::portable(
        "insert into viewers (host, login) values ($1, $2)
         on conflict (host) do update set login = excluded.login",
    );
    tx.send_statement(UPSERT, &params![host, login])
}

/// Returns the repositories in which a viewer has opened a thread, by host.
pub(crate) fn preferred_repositories(
    tx: &mut Transaction<'_>,
) -> Result<BTreeMap<String, BTreeSet<i64>>, StoreError> {
    const VIEWERS: Sql = Sql::portable("select host, lower(login) as login from viewers");
    // filters by author alone: a condition on the host would tempt SQLite into a full scan
    const WRITTEN: KindStatements =
        of_kind!("select distinct host, repository_id from", "where lower(author) = $1");
    let viewers = tx.query(VIEWERS, &[], |mut row| Ok((row.text("host")?, row.text("login")?)))?;
    let mut written = BTreeMap::<_, BTreeSet<i64>>::new();
    for (host, login) in viewers {
        for kind in ThreadKind::ALL {
            let repositories = tx.query(WRITTEN.for_kind(kind), &params![&login], |mut row| {
                Ok((row.text("host")?, row.int("repository_id")?))
            })?;
            let ids = repositories.into_iter().filter(|(at, _)| *at == host).map(|(_, id)| id);
            written.entry(host.clone()).or_default().extend(ids);
        }
    }
    Ok(written)
}
