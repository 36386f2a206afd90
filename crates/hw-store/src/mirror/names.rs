//! Names and URLs: attributes that change, while ids stay.
//!
//! A repository's row is the authority on its name. Its threads are stored under that name whatever their
//! own URL said when they were read, so a page read before a rename and one read after it agree.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::item::{Kind, Repository};

use crate::error::Error;
use crate::search;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;

/// What a repository is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: i64,
    pub(crate) owner: String,
    pub(crate) name: String,
    pub(crate) url: String,
}

impl Named {
    pub(crate) fn of(repository: &Repository) -> Self {
        Self {
            id: repository.id,
            owner: repository.owner.clone(),
            name: repository.name.clone(),
            url: repository.url.clone(),
        }
    }

    /// Whether it holds what now belongs to another.
    pub(crate) fn is_in_the_way_of(&self, other: &Self) -> bool {
        let same_name = self.owner == other.owner && self.name == other.name;
        self.id != other.id && (same_name || self.url == other.url)
    }

    /// The same repository under a name nobody else can have: `~` is in no GitHub name.
    pub(crate) fn set_aside(&self) -> Self {
        if self.is_set_aside() {
            return self.clone();
        }
        let mark = |text: &str| format!("{text}~{}", self.id);
        Self { name: mark(&self.name), url: mark(&self.url), ..self.clone() }
    }

    pub(crate) fn is_set_aside(&self) -> bool {
        self.name.ends_with(&format!("~{}", self.id))
    }
}

/// The names of these repositories, as far as they are held.
pub(crate) fn of_repositories(
    tx: &mut Tx<'_>,
    host: &str,
    ids: &[i64],
) -> Result<BTreeMap<i64, Named>, Error> {
    const NAMES: Sql = Sql::each(
        "select id, owner, name, url from repositories
          where host = $1 and id in (select value from json_each($2))",
        "select id, owner, name, url from repositories where host = $1 and id = any($2)",
    );
    let read = |mut row: Row| {
        Ok(Named { id: row.int(0)?, owner: row.text(1)?, name: row.text(2)?, url: row.text(3)? })
    };
    let rows = tx.query_readable(NAMES, &params![host, ids], read)?.rows;
    Ok(rows.into_iter().map(|named| (named.id, named)).collect())
}

/// How many threads are carried at a time.
const CARRY: i64 = 500;

/// Brings a repository's texts, and their search rows, under its present name.
///
/// However many they are, they move in one transaction: nobody sees half a rename. A few hundred at a
/// time are held in memory.
pub(crate) fn carry(tx: &mut Tx<'_>, host: &str, named: &Named) -> Result<(), Error> {
    for kind in Kind::TEXTS {
        rename(tx, host, named, kind)?;
        search::again::index(tx, host, named.id, kind)?;
    }
    Ok(())
}

fn rename(tx: &mut Tx<'_>, host: &str, named: &Named, kind: Kind) -> Result<(), Error> {
    const RENAME: OfKind =
        of_kind!("update", "set repository = $1, url = $2 where host = $3 and id = $4");
    let mut after = i64::MIN;
    loop {
        let urls = next_urls(tx, host, named, kind, after)?;
        let Some((last, _)) = urls.last() else { return Ok(()) };
        after = *last;
        free_urls(tx, host, kind, &urls)?;
        let rows: Vec<_> =
            urls.iter().map(|(id, url)| params![&named.name, url, host, *id].to_vec()).collect();
        tx.execute_each(RENAME.of(kind), &rows)?;
    }
}

/// The next threads of a repository, with the URLs they are to have.
fn next_urls(
    tx: &mut Tx<'_>,
    host: &str,
    named: &Named,
    kind: Kind,
    after: i64,
) -> Result<Vec<(i64, String)>, Error> {
    const URLS: OfKind = of_kind!(
        "select id, url from",
        "where host = $1 and repository_id = $2 and $3 < id order by id limit $4"
    );
    let params = params![host, named.id, after, CARRY];
    let urls = tx.query(URLS.of(kind), &params, |mut row| {
        Ok((row.int(0)?, thread_url(&named.url, &row.text(1)?)))
    })?;
    Ok(apart(urls))
}

/// Which of these repositories have threads under another name than theirs.
///
/// Threads may come before their repository does, or outlive its row, and meanwhile it may be renamed.
pub(crate) fn with_strays<'a>(
    tx: &mut Tx<'_>,
    host: &str,
    repositories: &[&'a Named],
) -> Result<Vec<&'a Named>, Error> {
    const WITH_THREADS: OfKind = of_kind!(
        "select distinct repository_id from",
        "where host = $1 and repository_id in (select value from json_each($2))",
        "where host = $1 and repository_id = any($2)"
    );
    let ids: Vec<_> = repositories.iter().map(|named| named.id).collect();
    let mut found = BTreeMap::new();
    for kind in Kind::TEXTS {
        let params = params![host, ids.as_slice()];
        let with_threads: BTreeSet<_> =
            tx.query(WITH_THREADS.of(kind), &params, |mut row| row.int(0))?.into_iter().collect();
        for named in repositories.iter().filter(|named| with_threads.contains(&named.id)) {
            if has_strays(tx, host, named, kind)? {
                found.insert(named.id, *named);
            }
        }
    }
    Ok(found.into_values().collect())
}

fn has_strays(tx: &mut Tx<'_>, host: &str, named: &Named, kind: Kind) -> Result<bool, Error> {
    const STRAY: OfKind = of_kind!(
        "select id from",
        "where host = $1 and repository_id = $2
           and (repository <> $3 or substr(url, 1, $4) <> $5)
         limit 1"
    );
    let below = format!("{}/", named.url);
    let length = i64::try_from(below.chars().count()).unwrap_or(i64::MAX);
    let params = params![host, named.id, &named.name, length, &below];
    Ok(tx.first(STRAY.of(kind), &params, |mut row| row.int(0))?.is_some())
}

/// The same URLs, each given to its first claimant only.
pub(crate) fn apart(urls: Vec<(i64, String)>) -> Vec<(i64, String)> {
    let mut taken = BTreeSet::new();
    let mut own = |(id, url): (i64, String)| {
        let url = if taken.contains(&url) { format!("{url}~{id}") } else { url };
        taken.insert(url.clone());
        (id, url)
    };
    urls.into_iter().map(&mut own).collect()
}

/// Sets aside URLs that are held by another thread: a name was reused, and the old holder is stale.
pub(crate) fn free_urls(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    wanted: &[(i64, String)],
) -> Result<(), Error> {
    const HOLDERS: OfKind = of_kind!(
        "select id, url from",
        "where host = $1 and url in (select value from json_each($2))",
        "where host = $1 and url = any($2)"
    );
    const SET_ASIDE: OfKind = of_kind!("update", "set url = $1 where host = $2 and id = $3");
    if Kind::COMMENTS.contains(&kind) {
        // theirs carry their ids: no two ever meet
        return Ok(());
    }
    let owners: BTreeMap<_, _> = wanted.iter().map(|(id, url)| (url.as_str(), *id)).collect();
    let urls: Vec<_> = owners.keys().copied().collect();
    let holders = tx.query(HOLDERS.of(kind), &params![host, urls.as_slice()], |mut row| {
        Ok((row.int(0)?, row.text(1)?))
    })?;
    let stale: Vec<_> = holders
        .into_iter()
        .filter(|(id, url)| owners.get(url.as_str()) != Some(id))
        .map(|(id, url)| (id, format!("{url}~{id}")))
        .collect();
    let rows: Vec<_> = stale.iter().map(|(id, url)| params![url, host, *id].to_vec()).collect();
    tx.execute_each(SET_ASIDE.of(kind), &rows)
}

/// Where a thread stands, whatever its id: one repository counts all its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadPlace {
    repository_id: i64,
    number: i64,
}

/// Returns where these threads stand. Nothing else has a URL that another could hold.
pub(crate) fn places_of(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<Vec<ThreadPlace>, Error> {
    const PLACES: OfKind = of_kind!(
        "select repository_id, number from",
        "where host = $1 and id in (select value from json_each($2))",
        "where host = $1 and id = any($2)"
    );
    if !Kind::THREADS.contains(&kind) || ids.is_empty() {
        return Ok(Vec::new());
    }
    let read = |mut row: Row| Ok(ThreadPlace { repository_id: row.int(0)?, number: row.int(1)? });
    Ok(tx.query_readable(PLACES.of(kind), &params![host, ids], read)?.rows)
}

/// Gives threads that stand at these places their own URLs back, if they had to make way.
///
/// A thread that was shown under a wrong id takes the URL of the one that has the right id. Once the wrong one has
/// left, nothing else would ever rewrite the right one: it did not change.
pub(crate) fn give_back_urls(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    places: &[ThreadPlace],
) -> Result<(), Error> {
    const HERE: OfKind =
        of_kind!("select id, url from", "where host = $1 and repository_id = $2 and number = $3");
    const GIVE_BACK: OfKind = of_kind!("update", "set url = $1 where host = $2 and id = $3");
    for place in places {
        let here = params![host, place.repository_id, place.number];
        let rows = tx.query(HERE.of(kind), &here, |mut row| Ok((row.int(0)?, row.text(1)?)))?;
        // while somebody else stands here, the URL is taken
        let [(id, url)] = rows.as_slice() else { continue };
        if let Some(own) = url.strip_suffix(&format!("~{id}")) {
            tx.execute(GIVE_BACK.of(kind), &params![own, host, *id])?;
        }
    }
    Ok(())
}

/// A thread's URL under its repository's: the last two parts stay, without what set it aside.
pub(crate) fn thread_url(repository_url: &str, url: &str) -> String {
    let tail = tail(url);
    format!("{repository_url}/{}", tail.split_once('~').map_or(tail, |(own, _)| own))
}

fn tail(url: &str) -> &str {
    let cut = url.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    url.get(cut..).unwrap_or(url)
}

/// The repository's name within a thread's URL; for threads whose repository is not held.
pub(crate) fn repository_in(url: &str) -> &str {
    url.rsplit('/').nth(2).unwrap_or_default()
}
