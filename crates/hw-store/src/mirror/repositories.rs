//! Writes repositories, and has their renames applied to their threads.

use std::collections::BTreeMap;

use hw_rules::item::{ItemObservation, Repository};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_clock::DATE_TOLERANCE_MS;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;

use super::WrittenTexts;
use super::name_assignments::{
    ClaimedName, ClaimedRepository, NameAssignments, NameClaim, repository_claim,
};
use super::repository_names::{self, NamedRepository};
use crate::chores;
use crate::error::StoreError;
use crate::sql::{Sql, SqlParam, SqlRow, params};
use crate::transaction::Transaction;

/// The repositories that a transaction wrote.
#[derive(Default)]
pub(crate) struct StoredRepositories<'a> {
    pub(crate) written: WrittenTexts<'a>,
    /// Those that lost their name to another. Their next observation has to be written in any case: their new name is
    /// not known yet.
    pub(crate) displaced: Vec<i64>,
}

/// Writes the changed repositories of a page. A chore applies a new name or URL to the repository's threads.
pub(crate) fn store_repositories<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    page: &[ItemObservation],
    written: &[&'a ItemObservation],
) -> Result<StoredRepositories<'a>, StoreError> {
    let observed_at = page.iter().map(|observation| observation.observed_at.at_ms).max();
    let latest = observed_at.map(|at_ms| SourceInstant(at_ms).plus_ms(DATE_TOLERANCE_MS));
    store_with_names(tx, host, page, written, latest)
}

/// Writes repositories as they were when they were removed. Their observations are old and say nothing about the
/// source's current time, so every other claim is trusted.
pub(crate) fn restore_repositories<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    removed: &[&'a ItemObservation],
) -> Result<StoredRepositories<'a>, StoreError> {
    store_with_names(tx, host, &[], removed, None)
}

/// Writes repositories, and trusts no claim later than `latest`, the latest possible time of the source's clock.
fn store_with_names<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    page: &[ItemObservation],
    written: &[&'a ItemObservation],
    latest: Option<SourceInstant>,
) -> Result<StoredRepositories<'a>, StoreError> {
    let mut written: Vec<_> =
        written.iter().filter_map(|observation| repository_claim(observation)).collect();
    if written.is_empty() {
        return Ok(StoredRepositories::default());
    }
    written.sort_unstable_by_key(|claimed| claimed.claim);
    let mut names =
        NameAssignments { before: read_claims(tx, host, &written)?, now: BTreeMap::new() };
    names.now = names.before.clone();
    names.distrust_beyond(latest);
    names.confirm_names(page.iter().filter_map(repository_claim));
    names.assign_names(&written);
    free_names(tx, host, &names)?;
    write_repositories(tx, host, &written, &names)?;
    let strays = repository_names::repositories_with_strays(
        tx,
        host,
        &names.new_repositories().collect::<Vec<_>>(),
    )?;
    for name in names.renamed_repositories().chain(strays) {
        chores::request_rename(tx, &RepositoryKey::new(host, name.id))?;
    }
    Ok(StoredRepositories {
        written: written.iter().filter_map(|claimed| claimed.to_written_text(&names)).collect(),
        displaced: names.displaced_repositories().map(|name| name.id).collect(),
    })
}

/// Reads the rows that have the ids, the names or the URLs of these repositories.
fn read_claims(
    tx: &mut Transaction<'_>,
    host: &str,
    repositories: &[ClaimedRepository<'_>],
) -> Result<BTreeMap<i64, ClaimedName>, StoreError> {
    const KNOWN: Sql = Sql::per_dialect(
        "select repositories.id, owner, name, url, observed_at_ms, observed_request, updated_at_ms
           from repositories
           left join cells on cells.host = repositories.host and cells.kind = 'repository'
                          and cells.id = repositories.id
          where repositories.host = $1
            and (repositories.id in (select value from json_each($2))
                 or name in (select value from json_each($3))
                 or url in (select value from json_each($4)))",
        "select repositories.id, owner, name, url, observed_at_ms, observed_request, updated_at_ms
           from repositories
           left join cells on cells.host = repositories.host and cells.kind = 'repository'
                          and cells.id = repositories.id
          where repositories.host = $1
            and (repositories.id = any($2) or name = any($3) or url = any($4))",
    );
    let ids: Vec<_> = repositories.iter().map(|claimed| claimed.repository.id).collect();
    let names: Vec<_> =
        repositories.iter().map(|claimed| claimed.repository.name.as_str()).collect();
    let urls: Vec<_> = repositories.iter().map(|claimed| claimed.repository.url.as_str()).collect();
    let params = params![host, ids.as_slice(), names.as_slice(), urls.as_slice()];
    let claims = tx.query_readable(KNOWN, &params, read_claim)?.rows;
    Ok(claims.into_iter().map(|claimed| (claimed.name.id, claimed)).collect())
}

fn read_claim(mut row: SqlRow) -> Result<ClaimedName, StoreError> {
    let id = row.int("id")?;
    let name = NamedRepository {
        id,
        owner: row.text("owner")?,
        name: row.text("name")?,
        url: row.text("url")?,
    };
    let seen = row.maybe_int("observed_at_ms")?.zip(row.maybe_int("observed_request")?);
    let seen = seen.map(|(at_ms, request)| ObservedAt::new(at_ms, request));
    let claim =
        NameClaim { seen, updated_at: row.maybe_int("updated_at_ms")?.map(SourceInstant), id };
    Ok(ClaimedName { name, claim })
}

/// Frees every name that changes before the first is written, because two repositories may swap their names.
fn free_names(
    tx: &mut Transaction<'_>,
    host: &str,
    names: &NameAssignments,
) -> Result<(), StoreError> {
    const RENAME: Sql =
        Sql::portable("update repositories set name = $1, url = $2 where host = $3 and id = $4");
    let freed: Vec<_> = names
        .before
        .iter()
        .filter(|(id, before)| names.now.get(id).is_some_and(|now| now.name != before.name))
        .map(|(_, before)| before.name.to_displaced())
        .collect();
    for name in names.displaced_repositories() {
        tracing::info!(host, id = name.id, name = name.name, "another repository took this name");
    }
    let rows: Vec<_> =
        freed.iter().map(|name| params![&name.name, &name.url, host, name.id].to_vec()).collect();
    tx.execute_each(RENAME, &rows)
}

fn write_repositories(
    tx: &mut Transaction<'_>,
    host: &str,
    repositories: &[ClaimedRepository<'_>],
    names: &NameAssignments,
) -> Result<(), StoreError> {
    const UPSERT: Sql = Sql::portable(
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
    let rows: Vec<_> = repositories
        .iter()
        .filter_map(|ClaimedRepository { repository, .. }| {
            Some(repository_params(host, repository, &names.now.get(&repository.id)?.name))
        })
        .collect();
    tx.execute_each(UPSERT, &rows)
}

fn repository_params<'a>(
    host: &'a str,
    repository: &'a Repository,
    name: &'a NamedRepository,
) -> Vec<SqlParam<'a>> {
    params![
        host,
        repository.id,
        &repository.node_id,
        &name.owner,
        &name.name,
        &name.url,
        repository.is_archived,
        repository.is_fork,
        repository.has_discussions_enabled,
        repository.has_issues_enabled,
        repository.created_at.as_str(),
        repository.updated_at.as_str(),
    ]
    .to_vec()
}
