//! Writes repositories, and has their renames applied to their threads.

use std::collections::BTreeMap;

use hw_rules::item::{ItemObservation, MirrorItem, Repository};
use hw_rules::repository_key::RepositoryKey;
use hw_rules::source_clock::DATE_TOLERANCE_MS;
use hw_rules::source_time::SourceInstant;
use hw_rules::version::ObservedAt;

use super::repository_names::{self, NamedRepository};
use crate::chores;
use crate::error::StoreError;
use crate::sql::{Sql, SqlParam, SqlRow, params};
use crate::transaction::Transaction;

/// Writes the changed repositories of a page. A chore applies a new name or URL to the repository's threads.
///
/// Returns the repositories that lost their name to another, so that their next observation is written in any case:
/// their new name is not known yet.
pub(crate) fn store_repositories(
    tx: &mut Transaction<'_>,
    host: &str,
    page: &[ItemObservation],
    written: &[&ItemObservation],
) -> Result<Vec<i64>, StoreError> {
    let observed_at = page.iter().map(|observation| observation.observed_at.at_ms).max();
    let latest = observed_at.map(|at_ms| SourceInstant(at_ms).plus_ms(DATE_TOLERANCE_MS));
    store_with_names(tx, host, page, written, latest)
}

/// Writes repositories as they were when they were removed. Their observations are old and say nothing about the
/// source's current time, so every other claim is trusted.
pub(crate) fn restore_repositories(
    tx: &mut Transaction<'_>,
    host: &str,
    removed: &[&ItemObservation],
) -> Result<Vec<i64>, StoreError> {
    store_with_names(tx, host, &[], removed, None)
}

/// Writes repositories, and trusts no claim later than `latest`, the latest possible time of the source's clock.
fn store_with_names(
    tx: &mut Transaction<'_>,
    host: &str,
    page: &[ItemObservation],
    written: &[&ItemObservation],
    latest: Option<SourceInstant>,
) -> Result<Vec<i64>, StoreError> {
    let mut written: Vec<_> =
        written.iter().filter_map(|observation| repository_claim(observation)).collect();
    if written.is_empty() {
        return Ok(Vec::new());
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
    Ok(names.displaced_repositories().map(|name| name.id).collect())
}

/// An observed repository with its claim to its name.
struct ClaimedRepository<'a> {
    repository: &'a Repository,
    claim: NameClaim,
}

fn repository_claim(observation: &ItemObservation) -> Option<ClaimedRepository<'_>> {
    match &observation.item {
        MirrorItem::Repository(repository) => {
            let claim = NameClaim::new(repository, observation.observed_at);
            Some(ClaimedRepository { repository, claim })
        }
        MirrorItem::Thread(_) | MirrorItem::Comment(_) => None,
    }
}

/// The last observation of a repository under its name. The latest observation has the best claim to a name.
///
/// A listing can contain one name twice if a rename happens while it is read. Then the name belongs to the repository
/// that was updated last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct NameClaim {
    seen: Option<ObservedAt>,
    updated_at: Option<SourceInstant>,
    id: i64,
}

impl NameClaim {
    fn new(repository: &Repository, seen: ObservedAt) -> Self {
        let updated_at = Some(repository.updated_at.instant());
        Self { seen: Some(seen), updated_at, id: repository.id }
    }

    /// Creates the claim of a repository that is about to be renamed.
    fn none(id: i64) -> Self {
        Self { seen: None, updated_at: None, id }
    }
}

/// A repository's name with its claim to it.
#[derive(Clone)]
struct ClaimedName {
    name: NamedRepository,
    claim: NameClaim,
}

/// The names of the repositories around a page, before and after it is written.
struct NameAssignments {
    before: BTreeMap<i64, ClaimedName>,
    now: BTreeMap<i64, ClaimedName>,
}

impl NameAssignments {
    /// Drops the claims that are later than the source's clock, because a clock was wrong.
    fn distrust_beyond(&mut self, latest: Option<SourceInstant>) {
        let Some(latest) = latest else { return };
        for (id, ClaimedName { claim, .. }) in &mut self.now {
            if claim.seen.is_some_and(|seen| seen.at_ms > latest.0) {
                *claim = NameClaim::none(*id);
            }
        }
    }

    /// Renews the claims of repositories that the page lists under their current name.
    fn confirm_names<'a>(&mut self, observed: impl Iterator<Item = ClaimedRepository<'a>>) {
        for ClaimedRepository { repository, claim } in observed {
            if let Some(current) = self.now.get_mut(&repository.id)
                && current.name == NamedRepository::from_repository(repository)
            {
                current.claim = claim.max(current.claim);
            }
        }
    }

    /// Gives each of these repositories its name, unless another repository has a better claim to it.
    fn assign_names(&mut self, repositories: &[ClaimedRepository<'_>]) {
        for ClaimedRepository { repository, .. } in repositories {
            if let Some(current) = self.now.get_mut(&repository.id) {
                current.claim = NameClaim::none(repository.id);
            }
        }
        for ClaimedRepository { repository, claim } in repositories {
            let name = NamedRepository::from_repository(repository);
            let mut holders: Vec<_> =
                self.now.values_mut().filter(|holder| holder.name.conflicts_with(&name)).collect();
            let is_lost = holders.iter().any(|holder| *claim < holder.claim);
            if !is_lost {
                for holder in &mut holders {
                    holder.name = holder.name.to_displaced();
                }
            }
            let name = if is_lost { name.to_displaced() } else { name };
            self.now.insert(repository.id, ClaimedName { name, claim: *claim });
        }
    }

    /// Returns the new names of renamed repositories.
    fn renamed_repositories(&self) -> impl Iterator<Item = &NamedRepository> {
        self.before.iter().filter_map(|(id, before)| {
            self.now.get(id).map(|now| &now.name).filter(|name| **name != before.name)
        })
    }

    /// Returns the names of repositories that had no row.
    fn new_repositories(&self) -> impl Iterator<Item = &NamedRepository> {
        let new = self.now.iter().filter(|(id, _)| !self.before.contains_key(id));
        new.map(|(_, now)| &now.name)
    }

    /// Returns the names of repositories that lost theirs to another.
    fn displaced_repositories(&self) -> impl Iterator<Item = &NamedRepository> {
        self.now.values().map(|now| &now.name).filter(|name| name.is_displaced())
    }
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
