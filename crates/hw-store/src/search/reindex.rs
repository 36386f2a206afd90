//! Rebuilds search rows from the stored texts.

use std::collections::BTreeMap;

use hw_rules::item::ObjectKind;
use hw_rules::source_time::SourceTime;

use super::{SearchRow, insert_rows, remove_rows};
use crate::chores::{TextBatch, TextPosition};
use crate::error::StoreError;
use crate::mirror::NO_REPOSITORY;
use crate::sql::{Sql, SqlRow, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;
use crate::views::repositories::parse_time;
use crate::views::thread_list::parse_list;

/// Rebuilds the search rows of the next texts of one kind, on any host.
pub(crate) fn reindex_texts(
    tx: &mut Transaction<'_>,
    kind: ObjectKind,
    after: &TextPosition,
    limit: i64,
) -> Result<TextBatch, StoreError> {
    const NEXT: KindStatements = of_kind!(
        "select host, id from",
        "where (host, id) > ($1, $2) order by host, id limit $3",
        "where (host, id) > ($1::text, $2::bigint) order by host, id limit $3"
    );
    let params = params![&after.host, after.id, limit];
    let next = tx.query(NEXT.for_kind(kind), &params, |mut row| {
        Ok(TextPosition { host: row.text("host")?, id: row.int("id")? })
    })?;
    let mut by_host: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for TextPosition { host, id } in &next {
        by_host.entry(host).or_default().push(*id);
    }
    for (host, ids) in &by_host {
        reindex_ids(tx, host, kind, ids)?;
    }
    let is_full = i64::try_from(next.len()).is_ok_and(|count| count >= limit);
    Ok(TextBatch { texts: next.len(), last: next.last().filter(|_| is_full).cloned() })
}

/// Rebuilds the search rows of these texts of one kind.
pub(super) fn reindex_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<(), StoreError> {
    let texts = read_texts(tx, host, kind, ids)?;
    let rowids: Vec<_> = texts.iter().map(|text| text.rowid).collect();
    remove_rows(tx, &rowids)?;
    let rows: Vec<_> = texts.iter().map(|text| (text.rowid, text.search_row(host, kind))).collect();
    insert_rows(tx, &rows)
}

/// A stored text, with the id of its search row.
struct IndexedText {
    repository_id: i64,
    rowid: i64,
    title: String,
    body: String,
    repository: String,
    author: Option<String>,
    accounts: [Option<String>; 2],
    state: String,
    labels: Vec<String>,
    created_at: SourceTime,
    thread: i64,
}

impl IndexedText {
    fn search_row<'a>(&'a self, host: &'a str, kind: ObjectKind) -> SearchRow<'a> {
        SearchRow {
            host,
            repository_id: self.repository_id,
            thread: self.thread,
            kind,
            title: &self.title,
            body: &self.body,
            repository: &self.repository,
            author: self.author.as_deref(),
            accounts: self.accounts.each_ref().map(|account| account.as_deref()),
            state: &self.state,
            labels: &self.labels,
            created_at: &self.created_at,
            prepared: None,
        }
    }
}

/// Reads those of these texts that have a search row.
fn read_texts(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<Vec<IndexedText>, StoreError> {
    const COMMENTS: KindStatements = of_kind!(
        "select repository_id, cells.search_rowid, '' as title, body, repository, author,
                coalesce(state, '') as state, '[]' as labels, created_at, thread_number as number
           from",
        "as comments
           join cells on cells.host = comments.host and cells.kind = $1 and cells.id = comments.id
          where comments.host = $2 and comments.id in (select value from json_each($3))
            and cells.search_rowid is not null",
        "as comments
           join cells on cells.host = comments.host and cells.kind = $1 and cells.id = comments.id
          where comments.host = $2 and comments.id = any($3) and cells.search_rowid is not null"
    );
    const THREADS: KindStatements = of_kind!(
        "select repository_id, cells.search_rowid, title, body, repository, author, state, labels,
                created_at, number
           from",
        "as threads
           join cells on cells.host = threads.host and cells.kind = $1 and cells.id = threads.id
          where threads.host = $2 and threads.id in (select value from json_each($3))
            and cells.search_rowid is not null",
        "as threads
           join cells on cells.host = threads.host and cells.kind = $1 and cells.id = threads.id
          where threads.host = $2 and threads.id = any($3) and cells.search_rowid is not null"
    );
    const POSTS: Sql = Sql::per_dialect(
        "select cells.search_rowid, text as body, sort_at as created_at, posts.id as number, did, sharer
           from posts
           join cells on cells.host = posts.host and cells.kind = $1 and cells.id = posts.id
          where posts.host = $2 and posts.id in (select value from json_each($3))
            and cells.search_rowid is not null",
        "select cells.search_rowid, text as body, sort_at as created_at, posts.id as number, did, sharer
           from posts
           join cells on cells.host = posts.host and cells.kind = $1 and cells.id = posts.id
          where posts.host = $2 and posts.id = any($3) and cells.search_rowid is not null",
    );
    let params = params![kind.name(), host, ids];
    let sql = match kind {
        ObjectKind::Comment(_) => COMMENTS.for_kind(kind),
        ObjectKind::Post => POSTS,
        ObjectKind::Thread(_) | ObjectKind::Repository => THREADS.for_kind(kind),
    };
    Ok(tx.query_readable(sql, &params, |row| read_text(row, kind))?.rows)
}

fn read_text(mut row: SqlRow, kind: ObjectKind) -> Result<IndexedText, StoreError> {
    if kind == ObjectKind::Post {
        return read_post_text(row);
    }
    Ok(IndexedText {
        accounts: [None, None],
        repository_id: row.int("repository_id")?,
        rowid: row.int("search_rowid")?,
        title: row.text("title")?,
        body: row.text("body")?,
        repository: row.text("repository")?,
        author: row.maybe_text("author")?,
        state: row.text("state")?,
        labels: parse_list(&row.text("labels")?)?,
        created_at: parse_time(&row.text("created_at")?)?,
        thread: row.int("number")?,
    })
}

fn read_post_text(mut row: SqlRow) -> Result<IndexedText, StoreError> {
    Ok(IndexedText {
        repository_id: NO_REPOSITORY,
        rowid: row.int("search_rowid")?,
        title: String::new(),
        body: row.text("body")?,
        repository: String::new(),
        author: None,
        accounts: [Some(row.text("sharer")?), Some(row.text("did")?)],
        state: String::new(),
        labels: Vec::new(),
        created_at: parse_time(&row.text("created_at")?)?,
        thread: row.int("number")?,
    })
}
