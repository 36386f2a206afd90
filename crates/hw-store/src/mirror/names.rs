//! Names and URLs: attributes that change, while ids stay.
//!
//! A repository's row is the authority on its name. Its issues are stored under that name whatever their
//! own URL said when they were read, so a page read before a rename and one read after it agree.

use std::collections::BTreeMap;

use hw_rules::item::Repository;

use crate::error::Error;
use crate::search;
use crate::sql::{Sql, params};
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
        let mark = |text: &str| format!("{text}~{}", self.id);
        Self { name: mark(&self.name), url: mark(&self.url), ..self.clone() }
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
    let rows = tx.query(NAMES, &params![host, ids], |mut row| {
        Ok(Named { id: row.int(0)?, owner: row.text(1)?, name: row.text(2)?, url: row.text(3)? })
    })?;
    Ok(rows.into_iter().map(|named| (named.id, named)).collect())
}

/// Brings a repository's issues, and their search rows, under its present name.
pub(crate) fn carry(tx: &mut Tx<'_>, host: &str, named: &Named) -> Result<(), Error> {
    const URLS: Sql =
        Sql::both("select id, url from issues where host = $1 and repository_id = $2 order by id");
    const RENAME: Sql =
        Sql::both("update issues set repository = $1, url = $2 where host = $3 and id = $4");
    let issues = tx.query(URLS, &params![host, named.id], |mut row| {
        let id = row.int(0)?;
        Ok((id, issue_url(&named.url, &row.text(1)?)))
    })?;
    let rows: Vec<_> =
        issues.iter().map(|(id, url)| params![&named.name, url, host, *id].to_vec()).collect();
    tx.execute_each(RENAME, &rows)?;
    search::again::index(tx, host, named.id)
}

/// An issue's URL under its repository's: the last two parts stay.
pub(crate) fn issue_url(repository_url: &str, url: &str) -> String {
    format!("{repository_url}/{}", tail(url))
}

fn tail(url: &str) -> &str {
    let cut = url.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    url.get(cut..).unwrap_or(url)
}

/// The repository's name within an issue's URL; for issues whose repository is not held.
pub(crate) fn repository_in(url: &str) -> &str {
    url.rsplit('/').nth(2).unwrap_or_default()
}
