//! What a match is, as faces show it.

use hw_rules::item::Kind;
use hw_rules::snippet::Piece;
use hw_rules::time::SourceTime;

use crate::error::Error;
use crate::sql::{Sql, params};
use crate::tx::Tx;
use crate::views::comments::{self, CommentRow};
use crate::views::thread;
use crate::views::threads::ThreadRow;

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
    /// The comment whose words matched, where the thread's own did not.
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

/// What the match at a row of the index is; none when it left meanwhile.
pub(super) fn of(tx: &mut Tx<'_>, rowid: i64) -> Result<Option<Hit>, Error> {
    const PLACE: Sql =
        Sql::both("select host, repository_id, thread from search_places where rowid = $1");
    const CELL: Sql = Sql::both("select kind, id from cells where search_rowid = $1");
    const OWNER: Sql = Sql::both("select owner from repositories where host = $1 and id = $2");
    let place =
        tx.first(PLACE, &params![rowid], |mut row| Ok((row.text(0)?, row.int(1)?, row.int(2)?)))?;
    let cell = tx.first(CELL, &params![rowid], |mut row| Ok((row.text(0)?, row.int(1)?)))?;
    let (Some((host, repository, number)), Some((kind, id))) = (place, cell) else {
        return Ok(None);
    };
    let owner = tx.first(OWNER, &params![&host, repository], |mut row| row.text(0))?;
    let owner = owner.unwrap_or_default();
    let kind = Kind::named(&kind)
        .ok_or_else(|| Error::Damaged(format!("no kind of object is named {kind:?}")))?;
    let row = thread::numbered(tx, &host, repository, number)?;
    if !Kind::COMMENTS.contains(&kind) {
        return Ok(row.map(|row| of_thread(owner, row)));
    }
    let said = comment(tx, &host, kind, id)?;
    Ok(said.map(|said| of_comment(owner, row, said)))
}

fn comment(tx: &mut Tx<'_>, host: &str, kind: Kind, id: i64) -> Result<Option<CommentRow>, Error> {
    let text = format!(
        "select {} from comments where host = $1 and kind = $2 and id = $3",
        comments::COLUMNS
    );
    tx.first(Sql::both(&text), &params![host, kind.name(), id], comments::read)
}

fn of_thread(owner: String, row: ThreadRow) -> Hit {
    let ThreadRow { host, repository, thread } = row;
    Hit {
        kind: thread.kind(),
        id: thread.id,
        host,
        owner,
        repository,
        number: thread.number,
        marked_title: plain(&thread.title),
        snippet: plain(&thread.body.chars().take(200).collect::<String>()),
        title: thread.title,
        url: thread.url,
        author: thread.author,
        created_at: thread.created_at,
        updated_at: thread.updated_at,
        state: thread.state.to_lowercase(),
        labels: thread.labels,
        body: thread.body,
        said: None,
    }
}

fn of_comment(owner: String, thread: Option<ThreadRow>, said: CommentRow) -> Hit {
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
        marked_title: plain(&title),
        snippet: plain(&comment.body.chars().take(200).collect::<String>()),
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

fn plain(text: &str) -> Vec<Piece> {
    vec![Piece { text: text.to_owned(), is_match: false }]
}
