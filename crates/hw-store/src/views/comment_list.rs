//! Lists the stored comments.

use std::ops::ControlFlow;

use hw_rules::date_range::DateRange;
use hw_rules::item::{AuthorKind, Comment, CommentKind, ObjectKind};
use hw_rules::repository_key::RepositoryKey;

use super::conditions::{ConditionBuilder, TimeBounds, limit_or_max, normalize_logins};
use super::cursor::CommentCursor;
use super::pending_chores::PendingChores;
use super::repositories::parse_time;
use super::repository_match::RepositoryMatch;
use super::skipped_rows::SkippedRows;
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Dialect, Sql, SqlRow};

/// Selects the comments to list; the default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommentFilter {
    /// The repository's name, with or without its owner, in any case.
    pub repository: Option<String>,
    /// The login of the repository's owner, in any case.
    pub owner: Option<String>,
    /// The thread's number.
    pub thread: Option<i64>,
    /// Any of these logins, in any case, with or without an `@`; empty means every author.
    pub authors: Vec<String>,
    pub created: DateRange,
    /// Only comments after this one.
    pub after: Option<CommentCursor>,
    pub limit: Option<u64>,
}

/// A stored comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentRow {
    pub host: String,
    /// The repository's name, without its owner.
    pub repository: String,
    pub comment: Comment,
}

impl CommentRow {
    pub(crate) fn repository_key(&self) -> RepositoryKey {
        RepositoryKey::new(&self.host, self.comment.repository_id)
    }
}

pub(crate) const COMMENT_COLUMNS: &str =
    "host, repository, kind, id, node_id, repository_id, thread_number, reply_to,
    review_id, url, body, state, path, line, author, author_id, author_kind, association, created_at, updated_at";

impl StoreReader {
    /// Calls `each` with the comments of every kind, oldest first, without loading them all; returns the number of
    /// unreadable ones.
    ///
    /// `each` must not call the store: a database in memory has only one connection.
    pub fn each_comment(
        &self,
        filter: &CommentFilter,
        each: &mut dyn FnMut(CommentRow) -> ControlFlow<()>,
    ) -> Result<SkippedRows, StoreError> {
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

    /// Like [`Self::each_comment`], with `None` for each comment that cannot be read.
    pub(crate) fn each_comment_or_gap(
        &self,
        filter: &CommentFilter,
        each: &mut dyn FnMut(Option<CommentRow>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let (authors, created) =
            (normalize_logins(&filter.authors), TimeBounds::from_range(filter.created));
        self.read("comments", |tx| {
            let pending = PendingChores::read(tx)?;
            let (repository, owner) = (filter.repository.as_deref(), filter.owner.as_deref());
            let repositories = RepositoryMatch::find(tx, repository, owner, &pending)?;
            let mut conditions = ConditionBuilder::new(tx.dialect());
            conditions.add_visible(&pending);
            conditions.add_repositories(repositories.as_ref());
            conditions.add_equals("thread_number", filter.thread);
            conditions.add_authors(&authors);
            conditions.add_range("created_at", &created);
            conditions.add_after_comment(filter.after.as_ref());
            let limit = conditions.bind_param(limit_or_max(filter.limit).into());
            let text = format!(
                "select {COMMENT_COLUMNS} from comments {} order by {} limit {limit}",
                conditions.where_clause(),
                order_clause(tx.dialect())
            );
            tx.query_each(Sql::portable(&text), &conditions.params, |row| {
                let mut row = SkippedRows::default().skip_unreadable(read_comment(row))?;
                row.iter_mut().for_each(|row| pending.rename_comment(row));
                Ok(each(row))
            })
        })
    }
}

/// Orders comments oldest first, identically in both databases.
pub(crate) fn order_clause(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "created_at, kind, id",
        Dialect::Postgres => "created_at, kind collate \"C\", id",
    }
}

pub(crate) fn parse_kind(name: &str) -> Result<ObjectKind, StoreError> {
    ObjectKind::from_name(name)
        .ok_or_else(|| StoreError::UnreadableRow(format!("unknown item kind {name:?}")))
}

fn parse_comment_kind(name: &str) -> Result<CommentKind, StoreError> {
    parse_kind(name)?
        .as_comment()
        .ok_or_else(|| StoreError::UnreadableRow(format!("not a kind of comment: {name:?}")))
}

pub(crate) fn read_comment(mut row: SqlRow) -> Result<CommentRow, StoreError> {
    let kind = parse_comment_kind(&row.text("kind")?)?;
    Ok(CommentRow {
        host: row.text("host")?,
        repository: row.text("repository")?,
        comment: Comment {
            kind,
            id: row.int("id")?,
            node_id: row.text("node_id")?,
            repository_id: row.int("repository_id")?,
            thread: row.int("thread_number")?,
            reply_to: row.maybe_int("reply_to")?,
            review_id: row.maybe_int("review_id")?,
            url: row.text("url")?,
            body: row.text("body")?,
            state: row.maybe_text("state")?,
            path: row.maybe_text("path")?,
            line: row.maybe_int("line")?,
            author: row.maybe_text("author")?,
            author_id: row.maybe_int("author_id")?,
            author_kind: row.maybe_text("author_kind")?.map(AuthorKind::from),
            association: row.maybe_text("association")?,
            created_at: parse_time(&row.text("created_at")?)?,
            updated_at: parse_time(&row.text("updated_at")?)?,
        },
    })
}
