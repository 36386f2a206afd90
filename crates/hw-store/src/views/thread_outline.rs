//! Which comments does a thread have, and what do some of them say?
//!
//! A thread can hold thousands of long comments. A page shows a hundred, so it reads the bodies of those alone.

use hw_rules::address::ThreadAddress;
use hw_rules::item::Kind;

use super::behind::Behind;
use super::comments::{self, CommentRow};
use super::skipped::{ReadableRows, SkippedRows};
use super::thread::at;
use super::threads::ThreadRow;
use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql, Value, params};

/// Where [`comments::COLUMNS`] has the body, and how many columns it has.
const BODY_COLUMN: usize = 10;
const AFTER_COLUMNS: usize = 18;

/// A thread and the list of its comments, oldest first, without their texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadOutline {
    pub owner: String,
    pub row: ThreadRow,
    pub comments: Vec<CommentOutline>,
    /// Among its comments.
    pub skipped: SkippedRows,
}

/// The name of a comment and its place in the talk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentOutline {
    pub kind: Kind,
    pub id: i64,
    pub reply_to: Option<i64>,
    /// The review that a line comment is part of.
    pub review_id: Option<i64>,
    pub url: String,
}

/// A comment whose body may be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentExcerpt {
    pub row: CommentRow,
    /// The length of the whole body.
    pub body_bytes: u64,
}

impl Store {
    /// The thread at an address; none when it is not held.
    pub fn thread_outline(&self, address: &ThreadAddress) -> Result<Option<ThreadOutline>, Error> {
        self.read("thread outline", |tx| {
            let Some((owner, row)) = at(tx, address)? else { return Ok(None) };
            let text = format!(
                "select kind, id, reply_to, review_id, url from comments
                  where host = $1 and repository_id = $2 and thread = $3 order by {}",
                comments::order(tx.dialect())
            );
            let params = params![&row.host, row.thread.repository_id, row.thread.number];
            let comments = tx.query_readable(Sql::both(&text), &params, read_outline)?;
            let ReadableRows { rows: comments, skipped } = comments;
            Ok(Some(ThreadOutline { owner, row, comments, skipped }))
        })
    }

    /// The comments of a thread that have these ids, whatever their kind, with at most so many bytes of each body.
    pub fn comment_excerpts(
        &self,
        thread: &ThreadRow,
        ids: &[i64],
        max_body: u32,
    ) -> Result<ReadableRows<CommentExcerpt>, Error> {
        // as bytes: SQLite's substr of a text ends at U+0000, and that of no bytes is null
        let sqlite = excerpt_query(
            &format!("coalesce(substr(cast(body as blob), 1, {max_body}), '')"),
            "in (select value from json_each($4))",
        );
        let postgres = excerpt_query(&format!("substr(body, 1, {max_body})"), "= any($4)");
        let (repository, number) = (thread.thread.repository_id, thread.thread.number);
        self.read("comment excerpts", |tx| {
            let params = params![&thread.host, repository, number, ids];
            tx.query_readable(Sql::each(&sqlite, &postgres), &params, read_excerpt)
        })
    }

    /// How fresh a thread and its talk are, and what may be missing from them.
    pub fn behind_outline(&self, outline: &ThreadOutline) -> Result<Behind, Error> {
        self.behind_talk(&outline.row, outline.skipped, outline.comments.is_empty())
    }
}

/// [`comments::COLUMNS`] with a part of the body, and the length of the whole.
fn excerpt_query(body: &str, is_listed: &str) -> String {
    let columns = comments::COLUMNS.replace(" body,", &format!(" {body},"));
    format!(
        "select {columns}, octet_length(body) from comments
          where host = $1 and repository_id = $2 and thread = $3 and id {is_listed}"
    )
}

fn read_outline(mut row: Row) -> Result<CommentOutline, Error> {
    let kind = comments::kind_named(&row.text(0)?)?;
    let (id, reply_to, review_id) = (row.int(1)?, row.maybe_int(2)?, row.maybe_int(3)?);
    Ok(CommentOutline { kind, id, reply_to, review_id, url: row.text(4)? })
}

fn read_excerpt(mut row: Row) -> Result<CommentExcerpt, Error> {
    let body_bytes = row.int(AFTER_COLUMNS)?.unsigned_abs();
    if let Some(Value::Bytes(body)) = row.0.get_mut(BODY_COLUMN) {
        drop_partial_character(body);
    }
    Ok(CommentExcerpt { row: comments::read(row)?, body_bytes })
}

/// A cut may have gone through a character. Other bytes that are no text stay, and make the row unreadable.
fn drop_partial_character(body: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(body)
        && error.error_len().is_none()
    {
        body.truncate(error.valid_up_to());
    }
}
