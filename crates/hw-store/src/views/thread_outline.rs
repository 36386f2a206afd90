//! Reads a thread in two steps: the outline of all its comments, then the bodies of some.
//!
//! A thread can have thousands of long comments. A page shows a hundred, so it reads only their bodies.

use hw_rules::item::{ObjectId, ObjectKind};
use hw_rules::thread_address::ThreadAddress;
use hw_rules::thread_order::CommentLinks;

use super::comment_list::{self, CommentRow};
use super::completeness::Completeness;
use super::pending_chores::PendingChores;
use super::skipped_rows::{ReadableRows, SkippedRows};
use super::thread_list::ThreadRow;
use super::thread_view::{FoundThread, find_thread_at};
use crate::StoreReader;
use crate::error::StoreError;
use crate::mirror::repository_names;
use crate::sql::{Sql, SqlRow, SqlValue, params};

/// A thread and the outline of its comments, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadOutline {
    pub owner: String,
    pub row: ThreadRow,
    pub comments: Vec<CommentOutline>,
    /// Unreadable comments.
    pub skipped: SkippedRows,
}

/// A comment without its text: its identity, and its position in the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentOutline {
    pub kind: ObjectKind,
    pub id: i64,
    pub reply_to: Option<i64>,
    /// The review that a line comment belongs to.
    pub review_id: Option<i64>,
    pub url: String,
}

impl CommentOutline {
    /// Returns its links to other comments of the thread.
    pub fn links(&self) -> CommentLinks {
        let Self { kind, id, reply_to, review_id, .. } = *self;
        CommentLinks { key: ObjectId { kind, id }, reply_to, review_id }
    }
}

/// A comment whose body may be truncated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentExcerpt {
    pub row: CommentRow,
    /// The length of the whole body.
    pub body_bytes: u64,
}

impl StoreReader {
    /// Returns the outline of the thread at an address; `None` if it is not stored.
    pub fn thread_outline(
        &self,
        address: &ThreadAddress,
    ) -> Result<Option<ThreadOutline>, StoreError> {
        self.read("thread outline", |tx| {
            let Some(FoundThread { owner, row }) = find_thread_at(tx, address)? else {
                return Ok(None);
            };
            let text = format!(
                "select kind, id, reply_to, review_id, url from comments
                  where host = $1 and repository_id = $2 and thread_number = $3 order by {}",
                comment_list::order_clause(tx.dialect())
            );
            let params = params![&row.host, row.thread.repository_id, row.thread.number];
            let pending = PendingChores::read(tx)?;
            let comments = tx.query_readable(Sql::portable(&text), &params, read_outline)?;
            let ReadableRows { rows: mut comments, skipped } = comments;
            if let Some(name) = pending.new_name(&row.repository_key()) {
                for comment in &mut comments {
                    comment.url = repository_names::thread_url(&name.url, &comment.url);
                }
            }
            Ok(Some(ThreadOutline { owner, row, comments, skipped }))
        })
    }

    /// Returns the comments of a thread with the given ids, of any kind, with at most `max_body` bytes of each body.
    pub fn comment_excerpts(
        &self,
        thread: &ThreadRow,
        ids: &[i64],
        max_body: u32,
    ) -> Result<ReadableRows<CommentExcerpt>, StoreError> {
        // cast to a blob because SQLite's substr of a text stops at U+0000; substr of an empty blob is null
        let sqlite = excerpt_query(
            &format!("coalesce(substr(cast(body as blob), 1, {max_body}), '')"),
            "in (select value from json_each($4))",
        );
        let postgres = excerpt_query(&format!("substr(body, 1, {max_body})"), "= any($4)");
        let (repository, number) = (thread.thread.repository_id, thread.thread.number);
        self.read("comment excerpts", |tx| {
            let pending = PendingChores::read(tx)?;
            let params = params![&thread.host, repository, number, ids];
            let mut excerpts =
                tx.query_readable(Sql::per_dialect(&sqlite, &postgres), &params, read_excerpt)?;
            excerpts.rows.iter_mut().for_each(|excerpt| pending.rename_comment(&mut excerpt.row));
            Ok(excerpts)
        })
    }

    /// Reports how fresh a thread and its comments are, and what may be missing.
    pub fn outline_completeness(
        &self,
        outline: &ThreadOutline,
    ) -> Result<Completeness, StoreError> {
        self.comments_completeness(&outline.row, outline.skipped, outline.comments.len())
    }
}

/// Selects [`comment_list::COMMENT_COLUMNS`] with a part of the body, and the length of the whole body.
fn excerpt_query(body: &str, is_listed: &str) -> String {
    let columns = comment_list::COMMENT_COLUMNS.replace(" body,", &format!(" {body} as body,"));
    format!(
        "select {columns}, octet_length(body) as body_bytes from comments
          where host = $1 and repository_id = $2 and thread_number = $3 and id {is_listed}"
    )
}

fn read_outline(mut row: SqlRow) -> Result<CommentOutline, StoreError> {
    let kind = comment_list::parse_kind(&row.text("kind")?)?;
    let (id, reply_to, review_id) =
        (row.int("id")?, row.maybe_int("reply_to")?, row.maybe_int("review_id")?);
    Ok(CommentOutline { kind, id, reply_to, review_id, url: row.text("url")? })
}

fn read_excerpt(mut row: SqlRow) -> Result<CommentExcerpt, StoreError> {
    let body_bytes = row.int("body_bytes")?.unsigned_abs();
    if let Some(SqlValue::Bytes(body)) = row.value_mut("body") {
        drop_partial_character(body);
    }
    Ok(CommentExcerpt { row: comment_list::read_comment(row)?, body_bytes })
}

/// Drops the incomplete character that truncation may leave at the end. Other invalid bytes stay, and make the row
/// unreadable.
fn drop_partial_character(body: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(body)
        && error.error_len().is_none()
    {
        body.truncate(error.valid_up_to());
    }
}
