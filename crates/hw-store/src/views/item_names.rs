//! Reads the names of items for messages.

use hw_rules::item::ObjectKind;
use hw_rules::item_names::{ItemNames, MAX_NAMES, format_thread_name};

use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;
use crate::views::post_list;

impl StoreReader {
    /// Returns the names of items of one kind, as messages print them.
    pub fn item_names(
        &self,
        host: &str,
        kind: ObjectKind,
        ids: &[i64],
    ) -> Result<ItemNames, StoreError> {
        self.read("item names", |tx| names_by_ids(tx, host, kind, ids))
    }
}

/// Returns the names of the first [`MAX_NAMES`] items, and the total.
pub(crate) fn names_by_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<ItemNames, StoreError> {
    const REPOSITORIES: Sql = Sql::per_dialect(
        "select owner, name from repositories
          where host = $1 and id in (select value from json_each($2)) order by owner, name, id",
        "select owner, name from repositories
          where host = $1 and id = any($2) order by owner, name, id",
    );
    const THREADS: KindStatements = of_kind!(
        "select coalesce(repositories.owner || '/' || repositories.name, threads.repository) as repository,
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
    const COMMENTS: KindStatements = of_kind!(
        "select url from",
        "where host = $1 and id in (select value from json_each($2)) order by url",
        "where host = $1 and id = any($2) order by url"
    );
    let named_ids = &ids[..ids.len().min(MAX_NAMES)];
    let params = params![host, named_ids];
    let names = match kind {
        ObjectKind::Repository => tx.query(REPOSITORIES, &params, |mut row| {
            Ok(format!("{}/{}", row.text("owner")?, row.text("name")?))
        })?,
        ObjectKind::Thread(_) => tx.query(THREADS.for_kind(kind), &params, |mut row| {
            Ok(format_thread_name(
                &row.text("repository")?,
                row.int("number")?,
                &row.text("title")?,
            ))
        })?,
        ObjectKind::Post => {
            let posts = post_list::posts_by_ids(tx, host, named_ids)?;
            posts.into_iter().map(|row| row.post.web_url()).collect()
        }
        ObjectKind::Comment(_) => {
            tx.query(COMMENTS.for_kind(kind), &params, |mut row| row.text("url"))?
        }
    };
    Ok(ItemNames { names, total: ids.len() })
}
