//! The search rows of a whole repository, made anew from the texts that are held.

use hw_rules::item::Kind;

use super::{SearchRow, insert, remove};
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;
use crate::views::issues::labels;

/// Makes the search rows of a repository's issues anew, after its name changed.
pub(crate) fn index(tx: &mut Tx<'_>, host: &str, repository_id: i64) -> Result<(), Error> {
    let mut after = i64::MIN;
    loop {
        let issues = indexed_issues(tx, host, repository_id, after)?;
        let Some(last) = issues.last() else { return Ok(()) };
        after = last.id;
        let rowids: Vec<_> = issues.iter().map(|issue| issue.rowid).collect();
        remove(tx, &rowids)?;
        let rows: Vec<_> = issues.iter().map(|issue| (issue.rowid, issue.row())).collect();
        insert(tx, &rows)?;
    }
}

/// An issue as it is stored, with the id of its search row.
struct Indexed {
    id: i64,
    rowid: i64,
    title: String,
    body: String,
    repository: String,
    author: Option<String>,
    state: String,
    labels: Vec<String>,
    created_at: String,
}

impl Indexed {
    fn row(&self) -> SearchRow<'_> {
        SearchRow {
            kind: Kind::Issue,
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

/// The next few hundred issues of a repository.
fn indexed_issues(
    tx: &mut Tx<'_>,
    host: &str,
    repository_id: i64,
    after: i64,
) -> Result<Vec<Indexed>, Error> {
    const ISSUES: Sql = Sql::both(
        "select issues.id, cells.search_rowid, title, body, repository, author, state, labels,
                created_at
           from issues
           join cells on cells.host = issues.host and cells.kind = 'issue'
                     and cells.id = issues.id
          where issues.host = $1 and repository_id = $2 and $3 < issues.id
            and cells.search_rowid is not null
          order by issues.id limit 500",
    );
    tx.query(ISSUES, &params![host, repository_id, after], |mut row| {
        Ok(Indexed {
            id: row.int(0)?,
            rowid: row.int(1)?,
            title: row.text(2)?,
            body: row.text(3)?,
            repository: row.text(4)?,
            author: row.maybe_text(5)?,
            state: row.text(6)?,
            labels: labels(&row.text(7)?)?,
            created_at: row.text(8)?,
        })
    })
}
