//! Which items have these ids?

use hw_rules::item::{Item, Kind};

use super::{comments, repositories, threads};
use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;

/// Returns the items of one kind that have these ids and are in the mirror.
pub(crate) fn by_ids(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<Vec<Item>, Error> {
    match kind {
        Kind::Repository => {
            let rows = repositories::by_ids(tx, host, ids)?;
            Ok(rows.into_iter().map(Item::Repository).collect())
        }
        Kind::Discussion | Kind::Issue | Kind::PullRequest => threads_by_ids(tx, host, kind, ids),
        Kind::IssueComment | Kind::ReviewComment | Kind::Review | Kind::DiscussionComment => {
            comments_by_ids(tx, host, kind, ids)
        }
    }
}

fn threads_by_ids(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<Vec<Item>, Error> {
    let Some(table) = threads::Table::of(kind) else { return Ok(Vec::new()) };
    let sqlite =
        table.select("where host = $1 and id in (select value from json_each($2))", "order by id");
    let postgres = table.select("where host = $1 and id = any($2)", "order by id");
    let rows =
        tx.query(Sql::each(&sqlite, &postgres), &params![host, ids], |row| table.read(row))?;
    Ok(rows.into_iter().map(|row| Item::Thread(row.thread)).collect())
}

fn comments_by_ids(
    tx: &mut Tx<'_>,
    host: &str,
    kind: Kind,
    ids: &[i64],
) -> Result<Vec<Item>, Error> {
    let select =
        format!("select {} from comments where host = $1 and kind = $2", comments::COLUMNS);
    let sqlite = format!("{select} and id in (select value from json_each($3)) order by id");
    let postgres = format!("{select} and id = any($3) order by id");
    let params = params![host, kind.name(), ids];
    let rows = tx.query(Sql::each(&sqlite, &postgres), &params, comments::read)?;
    Ok(rows.into_iter().map(|row| Item::Comment(row.comment)).collect())
}
