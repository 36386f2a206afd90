//! Which issues are held?

use std::ops::ControlFlow;

use hw_rules::time::SourceTime;

use super::repositories::time;
use crate::Store;
use crate::error::Error;
use crate::sql::{Param, Row, Sql};

/// Which issues to list; everything without a wish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IssueFilter {
    /// The repository's name, without its owner.
    pub repository: Option<String>,
    pub author: Option<String>,
    pub limit: Option<u64>,
}

/// One issue as it is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueRow {
    pub host: String,
    pub id: i64,
    pub node_id: String,
    pub number: i64,
    pub repository_id: i64,
    pub repository: String,
    pub url: String,
    pub title: String,
    pub body: String,
    pub state: String,
    pub state_reason: Option<String>,
    pub labels: Vec<String>,
    pub author: Option<String>,
    pub author_id: Option<i64>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
    pub closed_at: Option<SourceTime>,
}

macro_rules! issues {
    ($rest:literal) => {
        Sql::both(concat!(
            "select host, id, node_id, number, repository_id, repository, url, title, body, state,
                    state_reason, labels, author, author_id, created_at, updated_at, closed_at
               from issues ",
            $rest
        ))
    };
}

impl Store {
    /// Calls `each` with the issues one by one, oldest first, without holding them all.
    ///
    /// `each` must not call the store: in a database in memory there is but one connection.
    pub fn each_issue(
        &self,
        filter: &IssueFilter,
        each: &mut dyn FnMut(IssueRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        const ALL: Sql = issues!("order by created_at, id limit $1");
        const OF_REPOSITORY: Sql =
            issues!("where repository = $1 order by created_at, id limit $2");
        const OF_AUTHOR: Sql =
            issues!("where lower(author) = lower($1) order by created_at, id limit $2");
        const OF_BOTH: Sql = issues!(
            "where repository = $1 and lower(author) = lower($2) order by created_at, id limit $3"
        );
        let sql = match (&filter.repository, &filter.author) {
            (None, None) => ALL,
            (Some(_), None) => OF_REPOSITORY,
            (None, Some(_)) => OF_AUTHOR,
            (Some(_), Some(_)) => OF_BOTH,
        };
        let limit = filter.limit.map_or(i64::MAX, |limit| limit.try_into().unwrap_or(i64::MAX));
        let wishes = filter.repository.iter().chain(&filter.author).map(Param::from);
        let params: Vec<_> = wishes.chain([Param::from(limit)]).collect();
        self.read("issues", |tx| tx.query_each(sql, &params, |row| Ok(each(read(row)?))))
    }
}

fn read(mut row: Row) -> Result<IssueRow, Error> {
    Ok(IssueRow {
        host: row.text(0)?,
        id: row.int(1)?,
        node_id: row.text(2)?,
        number: row.int(3)?,
        repository_id: row.int(4)?,
        repository: row.text(5)?,
        url: row.text(6)?,
        title: row.text(7)?,
        body: row.text(8)?,
        state: row.text(9)?,
        state_reason: row.maybe_text(10)?,
        labels: labels(&row.text(11)?)?,
        author: row.maybe_text(12)?,
        author_id: row.maybe_int(13)?,
        created_at: time(&row.text(14)?)?,
        updated_at: time(&row.text(15)?)?,
        closed_at: row.maybe_text(16)?.as_deref().map(time).transpose()?,
    })
}

pub(crate) fn labels(text: &str) -> Result<Vec<String>, Error> {
    serde_json::from_str(text)
        .map_err(|error| Error::Damaged(format!("an issue's labels: {error}")))
}
