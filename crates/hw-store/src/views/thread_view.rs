//! Reads one thread with its comments.

use hw_rules::item::{Repository, ThreadKind};
use hw_rules::lane::Surface;
use hw_rules::repository_key::RepositoryKey;
use hw_rules::thread_address::ThreadAddress;

use super::comment_list::{self, CommentRow};
use super::completeness::Completeness;
use super::pending_chores::PendingChores;
use super::skipped_rows::{ReadableRows, SkippedRows};
use super::thread_list::{ThreadRow, ThreadTable};
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// A thread and its comments, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadView {
    pub owner: String,
    pub row: ThreadRow,
    pub comments: Vec<CommentRow>,
    /// Unreadable comments.
    pub skipped: SkippedRows,
}

/// A thread, with the owner of its repository.
pub(crate) struct FoundThread {
    pub(crate) owner: String,
    pub(crate) row: ThreadRow,
}

impl StoreReader {
    /// Returns the thread at an address; `None` if it is not stored.
    pub fn find_thread(&self, address: &ThreadAddress) -> Result<Option<ThreadView>, StoreError> {
        self.read("thread", |tx| {
            let found = find_thread_at(tx, address)?;
            found.map(|thread| read_thread_view(tx, thread)).transpose()
        })
    }

    /// Returns the URLs of all threads at an address. A name without its owner can match several repositories, and
    /// so can an `owner/name` that exists on two hosts.
    pub fn thread_urls(&self, address: &ThreadAddress) -> Result<Vec<String>, StoreError> {
        let found = self.read("thread urls", |tx| find_threads_at(tx, address))?;
        Ok(found.into_iter().map(|found| found.row.thread.url).collect())
    }

    /// Returns the thread with this number in exactly this repository; `None` if it is not stored.
    ///
    /// An address is less precise: it also matches repositories of the same name on other hosts or in another case.
    pub fn find_thread_in(
        &self,
        host: &str,
        repository: &Repository,
        number: i64,
    ) -> Result<Option<ThreadView>, StoreError> {
        self.read("thread", |tx| {
            let pending = PendingChores::read(tx)?;
            let key = RepositoryKey::new(host, repository.id);
            let mut row = find_by_number(tx, &key, number)?;
            row.iter_mut().for_each(|row| pending.rename_thread(row));
            let row = row.filter(|_| !pending.is_hidden(&key));
            let found = row.map(|row| FoundThread { owner: repository.owner.clone(), row });
            found.map(|thread| read_thread_view(tx, thread)).transpose()
        })
    }

    /// Reports how fresh a thread and its comments are, and what may be missing.
    pub fn thread_completeness(&self, view: &ThreadView) -> Result<Completeness, StoreError> {
        self.comments_completeness(&view.row, view.skipped, view.comments.len())
    }

    /// A thread without comments may be one whose comments were never pulled, so that is reported for it, too.
    pub(super) fn comments_completeness(
        &self,
        row: &ThreadRow,
        skipped: SkippedRows,
        comment_count: usize,
    ) -> Result<Completeness, StoreError> {
        let kind = row.thread.kind();
        let comment_surfaces = comment_surfaces(kind);
        let surfaces = [&[Surface::Threads(kind)], comment_surfaces.as_slice()].concat();
        let repository = Some(row.repository.as_str());
        let mut completeness = self.completeness(&surfaces, repository)?;
        completeness.missing.extend(skipped.to_missing());
        if comment_count == 0 {
            completeness.add_missing(self.completeness(&comment_surfaces, repository)?.missing);
        }
        Ok(completeness)
    }
}

fn read_thread_view(
    tx: &mut Transaction<'_>,
    found: FoundThread,
) -> Result<ThreadView, StoreError> {
    let FoundThread { owner, row } = found;
    let ReadableRows { rows: comments, skipped } =
        read_comments(tx, &row.repository_key(), row.thread.number)?;
    Ok(ThreadView { owner, row, comments, skipped })
}

/// Returns the surfaces that list the comments of threads of a kind.
fn comment_surfaces(kind: ThreadKind) -> Vec<Surface> {
    kind.comment_kinds().iter().map(|kind| Surface::Comments(*kind)).collect()
}

/// Finds the first thread at an address.
pub(crate) fn find_thread_at(
    tx: &mut Transaction<'_>,
    address: &ThreadAddress,
) -> Result<Option<FoundThread>, StoreError> {
    Ok(find_threads_at(tx, address)?.into_iter().next())
}

fn find_threads_at(
    tx: &mut Transaction<'_>,
    address: &ThreadAddress,
) -> Result<Vec<FoundThread>, StoreError> {
    let pending = PendingChores::read(tx)?;
    let mut found = Vec::new();
    for RepositoryOwner { key, owner } in find_repositories(tx, address)? {
        let mut row = find_by_number(tx, &key, address.number)?;
        row.iter_mut().for_each(|row| pending.rename_thread(row));
        let row = row.filter(|_| !pending.is_hidden(&key));
        let row = row.filter(|row| address.is_at_host_of(&row.thread.url));
        found.extend(row.map(|row| FoundThread { owner, row }));
    }
    Ok(found)
}

struct RepositoryOwner {
    key: RepositoryKey,
    owner: String,
}

/// Finds the repositories of an address. Names match in any case.
fn find_repositories(
    tx: &mut Transaction<'_>,
    address: &ThreadAddress,
) -> Result<Vec<RepositoryOwner>, StoreError> {
    const NAMED: Sql = Sql::portable(
        "select host, id, owner from repositories
          where lower(name) = lower($1) order by host, owner, id",
    );
    let mut named = tx
        .query_readable(NAMED, &params![&address.repository], |mut row| {
            Ok(RepositoryOwner {
                key: RepositoryKey::new(row.text("host")?, row.int("id")?),
                owner: row.text("owner")?,
            })
        })?
        .rows;
    if let Some(owner) = &address.owner {
        named.retain(|repository| repository.owner.eq_ignore_ascii_case(owner));
    }
    Ok(named)
}

/// Finds a thread by its number in a repository.
pub(crate) fn find_by_number(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    number: i64,
) -> Result<Option<ThreadRow>, StoreError> {
    let conditions = "where host = $1 and repository_id = $2 and number = $3";
    for table in ThreadKind::ALL.into_iter().map(ThreadTable::for_kind) {
        let text = table.select_sql(conditions, "limit 1");
        let params = params![&repository.host, repository.id, number];
        if let Some(row) =
            tx.query_first(Sql::portable(&text), &params, |row| table.read_row(row))?
        {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

pub(crate) fn find_by_id(
    tx: &mut Transaction<'_>,
    table: &ThreadTable,
    host: &str,
    id: i64,
) -> Result<Option<ThreadRow>, StoreError> {
    let text = table.select_sql("where host = $1 and id = $2", "");
    tx.query_first(Sql::portable(&text), &params![host, id], |row| table.read_row(row))
}

fn read_comments(
    tx: &mut Transaction<'_>,
    repository: &RepositoryKey,
    number: i64,
) -> Result<ReadableRows<CommentRow>, StoreError> {
    let text = format!(
        "select {} from comments where host = $1 and repository_id = $2 and thread_number = $3 order by {}",
        comment_list::COMMENT_COLUMNS,
        comment_list::order_clause(tx.dialect())
    );
    let pending = PendingChores::read(tx)?;
    let params = params![&repository.host, repository.id, number];
    let mut comments =
        tx.query_readable(Sql::portable(&text), &params, comment_list::read_comment)?;
    comments.rows.iter_mut().for_each(|row| pending.rename_comment(row));
    Ok(comments)
}
