//! Reads mirror items by their ids.

use hw_rules::item::{CommentKind, MirrorItem, ObjectKind, ThreadKind};

use super::{comment_list, post_list, repositories, thread_list};
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::transaction::Transaction;

/// Returns those items of one kind with the given ids that are in the mirror.
pub(crate) fn items_by_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<Vec<MirrorItem>, StoreError> {
    match kind {
        ObjectKind::Repository => {
            let rows = repositories::repositories_by_ids(tx, host, ids)?;
            Ok(rows.into_iter().map(MirrorItem::Repository).collect())
        }
        ObjectKind::Thread(kind) => threads_by_ids(tx, host, kind, ids),
        ObjectKind::Comment(kind) => comments_by_ids(tx, host, kind, ids),
        ObjectKind::Post => {
            let rows = post_list::posts_by_ids(tx, host, ids)?;
            Ok(rows.into_iter().map(|row| MirrorItem::Post(row.post)).collect())
        }
    }
}

fn threads_by_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ThreadKind,
    ids: &[i64],
) -> Result<Vec<MirrorItem>, StoreError> {
    let table = thread_list::ThreadTable::for_kind(kind);
    let sqlite = table
        .select_sql("where host = $1 and id in (select value from json_each($2))", "order by id");
    let postgres = table.select_sql("where host = $1 and id = any($2)", "order by id");
    let rows = tx.query(Sql::per_dialect(&sqlite, &postgres), &params![host, ids], |row| {
        table.read_row(row)
    })?;
    Ok(rows.into_iter().map(|row| MirrorItem::Thread(row.thread)).collect())
}

fn comments_by_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: CommentKind,
    ids: &[i64],
) -> Result<Vec<MirrorItem>, StoreError> {
    let select = format!(
        "select {} from comments where host = $1 and kind = $2",
        comment_list::COMMENT_COLUMNS
    );
    let sqlite = format!("{select} and id in (select value from json_each($3)) order by id");
    let postgres = format!("{select} and id = any($3) order by id");
    let params = params![host, kind.name(), ids];
    let rows =
        tx.query(Sql::per_dialect(&sqlite, &postgres), &params, comment_list::read_comment)?;
    Ok(rows.into_iter().map(|row| MirrorItem::Comment(row.comment)).collect())
}
