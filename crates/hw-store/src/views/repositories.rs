//! Which repositories are held?

use hw_rules::item::Repository;
use hw_rules::time::SourceTime;

use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tx::Tx;
use crate::views::skipped::ReadableRows;

impl Store {
    /// The repositories at one host that can be read, by name.
    pub fn repositories(&self, host: &str) -> Result<Vec<Repository>, Error> {
        Ok(self.readable_repositories(host)?.rows)
    }

    /// The same, with how many cannot be read.
    pub fn readable_repositories(&self, host: &str) -> Result<ReadableRows<Repository>, Error> {
        const ALL: Sql = Sql::both(
            "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                    has_discussions_enabled, created_at, updated_at
               from repositories where host = $1 order by owner, name, id",
        );
        self.read("repositories", |tx| tx.query_readable(ALL, &params![host], read))
    }
}

/// Returns the repositories that have these ids.
pub(crate) fn by_ids(tx: &mut Tx<'_>, host: &str, ids: &[i64]) -> Result<Vec<Repository>, Error> {
    const BY_IDS: Sql = Sql::each(
        "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                has_discussions_enabled, created_at, updated_at
           from repositories
          where host = $1 and id in (select value from json_each($2)) order by id",
        "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                has_discussions_enabled, created_at, updated_at
           from repositories where host = $1 and id = any($2) order by id",
    );
    tx.query(BY_IDS, &params![host, ids], read)
}

pub(crate) fn read(mut row: Row) -> Result<Repository, Error> {
    Ok(Repository {
        id: row.int(0)?,
        node_id: row.text(1)?,
        owner: row.text(2)?,
        name: row.text(3)?,
        url: row.text(4)?,
        is_archived: row.flag(5)?,
        is_fork: row.flag(6)?,
        has_issues_enabled: row.flag(7)?,
        has_discussions_enabled: row.flag(8)?,
        created_at: time(&row.text(9)?)?,
        updated_at: time(&row.text(10)?)?,
    })
}

pub(crate) fn time(text: &str) -> Result<SourceTime, Error> {
    SourceTime::parse(text).map_err(|error| Error::UnreadableRow(error.to_string()))
}
