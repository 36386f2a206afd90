//! Turns matches into hits: titles, snippets and URLs for display.

use std::collections::BTreeMap;

use hw_rules::item::{Comment, ObjectId, ObjectKey, ObjectKind};
use hw_rules::query::Query;
use hw_rules::safe_text::truncate_text;
use hw_rules::snippet::{self, SnippetPiece};
use hw_rules::source_time::SourceTime;

use super::scoring::{Candidate, ThreadKey};
use crate::error::StoreError;
use crate::mirror::repository_names::{self, NamedRepository};
use crate::sql::{Sql, params};
use crate::transaction::Transaction;
use crate::views::comment_list::{self, CommentRow};
use crate::views::post_list::{self, PostRow};
use crate::views::thread_list::{ThreadRow, ThreadTable};
use crate::views::thread_view::{self, FoundThread};

/// One search result: a thread, a post, or a comment if the query asks for comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub kind: ObjectKind,
    pub id: i64,
    pub host: String,
    pub owner: String,
    pub repository: String,
    pub number: i64,
    /// The thread's title, also if the hit is a comment; the beginning of a post.
    pub title: String,
    pub url: String,
    pub author: Option<String>,
    /// The account that reposted a post; none if the hit is not a repost.
    pub reposted_by: Option<String>,
    pub created_at: SourceTime,
    pub updated_at: SourceTime,
    /// The thread's state: `open`, `closed` or `merged`; empty for a post.
    pub state: String,
    pub labels: Vec<String>,
    pub body: String,
    /// The matching comment, if it matches better than the thread's own text.
    pub matched_comment: Option<MatchedComment>,
    pub marked_title: Vec<SnippetPiece>,
    pub snippet: Vec<SnippetPiece>,
}

/// The comment of a thread that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedComment {
    pub url: String,
    pub author: Option<String>,
    pub created_at: SourceTime,
}

impl Hit {
    /// Returns `issue`, `pull_request`, `discussion`, `comment` or `post`.
    pub fn type_name(&self) -> &'static str {
        if self.kind.is_comment() { "comment" } else { self.kind.name() }
    }

    /// Gives the hit the new name and URL of its repository.
    pub(super) fn move_to(&mut self, name: &NamedRepository) {
        self.repository.clone_from(&name.name);
        let comment_url = self.matched_comment.iter_mut().map(|comment| &mut comment.url);
        for url in comment_url.chain([&mut self.url]) {
            *url = repository_names::thread_url(&name.url, url);
        }
    }
}

/// The result that a match counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HitTarget {
    /// The thread, also if one of its comments matches.
    Thread,
    /// The comment itself.
    Comment,
}

/// A match: the object of the search row, and the thread it belongs to.
pub(super) struct MatchedItem {
    owner: String,
    key: ObjectKey,
    /// None for a post, and for a comment whose thread is not stored.
    thread: Option<ThreadRow>,
}

impl MatchedItem {
    pub(super) fn from_thread(found: FoundThread) -> Self {
        let FoundThread { owner, row } = found;
        Self { owner, key: row.thread.key().at_host(&row.host), thread: Some(row) }
    }

    pub(super) fn has_thread(&self) -> bool {
        self.thread.is_some()
    }

    /// Returns the key of the item that the match counts for.
    pub(super) fn hit_key(&self, target: HitTarget) -> ObjectKey {
        match (&self.thread, target) {
            (Some(row), HitTarget::Thread) => row.thread.key().at_host(&self.key.host),
            _ => self.key.clone(),
        }
    }
}

/// Reads the item keys of matches, by row id. Items that are no longer stored are left out.
pub(super) fn read_item_keys(
    tx: &mut Transaction<'_>,
    rowids: &[i64],
) -> Result<BTreeMap<i64, ObjectId>, StoreError> {
    const CELLS: Sql = Sql::per_dialect(
        "select search_rowid, kind, id from cells
          where search_rowid in (select value from json_each($1))",
        "select search_rowid, kind, id from cells where search_rowid = any($1)",
    );
    let keys = tx.query_readable(CELLS, &params![rowids], |mut row| {
        let (rowid, kind, id) = (
            row.int("search_rowid")?,
            comment_list::parse_kind(&row.text("kind")?)?,
            row.int("id")?,
        );
        Ok((rowid, ObjectId { kind, id }))
    })?;
    Ok(keys.rows.into_iter().collect())
}

/// Reads the thread and the owner of a match.
pub(super) fn look_up_match(
    tx: &mut Transaction<'_>,
    candidate: &Candidate,
    key: ObjectId,
) -> Result<MatchedItem, StoreError> {
    const OWNER: Sql = Sql::portable("select owner from repositories where host = $1 and id = $2");
    let ThreadKey { repository, number } = &candidate.thread;
    if key.kind == ObjectKind::Post {
        let key = key.at_host(&repository.host);
        return Ok(MatchedItem { owner: String::new(), key, thread: None });
    }
    let host = &repository.host;
    let owner =
        tx.query_first(OWNER, &params![host, repository.id], |mut row| row.text("owner"))?;
    let thread = match key.kind.as_thread().map(ThreadTable::for_kind) {
        Some(table) => thread_view::find_by_id(tx, &table, host, key.id)?,
        None => thread_view::find_by_number(tx, repository, *number)?,
    };
    Ok(MatchedItem { owner: owner.unwrap_or_default(), key: key.at_host(host), thread })
}

/// Builds the hit of a match: its thread, or the comment itself if that is the target or its thread is not stored.
pub(super) fn build_hit(
    tx: &mut Transaction<'_>,
    item: MatchedItem,
    target: HitTarget,
    query: &Query,
) -> Result<Option<Hit>, StoreError> {
    let MatchedItem { owner, key, thread } = item;
    if key.kind == ObjectKind::Post {
        let found = post_list::posts_by_ids(tx, &key.host, &[key.id])?.into_iter().next();
        return Ok(found.map(|row| post_hit(row, query)));
    }
    if !key.kind.is_comment() {
        return Ok(thread.map(|row| thread_hit(owner, row, None, query)));
    }
    let Some(matched) = read_comment(tx, &key)? else { return Ok(None) };
    Ok(Some(match (thread, target) {
        (Some(row), HitTarget::Thread) => thread_hit(owner, row, Some(matched.comment), query),
        (thread, _) => comment_hit(owner, thread, matched, query),
    }))
}

fn read_comment(
    tx: &mut Transaction<'_>,
    key: &ObjectKey,
) -> Result<Option<CommentRow>, StoreError> {
    let text = format!(
        "select {} from comments where host = $1 and kind = $2 and id = $3",
        comment_list::COMMENT_COLUMNS
    );
    tx.query_first(
        Sql::portable(&text),
        &params![&key.host, key.kind.name(), key.id],
        comment_list::read_comment,
    )
}

fn thread_hit(owner: String, row: ThreadRow, comment: Option<Comment>, query: &Query) -> Hit {
    let ThreadRow { host, repository, thread, .. } = row;
    let matched_body = comment.as_ref().map_or(&thread.body, |comment| &comment.body);
    Hit {
        kind: thread.kind().into(),
        id: thread.id,
        host,
        owner,
        repository,
        number: thread.number,
        marked_title: snippet::highlight_text(&thread.title, query),
        snippet: snippet::extract_snippet(matched_body, query),
        title: thread.title,
        url: thread.url,
        author: thread.author,
        reposted_by: None,
        created_at: thread.created_at,
        updated_at: thread.updated_at,
        state: thread.state.to_lowercase(),
        labels: thread.labels,
        body: thread.body,
        matched_comment: comment.map(|Comment { url, author, created_at, .. }| MatchedComment {
            url,
            author,
            created_at,
        }),
    }
}

/// Builds the hit of a post. The beginning of its text takes the place of a title.
fn post_hit(row: PostRow, query: &Query) -> Hit {
    let author = Some(row.author_name().to_owned());
    let reposted_by = row.post.repost.as_ref().map(|_| row.sharer_name().to_owned());
    let PostRow { host, post, .. } = row;
    let title = post_title(&post.text);
    Hit {
        kind: ObjectKind::Post,
        id: post.id(),
        host,
        owner: String::new(),
        repository: String::new(),
        number: 0,
        marked_title: snippet::highlight_text(&title, query),
        snippet: snippet::extract_snippet(&post.text, query),
        title,
        url: post.web_url(),
        author,
        reposted_by,
        created_at: post.sort_at.clone(),
        updated_at: post.sort_at,
        state: String::new(),
        labels: Vec::new(),
        body: post.text,
        matched_comment: None,
    }
}

/// Returns the first line of a text, shortened.
fn post_title(text: &str) -> String {
    const MAX_TITLE_BYTES: usize = 120;
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    truncate_text(line, MAX_TITLE_BYTES).into_owned()
}

fn comment_hit(owner: String, thread: Option<ThreadRow>, row: CommentRow, query: &Query) -> Hit {
    let CommentRow { host, repository, comment } = row;
    let thread = thread.map(|row| row.thread);
    let title = thread.as_ref().map(|thread| thread.title.clone()).unwrap_or_default();
    Hit {
        kind: comment.kind.into(),
        id: comment.id,
        host,
        owner,
        repository,
        number: comment.thread,
        marked_title: snippet::highlight_text(&title, query),
        snippet: snippet::extract_snippet(&comment.body, query),
        title,
        url: comment.url,
        author: comment.author,
        reposted_by: None,
        created_at: comment.created_at,
        updated_at: comment.updated_at,
        state: thread.as_ref().map_or_else(|| "open".into(), |thread| thread.state.to_lowercase()),
        labels: thread.map(|thread| thread.labels).unwrap_or_default(),
        body: comment.body,
        matched_comment: None,
    }
}
