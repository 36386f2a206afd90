//! Writes the columns that are no part of an item's digest: the kind and the association of its author, and the head
//! commit of a pull request.
//!
//! A text that is written brings them along. A text that is observed again unchanged is not written, but these columns
//! may differ: they are null in rows of older versions, an association changes without any trace, and a push may come in
//! the second of the last change.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use hw_rules::item::{AuthorKind, MirrorItem, ObjectKind, Thread, ThreadDetails};
use hw_rules::lane::{Lane, Scope, Surface};

use crate::error::StoreError;
use crate::sql::{Sql, SqlParam, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;

/// Writes the columns of items whose texts did not change, where they differ.
pub(crate) fn refresh_columns(
    tx: &mut Transaction<'_>,
    host: &str,
    items: &[&MirrorItem],
) -> Result<(), StoreError> {
    const REFRESH: KindStatements = of_kind!(
        "update",
        "set author_kind = $1, association = $2
          where host = $3 and id = $4 and (author_kind, association) is not ($1, $2)",
        "as stored set author_kind = new.author_kind, association = new.association
           from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
                as new (author_kind, association, host, id)
          where stored.host = new.host and stored.id = new.id
            and (stored.author_kind, stored.association)
                is distinct from (new.author_kind, new.association)"
    );
    let mut by_kind: BTreeMap<ObjectKind, Vec<Vec<SqlParam<'_>>>> = BTreeMap::new();
    for item in items {
        let (author_kind, association) = match item {
            MirrorItem::Repository(_) | MirrorItem::Post(_) => continue,
            MirrorItem::Thread(thread) => (&thread.author_kind, &thread.association),
            MirrorItem::Comment(comment) => (&comment.author_kind, &comment.association),
        };
        let author_kind = author_kind.as_ref().map(AuthorKind::name);
        let row = params![author_kind, association.as_deref(), host, item.key().id];
        by_kind.entry(item.key().kind).or_default().push(row.to_vec());
    }
    by_kind.iter().try_for_each(|(kind, rows)| tx.insert_rows(REFRESH.for_kind(*kind), rows))?;
    refresh_heads(tx, host, items)
}

fn refresh_heads(
    tx: &mut Transaction<'_>,
    host: &str,
    items: &[&MirrorItem],
) -> Result<(), StoreError> {
    const REFRESH_HEAD: Sql = Sql::per_dialect(
        "update pull_requests set head_sha = $1 where host = $2 and id = $3 and head_sha is not $1",
        "update pull_requests as stored set head_sha = new.head_sha
           from unnest($1::text[], $2::text[], $3::bigint[]) as new (head_sha, host, id)
          where stored.host = new.host and stored.id = new.id
            and stored.head_sha is distinct from new.head_sha",
    );
    let heads = items.iter().filter_map(|item| match item {
        MirrorItem::Thread(Thread { id, details: ThreadDetails::PullRequest(pull), .. }) => {
            Some(params![pull.head_sha.as_deref(), host, *id].to_vec())
        }
        MirrorItem::Thread(_)
        | MirrorItem::Repository(_)
        | MirrorItem::Comment(_)
        | MirrorItem::Post(_) => None,
    });
    tx.insert_rows(REFRESH_HEAD, &heads.collect::<Vec<_>>())
}

/// Returns the threads of a lane within a range of ids whose columns were never read. Lanes of comments have none: their
/// sweeps read every comment in full.
pub(crate) fn unfilled_threads(
    tx: &mut Transaction<'_>,
    lane: &Lane,
    ids: &RangeInclusive<i64>,
) -> Result<BTreeSet<i64>, StoreError> {
    const UNFILLED: KindStatements = of_kind!(
        "select id from",
        "where host = $1 and repository_id = $2 and $3 <= id and id <= $4 and association is null"
    );
    let (Surface::Threads(kind), Scope::Repository(repository)) = (lane.surface, &lane.scope)
    else {
        return Ok(BTreeSet::new());
    };
    let params = params![&lane.host, repository.0, *ids.start(), *ids.end()];
    let rows = tx.query(UNFILLED.for_kind(kind), &params, |mut row| row.int("id"))?;
    Ok(rows.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DatabaseLocation, StoreWriter};

    #[test]
    fn unfilled_threads_are_found_by_their_index() {
        let store = StoreWriter::open(&DatabaseLocation::Memory).unwrap();
        let text = "explain query plan select id from issues
             where host = $1 and repository_id = $2 and $3 <= id and id <= $4 and association is null";
        let params = params!["github.com", 7_i64, 1_i64, 9_i64];
        let plan = store
            .read("plan", |tx| tx.query(Sql::portable(text), &params, |mut row| row.text("detail")))
            .unwrap()
            .join("; ");
        assert!(
            plan.contains("issues_unfilled (host=? AND repository_id=? AND id>? AND id<?)"),
            "{plan}"
        );
    }
}
