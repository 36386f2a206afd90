//! Empties the tables that can be fetched again. Posts, and what is known of their feeds, stay.

use std::collections::BTreeMap;

use hw_rules::item::{CommentKind, ObjectId, ObjectKind, ThreadKind};

use super::{ROWS_PER_TEXT, TextBatch, TextPosition};
use crate::changes;
use crate::error::StoreError;
use crate::sql::{Sql, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;

/// The content of a table.
pub(super) enum TableContent {
    /// The items of one kind, whose cells go with them. The statement removes rows that no item can be read from.
    Items(ObjectKind, Sql<'static>),
    /// Rows that are no items, with the statement that removes some of them.
    Rows(Sql<'static>),
}

/// The tables in the order in which they are emptied. Rows that others refer to go last.
pub(super) const TABLES: [TableContent; 15] = [
    TableContent::Items(
        ObjectKind::Repository,
        Sql::portable(
            "delete from repositories
              where (host, id) in (select host, id from repositories limit $1)",
        ),
    ),
    TableContent::Rows(Sql::portable(
        "delete from search where rowid in (select rowid from search limit $1)",
    )),
    TableContent::Rows(Sql::portable(
        "delete from search_documents where rowid in (select rowid from search_documents limit $1)",
    )),
    TableContent::Items(
        ObjectKind::Thread(ThreadKind::Discussion),
        Sql::portable(
            "delete from discussions
              where (host, id) in (select host, id from discussions limit $1)",
        ),
    ),
    TableContent::Items(
        ObjectKind::Thread(ThreadKind::Issue),
        Sql::portable(
            "delete from issues
              where (host, id) in (select host, id from issues limit $1)",
        ),
    ),
    TableContent::Items(
        ObjectKind::Thread(ThreadKind::PullRequest),
        Sql::portable(
            "delete from pull_requests
              where (host, id) in (select host, id from pull_requests limit $1)",
        ),
    ),
    TableContent::Items(
        ObjectKind::Comment(CommentKind::Conversation),
        Sql::portable(
            "delete from issue_comments
              where (host, id) in (select host, id from issue_comments limit $1)",
        ),
    ),
    TableContent::Items(
        ObjectKind::Comment(CommentKind::ReviewComment),
        Sql::portable(
            "delete from review_comments
              where (host, id) in (select host, id from review_comments limit $1)",
        ),
    ),
    TableContent::Items(
        ObjectKind::Comment(CommentKind::Review),
        Sql::portable(
            "delete from reviews
              where (host, id) in (select host, id from reviews limit $1)",
        ),
    ),
    TableContent::Items(
        ObjectKind::Comment(CommentKind::DiscussionComment),
        Sql::portable(
            "delete from discussion_comments
              where (host, id) in (select host, id from discussion_comments limit $1)",
        ),
    ),
    TableContent::Rows(Sql::portable(
        "delete from comment_queue
          where (host, kind, id) in (select host, kind, id from comment_queue limit $1)",
    )),
    TableContent::Rows(Sql::portable(
        "delete from quarantine
          where (lane_id, subject) in (select lane_id, subject from quarantine
                                        where lane_id not in (select id from lanes where account is not null)
                                        limit $1)",
    )),
    TableContent::Rows(Sql::portable(
        "delete from sweep_inventory
          where (lane_id, id) in (select lane_id, id from sweep_inventory limit $1)",
    )),
    TableContent::Rows(Sql::portable(
        "delete from cells
          where (host, kind, id) in (select host, kind, id from cells where kind <> 'post' limit $1)",
    )),
    TableContent::Rows(Sql::portable(
        "delete from lanes where id in (select id from lanes where account is null limit $1)",
    )),
];

/// Removes at most `limit` rows, of which most are in one table.
pub(super) fn empty_table(
    tx: &mut Transaction<'_>,
    stage: usize,
    limit: i64,
) -> Result<TextBatch, StoreError> {
    let removed = match TABLES.get(stage) {
        None => 0,
        Some(TableContent::Items(kind, remove)) => {
            match forget_items(tx, *kind, (limit / ROWS_PER_TEXT).max(1))? {
                0 => tx.execute(*remove, &params![limit])?,
                forgotten => forgotten * ROWS_PER_TEXT.unsigned_abs(),
            }
        }
        Some(TableContent::Rows(remove)) => tx.execute(*remove, &params![limit])?,
    };
    // the rest is found without a position
    let start = TextPosition { host: String::new(), id: i64::MIN };
    let texts = usize::try_from(removed).unwrap_or(usize::MAX);
    Ok(TextBatch { texts, last: (removed > 0).then_some(start) })
}

/// Forgets some items of one kind, on any host. Returns their number.
fn forget_items(tx: &mut Transaction<'_>, kind: ObjectKind, limit: i64) -> Result<u64, StoreError> {
    const NEXT: KindStatements = of_kind!("select host, id from", "limit $1");
    let next = tx.query_readable(NEXT.for_kind(kind), &params![limit], |mut row| {
        Ok((row.text("host")?, ObjectId { kind, id: row.int("id")? }))
    })?;
    let count = next.rows.len() as u64;
    let mut by_host: BTreeMap<String, Vec<ObjectId>> = BTreeMap::new();
    for (host, key) in next.rows {
        by_host.entry(host).or_default().push(key);
    }
    for (host, keys) in &by_host {
        changes::forget_items(tx, host, None, keys)?;
    }
    Ok(count)
}
