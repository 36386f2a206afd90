//! What are these items called?

use hw_rules::item::Kind;
use hw_rules::item_names::{ItemNames, MOST_NAMES, thread_name};

use crate::Store;
use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;

impl Store {
    /// Returns the names of items of one kind, as messages show them.
    pub fn item_names(&self, host: &str, kind: Kind, ids: &[i64]) -> Result<ItemNames, Error> {
        self.read("item names", |tx| by_ids(tx, host, kind, ids))
    }
}

pub(crate) fn by_ids(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<ItemNames, Error> {
    const REPOSITORIES: Sql = Sql::each(
        "select owner, name from repositories
          where host = $1 and id in (select value from json_each($2)) order by owner, name, id",
        "select owner, name from repositories
          where host = $1 and id = any($2) order by owner, name, id",
    );
    const THREADS: OfKind = of_kind!(
        "select coalesce(repositories.owner || '/' || repositories.name, threads.repository),
                threads.number, threads.title
           from",
        "as threads
           left join repositories
             on repositories.host = threads.host and repositories.id = threads.repository_id
          where threads.host = $1 and threads.id in (select value from json_each($2))
          order by threads.repository, threads.number",
        "as threads
           left join repositories
             on repositories.host = threads.host and repositories.id = threads.repository_id
          where threads.host = $1 and threads.id = any($2)
          order by threads.repository, threads.number"
    );
    const COMMENTS: OfKind = of_kind!(
        "select url from",
        "where host = $1 and id in (select value from json_each($2)) order by url",
        "where host = $1 and id = any($2) order by url"
    );
    let shown = &ids[..ids.len().min(MOST_NAMES)];
    let params = params![host, shown];
    let names = match kind {
        Kind::Repository => tx.query(REPOSITORIES, &params, |mut row| {
            Ok(format!("{}/{}", row.text(0)?, row.text(1)?))
        })?,
        Kind::Discussion | Kind::Issue | Kind::PullRequest => {
            let name = |mut row: Row| Ok(thread_name(&row.text(0)?, row.int(1)?, &row.text(2)?));
            tx.query(THREADS.of(kind), &params, name)?
        }
        Kind::IssueComment | Kind::ReviewComment | Kind::Review | Kind::DiscussionComment => {
            tx.query(COMMENTS.of(kind), &params, |mut row| row.text(0))?
        }
    };
    Ok(ItemNames { names, total: ids.len() })
}
