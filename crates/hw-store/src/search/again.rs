//! The search rows of a whole repository, made anew from the texts that are held.

use hw_rules::item::Kind;
use hw_rules::time::SourceTime;

use super::{SearchRow, insert, remove};
use crate::error::Error;
use crate::sql::{Row, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;
use crate::views::repositories::time;
use crate::views::threads::list;

/// Makes the search rows of a repository's texts of one kind anew, after its name changed.
pub(crate) fn index(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    kind: Kind,
) -> Result<(), Error> {
    let mut after = i64::MIN;
    loop {
        let texts = indexed(tx, host, repository_id, kind, after)?;
        let Some(last) = texts.last() else { return Ok(()) };
        after = last.id;
        let rowids: Vec<_> = texts.iter().map(|text| text.rowid).collect();
        remove(tx, &rowids)?;
        let rows: Vec<_> =
            texts.iter().map(|text| (text.rowid, text.row((host, repository_id), kind))).collect();
        insert(tx, &rows.iter().map(|(rowid, row)| (*rowid, row)).collect::<Vec<_>>())?;
    }
}

/// A text as it is stored, with the id of its search row.
struct Indexed {
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

impl Indexed {
    fn row<'a>(&'a self, home: (&'a str, i64), kind: Kind) -> SearchRow<'a> {
        SearchRow {
            host: home.0,
            repository_id: home.1,
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

/// The next few hundred texts of a repository.
fn indexed(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    kind: Kind,
    after: i64,
) -> Result<Vec<Indexed>, Error> {
    const COMMENTS: OfKind = of_kind!(
        "select said.id, cells.search_rowid, '', body, repository, author, coalesce(state, ''), '[]',
                created_at, thread
           from",
        "as said
           join cells on cells.host = said.host and cells.kind = $1 and cells.id = said.id
          where said.host = $2 and repository_id = $3 and $4 < said.id
            and cells.search_rowid is not null
          order by said.id limit 500"
    );
    const THREADS: OfKind = of_kind!(
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
    let sql = if Kind::COMMENTS.contains(&kind) { COMMENTS } else { THREADS };
    let read = |mut row: Row| {
        Ok(Indexed {
            id: row.int(0)?,
            rowid: row.int(1)?,
            title: row.text(2)?,
            body: row.text(3)?,
            repository: row.text(4)?,
            author: row.maybe_text(5)?,
            state: row.text(6)?,
            labels: list(&row.text(7)?)?,
            created_at: time(&row.text(8)?)?,
            thread: row.int(9)?,
        })
    };
    Ok(tx.query_readable(sql.of(kind), &params, read)?.rows)
}
