//! Rebuilds the search rows of a repository from the stored texts.

use hw_rules::item::ItemKind;
use hw_rules::source_time::SourceTime;

use super::{SearchRow, insert_rows, remove_rows};
use crate::error::StoreError;
use crate::sql::{SqlRow, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;
use crate::views::repositories::parse_time;
use crate::views::thread_list::parse_list;

/// Rebuilds the search rows of a repository's texts of one kind, after its name changed.
pub(crate) fn reindex_repository(
    tx: &mut Transaction<'_>,
    host: &str,
    repository_id: i64,
    kind: ItemKind,
) -> Result<(), StoreError> {
    let mut after = i64::MIN;
    loop {
        let texts = next_texts(tx, host, repository_id, kind, after)?;
        let Some(last) = texts.last() else { return Ok(()) };
        after = last.id;
        let rowids: Vec<_> = texts.iter().map(|text| text.rowid).collect();
        remove_rows(tx, &rowids)?;
        let rows: Vec<_> = texts
            .iter()
            .map(|text| (text.rowid, text.search_row(host, repository_id, kind)))
            .collect();
        insert_rows(tx, &rows.iter().map(|(rowid, row)| (*rowid, row)).collect::<Vec<_>>())?;
    }
}

/// A stored text, with the id of its search row.
struct IndexedText {
    id: i64,
    rowid: i64,
    title: String,
    body: String,
    repository: String,
    author: Option<String>,
    state: String,
    labels: Vec<String>,
    created_at: SourceTime,
    thread: i64,
}

impl IndexedText {
    fn search_row<'a>(
        &'a self,
        host: &'a str,
        repository_id: i64,
        kind: ItemKind,
    ) -> SearchRow<'a> {
        SearchRow {
            host,
            repository_id,
            thread: self.thread,
            kind,
            title: &self.title,
            body: &self.body,
            repository: &self.repository,
            author: self.author.as_deref(),
            state: &self.state,
            labels: &self.labels,
            created_at: &self.created_at,
        }
    }
}

/// Reads the next few hundred texts of a repository, by ascending id.
fn next_texts(
    tx: &mut Transaction<'_>,
    host: &str,
    repository_id: i64,
    kind: ItemKind,
    after: i64,
) -> Result<Vec<IndexedText>, StoreError> {
    const COMMENTS: KindStatements = of_kind!(
        "select comments.id, cells.search_rowid, '', body, repository, author, coalesce(state, ''), '[]',
                created_at, thread_number
           from",
        "as comments
           join cells on cells.host = comments.host and cells.kind = $1 and cells.id = comments.id
          where comments.host = $2 and repository_id = $3 and $4 < comments.id
            and cells.search_rowid is not null
          order by comments.id limit 500"
    );
    const THREADS: KindStatements = of_kind!(
        "select threads.id, cells.search_rowid, title, body, repository, author, state, labels,
                created_at, number
           from",
        "as threads
           join cells on cells.host = threads.host and cells.kind = $1 and cells.id = threads.id
          where threads.host = $2 and repository_id = $3 and $4 < threads.id
            and cells.search_rowid is not null
          order by threads.id limit 500"
    );
    let params = params![kind.name(), host, repository_id, after];
    let sql = if ItemKind::COMMENTS.contains(&kind) { COMMENTS } else { THREADS };
    Ok(tx.query_readable(sql.for_kind(kind), &params, read_text)?.rows)
}

fn read_text(mut row: SqlRow) -> Result<IndexedText, StoreError> {
    Ok(IndexedText {
        id: row.int(0)?,
        rowid: row.int(1)?,
        title: row.text(2)?,
        body: row.text(3)?,
        repository: row.text(4)?,
        author: row.maybe_text(5)?,
        state: row.text(6)?,
        labels: parse_list(&row.text(7)?)?,
        created_at: parse_time(&row.text(8)?)?,
        thread: row.int(9)?,
    })
}
