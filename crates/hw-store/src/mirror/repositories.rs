//! Repositories, and what their renames drag along.

use std::collections::BTreeMap;

use hw_rules::item::{Item, Observation, Repository};
use hw_rules::source_clock::TOLERANCE_MS;
use hw_rules::time::Mark;
use hw_rules::version::Seen;

use super::names::{self, Named};
use crate::error::Error;
use crate::sql::{Param, Row, Sql, params};
use crate::tx::Tx;

/// Writes those repositories of a page that it changed; a new name or URL is carried to the threads.
///
/// Tells which repositories had to give up their name, so that their next look is written, too: what
/// they are called is not known yet.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    host: &str,
    page: &[Observation],
    written: &[&Observation],
) -> Result<Vec<i64>, Error> {
    let looked_at = page.iter().map(|observation| observation.seen.at_ms).max();
    let latest = looked_at.map(|at_ms| Mark(at_ms).plus(TOLERANCE_MS));
    store_names(tx, host, page, written, latest)
}

/// Writes repositories as they were when they were removed. Their looks are old, so they say nothing about
/// the source's time now: every other claim is trusted.
pub(crate) fn restore(
    tx: &mut Tx<'_>,
    host: &str,
    removed: &[&Observation],
) -> Result<Vec<i64>, Error> {
    store_names(tx, host, &[], removed, None)
}

/// `latest` is as late as the source's clock can be; no claim beyond it is trusted.
fn store_names(
    tx: &mut Tx<'_>,
    host: &str,
    page: &[Observation],
    written: &[&Observation],
    latest: Option<Mark>,
) -> Result<Vec<i64>, Error> {
    let mut written: Vec<_> = written.iter().filter_map(|seen| repository(seen)).collect();
    if written.is_empty() {
        return Ok(Vec::new());
    }
    written.sort_unstable_by_key(|(_, claim)| *claim);
    let mut names = Names { before: known(tx, host, &written)?, now: BTreeMap::new() };
    names.now = names.before.clone();
    names.distrust_beyond(latest);
    names.confirm(page.iter().filter_map(repository));
    names.give(&written);
    set_aside(tx, host, &names)?;
    write(tx, host, &written, &names)?;
    let strays = names::with_strays(tx, host, &names.newcomers().collect::<Vec<_>>())?;
    for named in names.moved().chain(strays) {
        names::carry(tx, host, named)?;
    }
    Ok(names.set_aside().map(|named| named.id).collect())
}

fn repository(observation: &Observation) -> Option<(&Repository, Claim)> {
    match &observation.item {
        Item::Repository(repository) => Some((repository, Claim::of(repository, observation.seen))),
        Item::Thread(_) | Item::Comment(_) => None,
    }
}

/// When a repository was last seen under its name: the later look has the better claim to it.
///
/// A listing can show one name twice when a rename happens while it is read. Then the repository that
/// was updated last has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    seen: Option<Seen>,
    updated_at: Option<Mark>,
    id: i64,
}

impl Claim {
    fn of(repository: &Repository, seen: Seen) -> Self {
        let updated_at = Some(repository.updated_at.mark());
        Self { seen: Some(seen), updated_at, id: repository.id }
    }

    /// Of a repository that is about to be called something else.
    fn none(id: i64) -> Self {
        Self { seen: None, updated_at: None, id }
    }
}

/// What the repositories around a page are called, and since when that is known.
struct Names {
    before: BTreeMap<i64, (Named, Claim)>,
    now: BTreeMap<i64, (Named, Claim)>,
}

impl Names {
    /// Takes away the claims that are later than the source's own time: a clock was wrong.
    fn distrust_beyond(&mut self, latest: Option<Mark>) {
        let Some(latest) = latest else { return };
        for (id, (_, claim)) in &mut self.now {
            if claim.seen.is_some_and(|seen| seen.at_ms > latest.0) {
                *claim = Claim::none(*id);
            }
        }
    }

    /// Renews the claims of repositories that the page shows under the name they have.
    fn confirm<'a>(&mut self, seen: impl Iterator<Item = (&'a Repository, Claim)>) {
        for (repository, newer) in seen {
            if let Some((named, claim)) = self.now.get_mut(&repository.id)
                && *named == Named::of(repository)
            {
                *claim = newer.max(*claim);
            }
        }
    }

    /// Gives each of these repositories its name, unless somebody else has the better claim to it.
    fn give(&mut self, repositories: &[(&Repository, Claim)]) {
        for (repository, _) in repositories {
            if let Some((_, claim)) = self.now.get_mut(&repository.id) {
                *claim = Claim::none(repository.id);
            }
        }
        for (repository, claim) in repositories {
            let wanted = Named::of(repository);
            let in_the_way = |(named, _): &&mut (Named, Claim)| named.is_in_the_way_of(&wanted);
            let mut holders: Vec<_> = self.now.values_mut().filter(in_the_way).collect();
            let lost = holders.iter().any(|(_, held)| claim < held);
            if !lost {
                holders.iter_mut().for_each(|(named, _)| *named = named.set_aside());
            }
            let named = if lost { wanted.set_aside() } else { wanted };
            self.now.insert(repository.id, (named, *claim));
        }
    }

    /// The repositories that are called something else now.
    fn moved(&self) -> impl Iterator<Item = &Named> {
        let moved = |(id, (before, _)): (&i64, &(Named, Claim))| {
            self.now.get(id).map(|(now, _)| now).filter(|now| *now != before)
        };
        self.before.iter().filter_map(moved)
    }

    /// The repositories that had no row.
    fn newcomers(&self) -> impl Iterator<Item = &Named> {
        let new = self.now.iter().filter(|(id, _)| !self.before.contains_key(id));
        new.map(|(_, (named, _))| named)
    }

    /// The repositories that have no name of their own now.
    fn set_aside(&self) -> impl Iterator<Item = &Named> {
        self.now.values().map(|(named, _)| named).filter(|named| named.is_set_aside())
    }
}

/// The rows that have the ids, the names or the URLs of these repositories.
fn known(
    tx: &mut Tx<'_>,
    host: &str,
    repositories: &[(&Repository, Claim)],
) -> Result<BTreeMap<i64, (Named, Claim)>, Error> {
    const KNOWN: Sql = Sql::each(
        "select repositories.id, owner, name, url, seen_at_ms, seen_request, updated_at_ms
           from repositories
           left join cells on cells.host = repositories.host and cells.kind = 'repository'
                          and cells.id = repositories.id
          where repositories.host = $1
            and (repositories.id in (select value from json_each($2))
                 or name in (select value from json_each($3))
                 or url in (select value from json_each($4)))",
        "select repositories.id, owner, name, url, seen_at_ms, seen_request, updated_at_ms
           from repositories
           left join cells on cells.host = repositories.host and cells.kind = 'repository'
                          and cells.id = repositories.id
          where repositories.host = $1
            and (repositories.id = any($2) or name = any($3) or url = any($4))",
    );
    let ids: Vec<_> = repositories.iter().map(|(repository, _)| repository.id).collect();
    let names: Vec<_> = repositories.iter().map(|(row, _)| row.name.as_str()).collect();
    let urls: Vec<_> = repositories.iter().map(|(row, _)| row.url.as_str()).collect();
    let params = params![host, ids.as_slice(), names.as_slice(), urls.as_slice()];
    Ok(tx.query_readable(KNOWN, &params, read)?.rows.into_iter().collect())
}

fn read(mut row: Row) -> Result<(i64, (Named, Claim)), Error> {
    let id = row.int(0)?;
    let named = Named { id, owner: row.text(1)?, name: row.text(2)?, url: row.text(3)? };
    let seen = row.maybe_int(4)?.zip(row.maybe_int(5)?);
    let seen = seen.map(|(at_ms, request)| Seen::at(at_ms, request));
    Ok((id, (named, Claim { seen, updated_at: row.maybe_int(6)?.map(Mark), id })))
}

/// Frees every name that changes hands, before the first is written: two may swap theirs.
fn set_aside(tx: &mut Tx<'_>, host: &str, names: &Names) -> Result<(), Error> {
    const RENAME: Sql =
        Sql::both("update repositories set name = $1, url = $2 where host = $3 and id = $4");
    let freed: Vec<_> = names
        .before
        .iter()
        .filter(|(id, (before, _))| names.now.get(id).is_some_and(|(now, _)| now != before))
        .map(|(_, (before, _))| before.set_aside())
        .collect();
    for named in names.set_aside() {
        tracing::info!(host, id = named.id, name = named.name, "a name belongs to another now");
    }
    let rows: Vec<_> =
        freed.iter().map(|now| params![&now.name, &now.url, host, now.id].to_vec()).collect();
    tx.execute_each(RENAME, &rows)
}

fn write(
    tx: &mut Tx<'_>,
    host: &str,
    repositories: &[(&Repository, Claim)],
    names: &Names,
) -> Result<(), Error> {
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
    let rows: Vec<_> = repositories
        .iter()
        .filter_map(|(row, _)| Some(values(host, row, &names.now.get(&row.id)?.0)))
        .collect();
    tx.execute_each(KEEP, &rows)
}

fn values<'a>(host: &'a str, repository: &'a Repository, named: &'a Named) -> Vec<Param<'a>> {
    params![
        host,
        repository.id,
        &repository.node_id,
        &named.owner,
        &named.name,
        &named.url,
        repository.is_archived,
        repository.is_fork,
        repository.has_discussions_enabled,
        repository.has_issues_enabled,
        repository.created_at.as_str(),
        repository.updated_at.as_str(),
    ]
    .to_vec()
}
