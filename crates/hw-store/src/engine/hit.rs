//! What a match is, as faces show it.

use std::collections::BTreeMap;

use hw_rules::item::{Comment, Key, Kind};
use hw_rules::query::Query;
use hw_rules::snippet::{self, Piece};
use hw_rules::time::SourceTime;

use super::rank::{Candidate, ThreadPlace};
use crate::error::Error;
use crate::sql::{Row, Sql, params};
use crate::tx::Tx;
use crate::views::comments::{self, CommentRow};
use crate::views::thread;
use crate::views::threads::{Table, ThreadRow};

/// One search result: a thread, or a comment where comments were asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub kind: Kind,
    pub id: i64,
    pub host: String,
    pub owner: String,
    pub repository: String,
    pub number: i64,
    /// Of the thread, also when the hit is a comment.
    pub title: String,
    pub url: String,
    pub author: Option<String>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
    /// `open`, `closed` or `merged`: of the thread.
    pub state: String,
    pub labels: Vec<String>,
    pub body: String,
    /// The comment whose words matched, where they matched better than the thread's own.
    pub said: Option<Said>,
    pub marked_title: Vec<Piece>,
    pub snippet: Vec<Piece>,
}

/// A comment, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub url: String,
    pub author: Option<String>,
    pub created_at: SourceTime,
}

impl Hit {
    /// `issue`, `pull_request`, `discussion` or `comment`.
    pub fn type_name(&self) -> &'static str {
        if Kind::COMMENTS.contains(&self.kind) { "comment" } else { self.kind.name() }
    }
}

/// Where a match stands: the row's own object, and the thread it counts for.
pub(super) struct Place {
    owner: String,
    pub(super) host: String,
    key: Key,
    thread: Option<ThreadRow>,
}

impl Place {
    /// A thread for itself.
    pub(super) fn of(owner: String, row: ThreadRow) -> Self {
        Self { owner, host: row.host.clone(), key: row.thread.key(), thread: Some(row) }
    }

    pub(super) fn has_thread(&self) -> bool {
        self.thread.is_some()
    }

    /// Whom it counts for.
    pub(super) fn key(&self, for_itself: bool) -> Key {
        let thread = self.thread.as_ref().filter(|_| !for_itself);
        thread.map_or(self.key, |row| row.thread.key())
    }
}

/// What some matches are; nothing of those that left meanwhile.
pub(super) fn keys(tx: &mut Tx<'_>, rowids: &[i64]) -> Result<BTreeMap<i64, Key>, Error> {
    const CELLS: Sql = Sql::each(
        "select search_rowid, kind, id from cells
          where search_rowid in (select value from json_each($1))",
        "select search_rowid, kind, id from cells where search_rowid = any($1)",
    );
    let read = |mut row: Row| {
        let (rowid, kind, id) = (row.int(0)?, row.text(1)?, row.int(2)?);
        let damage = || Error::UnreadableRow(format!("no kind of object is named {kind:?}"));
        Ok((rowid, Key { kind: Kind::named(&kind).ok_or_else(damage)?, id }))
    };
    Ok(tx.query_readable(CELLS, &params![rowids], read)?.rows.into_iter().collect())
}

/// Looks a match up.
pub(super) fn place(tx: &mut Tx<'_>, candidate: &Candidate, key: Key) -> Result<Place, Error> {
    const OWNER: Sql = Sql::both("select owner from repositories where host = $1 and id = $2");
    let ThreadPlace { host, repository_id, number } = &candidate.thread;
    let owner = tx.first(OWNER, &params![host, *repository_id], |mut row| row.text(0))?;
    let thread = match Table::of(key.kind) {
        Some(table) => thread::by_id(tx, &table, host, key.id)?,
        None => thread::numbered(tx, host, *repository_id, *number)?,
    };
    Ok(Place { owner: owner.unwrap_or_default(), host: host.clone(), key, thread })
}

/// What is shown of a match: its thread, or the comment itself where it is asked for or has no thread.
pub(super) fn of(
    tx: &mut Tx<'_>,
    place: Place,
    for_itself: bool,
    query: &Query,
) -> Result<Option<Hit>, Error> {
    let Place { owner, host, key, thread } = place;
    if !Kind::COMMENTS.contains(&key.kind) {
        return Ok(thread.map(|row| of_thread(owner, row, None, query)));
    }
    let Some(said) = comment(tx, &host, key)? else { return Ok(None) };
    Ok(Some(match thread {
        Some(row) if !for_itself => of_thread(owner, row, Some(said.comment), query),
        thread => of_comment(owner, thread, said, query),
    }))
}

fn comment(tx: &mut Tx<'_>, host: &str, key: Key) -> Result<Option<CommentRow>, Error> {
    let text = format!(
        "select {} from comments where host = $1 and kind = $2 and id = $3",
        comments::COLUMNS
    );
    tx.first(Sql::both(&text), &params![host, key.kind.name(), key.id], comments::read)
}

fn of_thread(owner: String, row: ThreadRow, said: Option<Comment>, query: &Query) -> Hit {
    let ThreadRow { host, repository, thread } = row;
    let matched = said.as_ref().map_or(&thread.body, |said| &said.body);
    Hit {
        kind: thread.kind(),
        id: thread.id,
        host,
        owner,
        repository,
        number: thread.number,
        marked_title: snippet::marked(&thread.title, query),
        snippet: snippet::snippet(matched, query),
        title: thread.title,
        url: thread.url,
        author: thread.author,
        created_at: thread.created_at,
        updated_at: thread.updated_at,
        state: thread.state.to_lowercase(),
        labels: thread.labels,
        body: thread.body,
        said: said.map(|Comment { url, author, created_at, .. }| Said { url, author, created_at }),
    }
}

fn of_comment(owner: String, thread: Option<ThreadRow>, said: CommentRow, query: &Query) -> Hit {
    let CommentRow { host, repository, comment } = said;
    let thread = thread.map(|row| row.thread);
    let title = thread.as_ref().map(|it| it.title.clone()).unwrap_or_default();
    Hit {
        kind: comment.kind,
        id: comment.id,
        host,
        owner,
        repository,
        number: comment.thread,
        marked_title: snippet::marked(&title, query),
        snippet: snippet::snippet(&comment.body, query),
        title,
        url: comment.url,
        author: comment.author,
        created_at: comment.created_at,
        updated_at: comment.updated_at,
        state: thread.as_ref().map_or_else(|| "open".into(), |it| it.state.to_lowercase()),
        labels: thread.map(|it| it.labels).unwrap_or_default(),
        body: comment.body,
        said: None,
    }
}
