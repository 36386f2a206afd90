//! Writes comments.

use std::collections::BTreeMap;

use hw_rules::cells::ItemCell;
use hw_rules::item::{AuthorKind, Comment, CommentKind, MirrorItem, ObjectId};
use hw_rules::repository_key::Host;
use hw_rules::version::ObservedAt;

use super::repository_names::{self, NamedRepository};
use super::tombstones::{self, ConfirmedAbsence};
use super::{TextPlaces, WrittenText, WrittenTexts, dated_text};
use crate::cells::StoredCells;
use crate::error::StoreError;
use crate::ingest::PreparedTexts;
use crate::removed_items::RemovalCause;
use crate::search::SearchRow;
use crate::sql::{SqlParam, params};
use crate::tables::{KindStatements, of_kind};
use crate::transaction::Transaction;

/// Tombstones the comments of a thread that was confirmed gone.
///
/// No request confirmed the absence of the comments themselves, so their tombstones have the time of their last
/// observation. The next observation of a comment revives it, even if its `Date` is a second behind the request that
/// did not find the thread. A comment of a transferred issue moves to another list in this way.
pub(crate) fn tombstone_thread_comments(
    tx: &mut Transaction<'_>,
    host: &Host,
    thread: ObjectId,
    cell: &ItemCell,
    cause: RemovalCause,
) -> Result<(), StoreError> {
    const NUMBER: KindStatements =
        of_kind!("select repository_id, number from", "where host = $1 and id = $2");
    const THREADS_AT_NUMBER: KindStatements =
        of_kind!("select id from", "where host = $1 and repository_id = $2 and number = $3");
    const COMMENTS: KindStatements = of_kind!(
        "select comments.id, cells.lane_id, cells.observed_at_ms, cells.observed_request from",
        "as comments
           join cells on cells.host = comments.host and cells.kind = $1 and cells.id = comments.id
          where comments.host = $2 and comments.repository_id = $3 and comments.thread_number = $4"
    );
    let number =
        tx.query_first(NUMBER.for_kind(thread.kind), &params![host, thread.id], |mut row| {
            Ok((row.int("repository_id")?, row.int("number")?))
        })?;
    let (Some((repository, number)), Some(tombstone)) = (number, cell.tombstone) else {
        return Ok(());
    };
    let params = params![host, repository, number];
    if tx.query(THREADS_AT_NUMBER.for_kind(thread.kind), &params, |mut row| row.int("id"))?.len()
        > 1
    {
        // this is the same thread under a wrong id: the comments belong to the other row
        return Ok(());
    }
    for kind in CommentKind::ALL {
        let params = params![kind.name(), host, repository, number];
        let mut by_lane: BTreeMap<i64, Vec<_>> = BTreeMap::new();
        let comments = tx.query(COMMENTS.for_kind(kind), &params, |mut row| {
            let last_seen =
                row.maybe_int("observed_at_ms")?.zip(row.maybe_int("observed_request")?);
            let last_seen = last_seen.map(|(at_ms, request)| ObservedAt::new(at_ms, request));
            let key = ObjectId { kind: kind.into(), id: row.int("id")? };
            let observed_at = last_seen.unwrap_or(tombstone);
            Ok((row.int("lane_id")?, ConfirmedAbsence { key, observed_at }))
        })?;
        for (lane, comment) in comments {
            by_lane.entry(lane).or_default().push(comment);
        }
        for (lane, comments) in by_lane {
            tombstones::tombstone_items(tx, host, lane, &comments, cause)?;
        }
    }
    Ok(())
}

/// A comment under the current name of its repository.
struct StoredComment<'a> {
    item: &'a MirrorItem,
    comment: &'a Comment,
    repository: String,
    url: String,
}

/// Writes comments under the names of their repositories, and assigns the ids of their search rows.
pub(crate) fn store_comments<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    stored: &StoredCells,
    names: &BTreeMap<i64, NamedRepository>,
    places: &mut TextPlaces,
    items: &[&'a MirrorItem],
    prepared: &PreparedTexts<'a>,
) -> Result<WrittenTexts<'a>, StoreError> {
    let comments: Vec<_> = items.iter().filter_map(|item| to_stored_comment(item, names)).collect();
    if comments.is_empty() {
        return Ok(WrittenTexts::new());
    }
    let dated = comments.iter().filter_map(|row| dated_text(row.item));
    let rowids = places.rowids.assign(tx, stored, dated)?;
    write_comments(tx, host, &comments)?;
    let written = comments.into_iter().map(|StoredComment { item, repository, url, .. }| {
        let key = item.key();
        let (search_rowid, prepared) = (rowids.get(&key).copied(), prepared.get(&key).copied());
        (key, WrittenText { item, repository, url, search_rowid, prepared })
    });
    Ok(written.collect())
}

/// Returns `None` if the item is no comment.
fn to_stored_comment<'a>(
    item: &'a MirrorItem,
    names: &BTreeMap<i64, NamedRepository>,
) -> Option<StoredComment<'a>> {
    let MirrorItem::Comment(comment) = item else { return None };
    let (repository, url) = match names.get(&comment.repository_id) {
        Some(current) => {
            (current.name.clone(), repository_names::thread_url(&current.url, &comment.url))
        }
        None => {
            (repository_names::repository_from_url(&comment.url).to_owned(), comment.url.clone())
        }
    };
    Some(StoredComment { item, comment, repository, url })
}

/// Builds an upsert of rows, from the table's name on.
macro_rules! upsert_rows {
    ($rows:literal) => {
        concat!(
            "(host, id, node_id, repository_id, repository, thread_number, reply_to, review_id, url, body,
              state, path, line, author, author_id, author_kind, association, created_at, updated_at) ",
            $rows,
            " on conflict (host, id) do update
                 set node_id = excluded.node_id, repository_id = excluded.repository_id,
                     repository = excluded.repository, thread_number = excluded.thread_number,
                     reply_to = excluded.reply_to, review_id = excluded.review_id,
                     url = excluded.url, body = excluded.body, state = excluded.state,
                     path = excluded.path, line = excluded.line, author = excluded.author,
                     author_id = excluded.author_id, author_kind = excluded.author_kind,
                     association = excluded.association, created_at = excluded.created_at,
                     updated_at = excluded.updated_at"
        )
    };
}

fn write_comments(
    tx: &mut Transaction<'_>,
    host: &str,
    comments: &[StoredComment<'_>],
) -> Result<(), StoreError> {
    const UPSERT: KindStatements = of_kind!(
        "insert into",
        upsert_rows!(
            "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                     $18, $19)"
        ),
        upsert_rows!(
            "select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::text[],
                                  $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::bytea[],
                                  $11::text[], $12::text[], $13::bigint[], $14::text[], $15::bigint[],
                                  $16::text[], $17::text[], $18::text[], $19::text[])"
        )
    );
    for kind in CommentKind::ALL {
        let of_kind = comments.iter().filter(|row| row.comment.kind == kind);
        let rows: Vec<_> = of_kind.map(|row| comment_params(host, row)).collect();
        tx.insert_rows(UPSERT.for_kind(kind), &rows)?;
    }
    Ok(())
}

fn comment_params<'a>(host: &'a str, row: &'a StoredComment<'a>) -> Vec<SqlParam<'a>> {
    let comment = row.comment;
    params![
        host,
        comment.id,
        &comment.node_id,
        comment.repository_id,
        &row.repository,
        comment.thread,
        comment.reply_to,
        comment.review_id,
        &row.url,
        SqlParam::TextBytes(&comment.body),
        comment.state.as_deref(),
        comment.path.as_deref(),
        comment.line,
        comment.author.as_deref(),
        comment.author_id,
        comment.author_kind.as_ref().map(AuthorKind::name),
        comment.association.as_deref(),
        comment.created_at.as_str(),
        comment.updated_at.as_str(),
    ]
    .to_vec()
}

/// Returns the searchable parts of a comment in the repository of this name.
pub(super) fn search_row<'a>(
    host: &'a str,
    comment: &'a Comment,
    repository: &'a str,
) -> SearchRow<'a> {
    SearchRow {
        host,
        repository_id: comment.repository_id,
        thread: comment.thread,
        kind: comment.kind.into(),
        title: "",
        body: &comment.body,
        repository,
        author: comment.author.as_deref(),
        accounts: [None; 2],
        state: comment.state.as_deref().unwrap_or_default(),
        labels: &[],
        created_at: &comment.created_at,
        prepared: None,
    }
}
