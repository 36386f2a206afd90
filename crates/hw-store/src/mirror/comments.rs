//! What is said in threads: its texts and its search rows.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::Cell;
use hw_rules::item::{Comment, Item, Key, Kind};
use hw_rules::version::Seen;

use super::names::{self, Named};
use super::removal;
use crate::cells::Held;
use crate::error::Error;
use crate::removed_items::Cause;
use crate::search::{self, SearchRow};
use crate::sql::{Param, Row, params};
use crate::tables::{OfKind, of_kind};
use crate::tx::Tx;

/// Buries what was said in a thread that was confirmed gone.
///
/// The comments were not looked for themselves, so they are gone since they were last seen: the next look that shows
/// one revives it, even if its `Date` is a second behind that of the look at the thread. A comment of a transferred
/// issue is on its way to another list.
pub(crate) fn bury_with(
    tx: &mut Tx<'_>,
    host: &str,
    thread: Key,
    cell: &Cell,
    cause: Cause,
) -> Result<(), Error> {
    const PLACE: OfKind =
        of_kind!("select repository_id, number from", "where host = $1 and id = $2");
    const HERE: OfKind =
        of_kind!("select id from", "where host = $1 and repository_id = $2 and number = $3");
    const SAID: OfKind = of_kind!(
        "select said.id, cells.lane, cells.seen_at_ms, cells.seen_request from",
        "as said
           join cells on cells.host = said.host and cells.kind = $1 and cells.id = said.id
          where said.host = $2 and said.repository_id = $3 and said.thread = $4"
    );
    let pair = |mut row: Row| Ok((row.int(0)?, row.int(1)?));
    let place = tx.first(PLACE.of(thread.kind), &params![host, thread.id], pair)?;
    let (Some((repository, number)), Some(seen)) = (place, cell.gone) else { return Ok(()) };
    let here = params![host, repository, number];
    if tx.query(HERE.of(thread.kind), &here, |mut row| row.int(0))?.len() > 1 {
        // the same thread under a wrong id: the other one has the comments
        return Ok(());
    }
    for kind in Kind::COMMENTS {
        let params = params![kind.name(), host, repository, number];
        let mut by_lane: BTreeMap<i64, Vec<_>> = BTreeMap::new();
        let said = tx.query(SAID.of(kind), &params, |mut row| {
            let last_seen = row.maybe_int(2)?.zip(row.maybe_int(3)?);
            let last_seen = last_seen.map(|(at_ms, request)| Seen::at(at_ms, request));
            Ok((row.int(1)?, (Key { kind, id: row.int(0)? }, last_seen.unwrap_or(seen))))
        })?;
        for (lane, comment) in said {
            by_lane.entry(lane).or_default().push(comment);
        }
        for (lane, said) in by_lane {
            removal::bury(tx, host, lane, &said, cause)?;
        }
    }
    Ok(())
}

/// A comment as it is stored: under its repository's present name.
struct Placed<'a> {
    comment: &'a Comment,
    repository: String,
    url: String,
}

/// Writes comments and their search rows; tells where the search rows are.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    host: &str,
    held: &Held,
    items: &[&Item],
) -> Result<BTreeMap<Key, i64>, Error> {
    let comments: Vec<&Comment> = items.iter().filter_map(|item| comment(item)).collect();
    if comments.is_empty() {
        return Ok(BTreeMap::new());
    }
    let repositories: BTreeSet<_> = comments.iter().map(|it| it.repository_id).collect();
    let repositories: Vec<_> = repositories.into_iter().collect();
    let names = names::of_repositories(tx, host, &repositories)?;
    let placed: Vec<_> = comments.iter().map(|comment| place(comment, &names)).collect();
    write(tx, host, &placed)?;
    let row = |placed| search_row(host, placed);
    let rows: Vec<_> = placed
        .iter()
        .map(|placed| (placed.comment.key(), placed.comment.updated_at.mark(), row(placed)))
        .collect();
    search::index(tx, held, &rows)
}

fn comment<'a>(item: &&'a Item) -> Option<&'a Comment> {
    match item {
        Item::Comment(comment) => Some(comment),
        Item::Repository(_) | Item::Thread(_) => None,
    }
}

fn place<'a>(comment: &'a Comment, names: &BTreeMap<i64, Named>) -> Placed<'a> {
    let (repository, url) = match names.get(&comment.repository_id) {
        Some(named) => (named.name.clone(), names::thread_url(&named.url, &comment.url)),
        None => (names::repository_in(&comment.url).to_owned(), comment.url.clone()),
    };
    Placed { comment, repository, url }
}

fn write(tx: &mut Tx<'_>, host: &str, placed: &[Placed<'_>]) -> Result<(), Error> {
    const KEEP: OfKind = of_kind!(
        "insert into",
        "(host, id, node_id, repository_id, repository, thread, reply_to, review_id, url, body,
          state, path, line, author, author_id, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         on conflict (host, id) do update
            set node_id = excluded.node_id, repository_id = excluded.repository_id,
                repository = excluded.repository, thread = excluded.thread,
                reply_to = excluded.reply_to, review_id = excluded.review_id,
                url = excluded.url, body = excluded.body, state = excluded.state,
                path = excluded.path, line = excluded.line, author = excluded.author,
                author_id = excluded.author_id, created_at = excluded.created_at,
                updated_at = excluded.updated_at"
    );
    for kind in Kind::COMMENTS {
        let of_kind = placed.iter().filter(|placed| placed.comment.kind == kind);
        let rows: Vec<_> = of_kind.map(|placed| values(host, placed)).collect();
        tx.execute_each(KEEP.of(kind), &rows)?;
    }
    Ok(())
}

fn values<'a>(host: &'a str, placed: &'a Placed<'a>) -> Vec<Param<'a>> {
    let comment = placed.comment;
    params![
        host,
        comment.id,
        &comment.node_id,
        comment.repository_id,
        &placed.repository,
        comment.thread,
        comment.reply_to,
        comment.review_id,
        &placed.url,
        &comment.body,
        comment.state.as_deref(),
        comment.path.as_deref(),
        comment.line,
        comment.author.as_deref(),
        comment.author_id,
        comment.created_at.as_str(),
        comment.updated_at.as_str(),
    ]
    .to_vec()
}

fn search_row<'a>(host: &'a str, placed: &'a Placed<'a>) -> SearchRow<'a> {
    let comment = placed.comment;
    SearchRow {
        host,
        repository_id: comment.repository_id,
        thread: comment.thread,
        kind: comment.kind,
        title: "",
        body: &comment.body,
        repository: &placed.repository,
        author: comment.author.as_deref(),
        state: comment.state.as_deref().unwrap_or_default(),
        labels: &[],
        created_at: &comment.created_at,
    }
}
