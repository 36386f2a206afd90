//! Repositories, and what their renames drag along.

use hw_rules::item::{Item, Repository};

use super::names::{self, Named};
use crate::error::Error;
use crate::sql::{Param, Row, Sql, params};
use crate::tx::Tx;

/// Writes repositories; a new name or URL is carried to the issues.
pub(crate) fn keep(tx: &mut Tx<'_>, host: &str, items: &[&Item]) -> Result<(), Error> {
    let repositories: Vec<_> = items.iter().filter_map(|item| repository(item)).collect();
    if repositories.is_empty() {
        return Ok(());
    }
    let mut known = known(tx, host, &repositories)?;
    let mut moved = Vec::new();
    for repository in &repositories {
        let now = Named::of(repository);
        for holder in known.iter_mut().filter(|holder| holder.is_in_the_way_of(&now)) {
            set_aside(tx, host, holder)?;
            moved.push(holder.clone());
        }
        if let Some(before) = known.iter_mut().find(|before| before.id == now.id) {
            if *before != now {
                moved.push(now.clone());
            }
            *before = now;
        } else {
            known.push(now);
        }
    }
    write(tx, host, &repositories)?;
    moved.iter().try_for_each(|named| names::carry(tx, host, named))
}

fn repository<'a>(item: &&'a Item) -> Option<&'a Repository> {
    match item {
        Item::Repository(repository) => Some(repository),
        Item::Issue(_) => None,
    }
}

/// The rows that have the ids, the names or the URLs of these repositories.
fn known(tx: &mut Tx<'_>, host: &str, repositories: &[&Repository]) -> Result<Vec<Named>, Error> {
    const KNOWN: Sql = Sql::each(
        "select id, owner, name, url from repositories
          where host = $1 and (id in (select value from json_each($2))
                               or name in (select value from json_each($3))
                               or url in (select value from json_each($4)))",
        "select id, owner, name, url from repositories
          where host = $1 and (id = any($2) or name = any($3) or url = any($4))",
    );
    let ids: Vec<_> = repositories.iter().map(|repository| repository.id).collect();
    let names: Vec<_> = repositories.iter().map(|repository| repository.name.as_str()).collect();
    let urls: Vec<_> = repositories.iter().map(|repository| repository.url.as_str()).collect();
    let params = params![host, ids.as_slice(), names.as_slice(), urls.as_slice()];
    tx.query(KNOWN, &params, read)
}

fn read(mut row: Row) -> Result<Named, Error> {
    Ok(Named { id: row.int(0)?, owner: row.text(1)?, name: row.text(2)?, url: row.text(3)? })
}

/// Frees a name that now belongs to another repository; the old holder's new one is not known yet.
fn set_aside(tx: &mut Tx<'_>, host: &str, holder: &mut Named) -> Result<(), Error> {
    const RENAME: Sql =
        Sql::both("update repositories set name = $1, url = $2 where host = $3 and id = $4");
    *holder = holder.set_aside();
    tracing::info!(
        host,
        id = holder.id,
        name = holder.name,
        "a repository lost its name to another"
    );
    tx.execute(RENAME, &params![&holder.name, &holder.url, host, holder.id]).map(drop)
}

fn write(tx: &mut Tx<'_>, host: &str, repositories: &[&Repository]) -> Result<(), Error> {
    const KEEP: Sql = Sql::both(
        "insert into repositories (host, id, node_id, owner, name, url, is_archived, is_fork,
                                   has_discussions_enabled, has_issues_enabled, created_at,
                                   updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         on conflict (host, id) do update
            set node_id = excluded.node_id, owner = excluded.owner, name = excluded.name,
                url = excluded.url, is_archived = excluded.is_archived,
                is_fork = excluded.is_fork,
                has_discussions_enabled = excluded.has_discussions_enabled,
                has_issues_enabled = excluded.has_issues_enabled,
                created_at = excluded.created_at, updated_at = excluded.updated_at",
    );
    let rows: Vec<_> = repositories.iter().map(|repository| values(host, repository)).collect();
    tx.execute_each(KEEP, &rows)
}

fn values<'a>(host: &'a str, repository: &'a Repository) -> Vec<Param<'a>> {
    params![
        host,
        repository.id,
        &repository.node_id,
        &repository.owner,
        &repository.name,
        &repository.url,
        repository.is_archived,
        repository.is_fork,
        repository.has_discussions_enabled,
        repository.has_issues_enabled,
        repository.created_at.as_str(),
        repository.updated_at.as_str(),
    ]
    .to_vec()
}
