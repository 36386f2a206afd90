//! Which repositories are held?

use hw_rules::item::Repository;
use hw_rules::time::SourceTime;

use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql, params};

impl Store {
    /// The repositories at one host, by name.
    pub fn repositories(&self, host: &str) -> Result<Vec<Repository>, Error> {
        const ALL: Sql = Sql::both(
            "select id, node_id, owner, name, url, is_archived, is_fork, has_issues_enabled,
                    has_discussions_enabled, created_at, updated_at
               from repositories where host = $1 order by owner, name, id",
        );
        self.read("repositories", |tx| tx.query(ALL, &params![host], read))
    }
}

fn read(mut row: Row) -> Result<Repository, Error> {
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
    SourceTime::parse(text).map_err(|error| Error::Damaged(error.to_string()))
}
