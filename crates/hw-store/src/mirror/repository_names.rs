//! Maintains the names and URLs of repositories and threads, which change while their ids stay.
//!
//! A repository's row is the authority on its name. Its threads are stored under that name, whatever their own URL was
//! when they were read, so pages read before and after a rename agree.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{MirrorItem, ObjectKind, Repository, ThreadKind};

use super::url_holders::{UrlHolders, free_urls};
use crate::changes;
use crate::chores::TextBatch;
use crate::driver::PendingRows;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;

/// The owner, name and URL of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedRepository {
    pub(crate) id: i64,
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) url: String,
}

impl NamedRepository {
    pub(crate) fn from_repository(repository: &Repository) -> Self {
        Self {
            id: repository.id,
            owner: repository.owner.clone(),
            name: repository.name.clone(),
            url: repository.url.clone(),
        }
    }

    /// Returns true if another repository has the same name or URL.
    pub(crate) fn conflicts_with(&self, other: &Self) -> bool {
        let same_name = self.owner == other.owner && self.name == other.name;
        self.id != other.id && (same_name || self.url == other.url)
    }

    /// Returns the repository under a name that no other can have, because no GitHub name contains `~`.
    pub(crate) fn to_displaced(&self) -> Self {
        if self.is_displaced() {
            return self.clone();
        }
        let [name, url] = [&self.name, &self.url].map(|text| format!("{text}~{}", self.id));
        Self { name, url, ..self.clone() }
    }

    pub(crate) fn is_displaced(&self) -> bool {
        self.name.ends_with(&format!("~{}", self.id))
    }
}

/// The URL of a thread or comment.
#[derive(Debug, Clone)]
pub(crate) struct ThreadUrl {
    pub(crate) id: i64,
    pub(crate) repository_id: i64,
    pub(crate) url: String,
}

/// Reads the names of those of these repositories that are stored.
pub(crate) fn read_repository_names(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: &[i64],
) -> Result<BTreeMap<i64, NamedRepository>, StoreError> {
    PendingNames::send(tx, host, ids)?.read(tx)
}

/// The names of repositories, requested.
pub(crate) struct PendingNames(PendingRows);

impl PendingNames {
    pub(crate) fn send(
        tx: &mut Transaction<'_>,
        host: &str,
        ids: &[i64],
    ) -> Result<Self, StoreError> {
        const NAMES: Sql = Sql::per_dialect(
            "select id, owner, name, url from repositories
              where host = $1 and id in (select value from json_each($2))",
            "select id, owner, name, url from repositories where host = $1 and id = any($2)",
        );
        Ok(Self(tx.send_query(NAMES, &params![host, ids])?))
    }

    pub(crate) fn read(
        self,
        tx: &mut Transaction<'_>,
    ) -> Result<BTreeMap<i64, NamedRepository>, StoreError> {
        let readable = tx.read_pending_readable(self.0, |mut row| {
            Ok(NamedRepository {
                id: row.int("id")?,
                owner: row.text("owner")?,
                name: row.text("name")?,
                url: row.text("url")?,
            })
        })?;
        Ok(readable.rows.into_iter().map(|name| (name.id, name)).collect())
    }
}

/// Moves the next texts of a repository to its current name.
pub(crate) fn rename_texts(
    tx: &mut Transaction<'_>,
    host: &str,
    name: &NamedRepository,
    kind: ObjectKind,
    after: i64,
    limit: i64,
) -> Result<TextBatch, StoreError> {
    const RENAME: KindStatements =
        of_kind!("update", "set repository = $1, url = $2 where host = $3 and id = $4");
    let urls = next_urls(tx, host, name, kind, after, limit)?;
    // URLs of comments contain their ids, so no two are equal
    kind.as_thread()
        .map_or(Ok(()), |kind| free_urls(tx, host, kind, &urls, &UrlHolders::default()))?;
    let rows: Vec<_> = urls
        .iter()
        .map(|ThreadUrl { id, url, .. }| params![&name.name, url, host, *id].to_vec())
        .collect();
    tx.execute_each(RENAME.for_kind(kind), &rows)?;
    let ids: Vec<i64> = urls.iter().map(|url| url.id).collect();
    changes::publish_renamed(tx, host, kind, &ids)?;
    Ok(TextBatch::from_ids(host, &ids, limit))
}

/// Returns the next texts of a repository with their new URLs.
fn next_urls(
    tx: &mut Transaction<'_>,
    host: &str,
    name: &NamedRepository,
    kind: ObjectKind,
    after: i64,
    limit: i64,
) -> Result<Vec<ThreadUrl>, StoreError> {
    const URLS: KindStatements = of_kind!(
        "select id, url from",
        "where host = $1 and repository_id = $2 and $3 < id order by id limit $4"
    );
    let params = params![host, name.id, after, limit];
    let urls = tx.query(URLS.for_kind(kind), &params, |mut row| {
        let (id, url) = (row.int("id")?, thread_url(&name.url, &row.text("url")?));
        Ok(ThreadUrl { id, repository_id: name.id, url })
    })?;
    Ok(make_urls_unique(urls))
}

/// Returns those of these repositories that have threads under another name.
///
/// Threads may arrive before their repository or outlive its row, and the repository may be renamed in the meantime.
pub(crate) fn repositories_with_strays<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    repositories: &[&'a NamedRepository],
) -> Result<Vec<&'a NamedRepository>, StoreError> {
    const WITH_THREADS: KindStatements = of_kind!(
        "select distinct repository_id from",
        "where host = $1 and repository_id in (select value from json_each($2))",
        "where host = $1 and repository_id = any($2)"
    );
    let ids: Vec<_> = repositories.iter().map(|name| name.id).collect();
    let mut found = BTreeMap::new();
    for kind in ObjectKind::REPOSITORY_TEXTS {
        let params = params![host, ids.as_slice()];
        let with_threads: BTreeSet<_> = tx
            .query(WITH_THREADS.for_kind(kind), &params, |mut row| row.int("repository_id"))?
            .into_iter()
            .collect();
        for name in repositories.iter().filter(|name| with_threads.contains(&name.id)) {
            if has_strays(tx, host, name, kind)? {
                found.insert(name.id, *name);
            }
        }
    }
    Ok(found.into_values().collect())
}

fn has_strays(
    tx: &mut Transaction<'_>,
    host: &str,
    name: &NamedRepository,
    kind: ObjectKind,
) -> Result<bool, StoreError> {
    const STRAY: KindStatements = of_kind!(
        "select id from",
        "where host = $1 and repository_id = $2
           and (repository <> $3 or substr(url, 1, $4) <> $5)
         limit 1"
    );
    let prefix = format!("{}/", name.url);
    let prefix_chars = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
    let params = params![host, name.id, &name.name, prefix_chars, &prefix];
    Ok(tx.query_first(STRAY.for_kind(kind), &params, |mut row| row.int("id"))?.is_some())
}

/// Leaves each URL to the first thread that has it, and marks it for the others.
pub(crate) fn make_urls_unique(urls: Vec<ThreadUrl>) -> Vec<ThreadUrl> {
    let mut taken = BTreeSet::new();
    urls.into_iter()
        .map(|ThreadUrl { id, repository_id, url }| {
            let url = if taken.contains(&url) { format!("{url}~{id}") } else { url };
            taken.insert(url.clone());
            ThreadUrl { id, repository_id, url }
        })
        .collect()
}

/// The number of a thread in its repository, which identifies it even under a wrong id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadNumber {
    repository_id: i64,
    number: i64,
}

/// Returns the numbers of these threads. Returns none for other kinds, whose URLs never conflict.
pub(crate) fn read_thread_numbers(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<Vec<ThreadNumber>, StoreError> {
    const NUMBERS: KindStatements = of_kind!(
        "select repository_id, number from",
        "where host = $1 and id in (select value from json_each($2))",
        "where host = $1 and id = any($2)"
    );
    if !kind.is_thread() || ids.is_empty() {
        return Ok(Vec::new());
    }
    let readable = tx.query_readable(NUMBERS.for_kind(kind), &params![host, ids], |mut row| {
        Ok(ThreadNumber { repository_id: row.int("repository_id")?, number: row.int("number")? })
    })?;
    Ok(readable.rows)
}

/// Restores the URLs of the threads with these numbers, if they were displaced.
///
/// A thread that arrives under a wrong id takes the URL of the row with the right id. Once the wrong row is gone,
/// nothing else rewrites the right one, because it has not changed.
pub(crate) fn restore_thread_urls(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    numbers: &[ThreadNumber],
) -> Result<(), StoreError> {
    const THREADS_AT_NUMBERS: KindStatements = of_kind!(
        "select id, number, url from",
        "where host = $1 and repository_id = $2 and number in (select value from json_each($3))",
        "where host = $1 and repository_id = $2 and number = any($3)"
    );
    const RESTORE: KindStatements = of_kind!("update", "set url = $1 where host = $2 and id = $3");
    let mut by_repository: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for ThreadNumber { repository_id, number } in numbers {
        by_repository.entry(*repository_id).or_default().push(*number);
    }
    for (repository_id, numbers) in by_repository {
        let params = params![host, repository_id, numbers.as_slice()];
        let rows = tx.query(THREADS_AT_NUMBERS.for_kind(kind), &params, |mut row| {
            let (id, url) = (row.int("id")?, row.text("url")?);
            Ok((row.int("number")?, ThreadUrl { id, repository_id, url }))
        })?;
        let mut at_number: BTreeMap<i64, Vec<ThreadUrl>> = BTreeMap::new();
        for (number, thread) in rows {
            at_number.entry(number).or_default().push(thread);
        }
        for threads in at_number.values() {
            // while another row has this number, the URL is taken
            let [ThreadUrl { id, url, .. }] = threads.as_slice() else { continue };
            if let Some(own) = url.strip_suffix(&format!("~{id}")) {
                tx.send_statement(RESTORE.for_kind(kind), &params![own, host, *id])?;
            }
        }
    }
    Ok(())
}

/// Returns displaced URLs to those of these threads that lost them: they were observed later than the thread that has
/// the URL now, which is the same one under a wrong id.
pub(crate) fn reclaim_thread_urls(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ThreadKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    const RECLAIM: KindStatements = of_kind!("update", "set url = $1 where host = $2 and id = $3");
    if ids.is_empty() {
        return Ok(());
    }
    let rows = tx.query(DISPLACED.for_kind(kind), &params![host, ids], |mut row| {
        Ok(ThreadUrl {
            id: row.int("id")?,
            repository_id: row.int("repository_id")?,
            url: row.text("url")?,
        })
    })?;
    for ThreadUrl { id, repository_id, url } in rows {
        let Some(own) = url.strip_suffix(&format!("~{id}")) else { continue };
        let wanted = ThreadUrl { id, repository_id, url: own.to_owned() };
        free_urls(tx, host, kind, &[wanted], &UrlHolders::default())?;
        tx.execute(RECLAIM.for_kind(kind), &params![own, host, id])?;
    }
    Ok(())
}

/// Whether any of some threads lost its URL to another one, requested.
pub(crate) struct PendingDisplaced(Vec<PendingRows>);

impl PendingDisplaced {
    pub(crate) fn send<'a>(
        tx: &mut Transaction<'_>,
        host: &str,
        items: impl Iterator<Item = &'a MirrorItem>,
    ) -> Result<Self, StoreError> {
        let mut by_kind: BTreeMap<ThreadKind, Vec<i64>> = BTreeMap::new();
        for item in items {
            if let MirrorItem::Thread(thread) = item {
                by_kind.entry(thread.kind()).or_default().push(thread.id);
            }
        }
        let sent = by_kind.into_iter().map(|(kind, ids)| {
            tx.send_query(DISPLACED.for_kind(kind), &params![host, ids.as_slice()])
        });
        Ok(Self(sent.collect::<Result<_, StoreError>>()?))
    }

    pub(crate) fn read(self, tx: &mut Transaction<'_>) -> Result<bool, StoreError> {
        let mut is_any = false;
        for rows in self.0 {
            is_any |= !tx.read_pending(rows, |mut row| row.int("id"))?.is_empty();
        }
        Ok(is_any)
    }
}

/// Selects those of some threads that lost their URLs.
const DISPLACED: KindStatements = of_kind!(
    "select id, repository_id, url from",
    "where host = $1 and id in (select value from json_each($2)) and url like '%~%'",
    "where host = $1 and id = any($2) and url like '%~%'"
);

/// Returns a thread's URL under that of its repository: the last two parts stay, without the mark of a displaced URL.
pub(crate) fn thread_url(repository_url: &str, url: &str) -> String {
    let tail = url_tail(url);
    format!("{repository_url}/{}", tail.split_once('~').map_or(tail, |(own, _)| own))
}

fn url_tail(url: &str) -> &str {
    let cut = url.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    url.get(cut..).unwrap_or(url)
}

/// Returns the repository's name from a thread's URL, for threads whose repository is not stored.
pub(crate) fn repository_from_url(url: &str) -> &str {
    url.rsplit('/').nth(2).unwrap_or_default()
}
