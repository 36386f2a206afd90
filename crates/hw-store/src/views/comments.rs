//! Which comments are held?

use std::ops::ControlFlow;

use hw_rules::dates::Span;
use hw_rules::item::{Comment, Kind};

use super::after::AfterComment;
use super::meant::Meant;
use super::repositories::time;
use super::skipped::SkippedRows;
use super::wishes::{Bounds, Wishes, limited, lower};
use crate::Store;
use crate::error::Error;
use crate::sql::{Dialect, Row, Sql};

/// Which comments to list; everything without a wish.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommentFilter {
    /// The repository's name, with or without its owner, in any case.
    pub repository: Option<String>,
    /// The login of the repository's owner, in any case.
    pub owner: Option<String>,
    /// The thread's number.
    pub thread: Option<i64>,
    /// Any of these, in any case, with or without an `@`; everybody when there are none.
    pub authors: Vec<String>,
    pub created: Span,
    /// Only what comes after this one.
    pub after: Option<AfterComment>,
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

pub(crate) const COLUMNS: &str =
    "host, repository, kind, id, node_id, repository_id, thread, reply_to,
    review_id, url, body, state, path, line, author, author_id, created_at, updated_at";

impl Store {
    /// Calls `each` with the comments of every sort, one by one, oldest first, without holding them all; returns
    /// how many cannot be read.
    ///
    /// `each` must not call the store: in a database in memory there is but one connection.
    pub fn each_comment(
        &self,
        filter: &CommentFilter,
        each: &mut dyn FnMut(CommentRow) -> ControlFlow<()>,
    ) -> Result<SkippedRows, Error> {
        let mut skipped = SkippedRows::default();
        self.each_comment_or_gap(filter, &mut |row| match row {
            Some(row) => each(row),
            None => {
                skipped.0 += 1;
                ControlFlow::Continue(())
            }
        })?;
        Ok(skipped)
    }

    /// The same, with a place for each comment that cannot be read.
    pub(crate) fn each_comment_or_gap(
        &self,
        filter: &CommentFilter,
        each: &mut dyn FnMut(Option<CommentRow>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let (authors, created) = (lower(&filter.authors), Bounds::of(filter.created));
        self.read("comments", |tx| {
            let meant = Meant::by(tx, filter.repository.as_deref(), filter.owner.as_deref())?;
            let mut wishes = Wishes::new(tx.dialect());
            wishes.repository(meant.as_ref());
            wishes.equals("thread", filter.thread);
            wishes.author(&authors);
            wishes.within("created_at", &created);
            wishes.after_comment(filter.after.as_ref());
            let limit = wishes.place(limited(filter.limit).into());
            let text = format!(
                "select {COLUMNS} from comments {} order by {} limit {limit}",
                wishes.text(),
                order(tx.dialect())
            );
            tx.query_each(Sql::both(&text), &wishes.params, |row| {
                Ok(each(SkippedRows::default().unless_unreadable(read(row))?))
            })
        })
    }
}

/// Oldest first, the same in both databases.
pub(crate) fn order(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "created_at, kind, id",
        Dialect::Postgres => "created_at, kind collate \"C\", id",
    }
}

pub(crate) fn kind_named(name: &str) -> Result<Kind, Error> {
    Kind::named(name)
        .ok_or_else(|| Error::UnreadableRow(format!("no kind of object is named {name:?}")))
}

pub(crate) fn read(mut row: Row) -> Result<CommentRow, Error> {
    let kind = kind_named(&row.text(2)?)?;
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
