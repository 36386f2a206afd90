//! Which comments are held?

use std::ops::ControlFlow;

use hw_rules::item::{Comment, Kind};

use super::repositories::time;
use crate::Store;
use crate::error::Error;
use crate::sql::{Param, Row, Sql};

/// Which comments to list; everything without a wish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommentFilter {
    /// The repository's name, without its owner.
    pub repository: Option<String>,
    /// The thread's number.
    pub thread: Option<i64>,
    pub author: Option<String>,
    pub limit: Option<u64>,
}

/// One comment as it is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentRow {
    pub host: String,
    /// The repository's name, without its owner.
    pub repository: String,
    pub comment: Comment,
}

macro_rules! comments {
    ($sqlite:literal, $postgres:literal) => {
        Sql::each(
            concat!(
                "select host, repository, kind, id, node_id, repository_id, thread, reply_to,
                        review_id, url, body, state, path, line, author, author_id, created_at,
                        updated_at
                   from comments where ",
                $sqlite,
                " and ($2 is null or thread = $2)
                  and ($3 is null or lower(author) = lower($3))
                  order by created_at, kind, id limit $4"
            ),
            concat!(
                "select host, repository, kind, id, node_id, repository_id, thread, reply_to,
                        review_id, url, body, state, path, line, author, author_id, created_at,
                        updated_at
                   from comments where ",
                $postgres,
                " and ($2::bigint is null or thread = $2)
                  and ($3::text is null or lower(author) = lower($3))
                  order by created_at, kind collate \"C\", id limit $4"
            ),
        )
    };
}

const ALL: Sql = comments!("$1 is null", "$1::text is null");
/// A statement of its own: one that says "or" looks at the comments of all repositories.
const OF_REPOSITORY: Sql = comments!("repository = $1", "repository = $1");

impl Store {
    /// Calls `each` with the comments of every sort, one by one, oldest first, without holding them all.
    ///
    /// `each` must not call the store: in a database in memory there is but one connection.
    pub fn each_comment(
        &self,
        filter: &CommentFilter,
        each: &mut dyn FnMut(CommentRow) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let sql = if filter.repository.is_some() { OF_REPOSITORY } else { ALL };
        let limit = filter.limit.map_or(i64::MAX, |limit| limit.try_into().unwrap_or(i64::MAX));
        let params = [
            Param::from(filter.repository.as_deref()),
            Param::from(filter.thread),
            Param::from(filter.author.as_deref()),
            Param::from(limit),
        ];
        self.read("comments", |tx| tx.query_each(sql, &params, |row| Ok(each(read(row)?))))
    }
}

fn read(mut row: Row) -> Result<CommentRow, Error> {
    let name = row.text(2)?;
    let kind = Kind::named(&name)
        .ok_or_else(|| Error::Damaged(format!("no kind of object is named {name:?}")))?;
    Ok(CommentRow {
        host: row.text(0)?,
        repository: row.text(1)?,
        comment: Comment {
            kind,
            id: row.int(3)?,
            node_id: row.text(4)?,
            repository_id: row.int(5)?,
            thread: row.int(6)?,
            reply_to: row.maybe_int(7)?,
            review_id: row.maybe_int(8)?,
            url: row.text(9)?,
            body: row.text(10)?,
            state: row.maybe_text(11)?,
            path: row.maybe_text(12)?,
            line: row.maybe_int(13)?,
            author: row.maybe_text(14)?,
            author_id: row.maybe_int(15)?,
            created_at: time(&row.text(16)?)?,
            updated_at: time(&row.text(17)?)?,
        },
    })
}
