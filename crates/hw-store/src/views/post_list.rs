//! Lists the stored posts.

use std::ops::ControlFlow;

use hw_rules::bluesky::did::Did;
use hw_rules::bluesky::post::{Post, PostReply, Repost};
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::date_range::DateRange;
use serde::de::DeserializeOwned;

use super::post_conditions::{PostQuery, find_sharers, list_query};
use super::post_pages::ReplySelection;
use super::repositories::parse_time;
use super::skipped_rows::SkippedRows;
use crate::StoreReader;
use crate::error::StoreError;
use crate::sql::{Sql, SqlRow, params};
use crate::transaction::Transaction;

/// Selects the posts to list, newest first; the default selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PostFilter {
    /// Handles or DIDs, in any case, with or without an `@`, of the account that posted or reposted. Empty means every
    /// account.
    pub accounts: Vec<String>,
    /// The time of the post, or of the repost.
    pub created: DateRange,
    /// Whether reposts are listed.
    pub reposts: RepostSelection,
    pub replies: ReplySelection,
    /// Only posts after this one, which are older.
    pub after: Option<PostCursor>,
    pub limit: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RepostSelection {
    #[default]
    Included,
    Excluded,
}

/// The position of a post in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostCursor {
    pub sort_ms: i64,
    pub host: String,
    pub id: i64,
}

impl PostCursor {
    pub fn from_row(row: &PostRow) -> Self {
        Self { sort_ms: row.post.sort_at.instant().0, host: row.host.clone(), id: row.post.id() }
    }
}

/// A stored post, with the names of its accounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostRow {
    pub host: String,
    pub post: Post,
    /// The handle of the author of the text; none if its name is unknown or now belongs to another account.
    pub author_handle: Option<String>,
    /// The handle of the account that posted or reposted.
    pub sharer_handle: Option<String>,
}

impl PostRow {
    /// Returns the name of the author of the text: its handle, or its DID.
    pub fn author_name(&self) -> &str {
        self.author_handle.as_deref().unwrap_or(self.post.did.as_str())
    }

    /// Returns the name of the account that posted or reposted.
    pub fn sharer_name(&self) -> &str {
        self.sharer_handle.as_deref().unwrap_or(self.post.sharer().as_str())
    }
}

pub(super) const POST_COLUMNS: &str =
    "posts.host as host, posts.id as id, sort_ms, uri, cid, posts.did, sharer, text, langs, created_at, indexed_at,
    sort_at, reply_parent, reply_root, quote, repost_of, links,
    authors.handle as author_handle, sharers.handle as sharer_handle";
pub(super) const POST_TABLES: &str = "posts
    left join account_names as authors on authors.host = posts.host and authors.did = posts.did
    left join account_names as sharers on sharers.host = posts.host and sharers.did = posts.sharer";

impl StoreReader {
    /// Calls `each` with posts, newest first, without loading them all; returns the number of unreadable ones.
    ///
    /// `each` must not call the store: a database in memory has only one connection.
    pub fn each_post(
        &self,
        filter: &PostFilter,
        each: &mut dyn FnMut(PostRow) -> ControlFlow<()>,
    ) -> Result<SkippedRows, StoreError> {
        let mut skipped = SkippedRows::default();
        self.each_post_or_gap(filter, &mut |row| match row {
            Some(row) => each(row),
            None => {
                skipped.0 += 1;
                ControlFlow::Continue(())
            }
        })?;
        Ok(skipped)
    }

    /// Like [`Self::each_post`], with `None` for each post that cannot be read.
    pub(crate) fn each_post_or_gap(
        &self,
        filter: &PostFilter,
        each: &mut dyn FnMut(Option<PostRow>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.read("posts", |tx| {
            let sharers = find_sharers(tx, filter)?;
            let PostQuery { text, params } = list_query(tx, filter, sharers.as_deref());
            tx.query_each(Sql::portable(&text), &params, |row| {
                let row = SkippedRows::default().skip_unreadable(read_post(row))?;
                Ok(each(row))
            })
        })
    }

    /// Returns the stored post or repost with this URI.
    pub fn post_by_uri(&self, uri: &RecordUri) -> Result<Option<PostRow>, StoreError> {
        let text = post_by_uri_text();
        self.read("post", |tx| {
            tx.query_first(Sql::portable(&text), &params![uri.as_str()], read_post)
        })
    }

    /// Returns the DIDs of accounts with these handles or DIDs, in any case, with or without an `@`.
    pub fn dids_of(&self, names: &[String]) -> Result<Vec<Did>, StoreError> {
        let found = self.read("accounts", |tx| find_dids(tx, names))?;
        Ok(found.iter().filter_map(|did| did.parse().ok()).collect())
    }
}

pub(super) fn post_by_uri_text() -> String {
    format!("select {POST_COLUMNS} from {POST_TABLES} where uri = $1")
}

/// Returns the DIDs with these names. A text that names no account is kept: it may be the DID of one without a name.
pub(crate) fn find_dids(
    tx: &mut Transaction<'_>,
    names: &[String],
) -> Result<Vec<String>, StoreError> {
    let names: Vec<String> =
        names.iter().map(|name| name.trim_start_matches('@').to_owned()).collect();
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    let list = serde_json::to_string(&lower).expect("texts are JSON");
    let text = format!("select did from account_names where handle {}", in_json_list(tx, 1));
    let found = tx.query(Sql::portable(&text), &params![&list], |mut row| row.text("did"))?;
    Ok(names.into_iter().filter(|name| name.starts_with("did:")).chain(found).collect())
}

/// Returns the condition that a column is in a JSON list, which is the parameter with this number.
fn in_json_list(tx: &Transaction<'_>, number: usize) -> String {
    match tx.dialect() {
        crate::sql::Dialect::Sqlite => format!("in (select value from json_each(${number}))"),
        crate::sql::Dialect::Postgres => {
            format!("in (select json_array_elements_text(cast(${number}::text as json)))")
        }
    }
}

/// Reads posts by their ids.
pub(crate) fn posts_by_ids(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: &[i64],
) -> Result<Vec<PostRow>, StoreError> {
    let select = format!("select {POST_COLUMNS} from {POST_TABLES} where posts.host = $1");
    let sqlite =
        format!("{select} and posts.id in (select value from json_each($2)) order by posts.id");
    let postgres = format!("{select} and posts.id = any($2) order by posts.id");
    tx.query(Sql::per_dialect(&sqlite, &postgres), &params![host, ids], read_post)
}

pub(crate) fn read_post(mut row: SqlRow) -> Result<PostRow, StoreError> {
    let (host, post) = (row.text("host")?, read_plain_post(&mut row)?);
    Ok(PostRow {
        host,
        post,
        author_handle: row.maybe_text("author_handle")?,
        sharer_handle: row.maybe_text("sharer_handle")?,
    })
}

/// Reads a post without the names of its accounts.
pub(crate) fn read_plain_post(row: &mut SqlRow) -> Result<Post, StoreError> {
    let sort_at = parse_time(&row.text("sort_at")?)?;
    let sharer: Did = parse_identifier(&row.text("sharer")?)?;
    let repost_of = maybe_uri(row, "repost_of")?;
    let (parent, root) = (maybe_uri(row, "reply_parent")?, maybe_uri(row, "reply_root")?);
    Ok(Post {
        uri: parse_identifier(&row.text("uri")?)?,
        cid: parse_identifier(&row.text("cid")?)?,
        did: parse_identifier(&row.text("did")?)?,
        text: row.text("text")?,
        langs: parse_json(&row.text("langs")?)?,
        created_at: row.maybe_text("created_at")?.map(|text| parse_time(&text)).transpose()?,
        indexed_at: parse_time(&row.text("indexed_at")?)?,
        reply: parent.zip(root).map(|(parent, root)| PostReply { parent, root }),
        quote: maybe_uri(row, "quote")?,
        repost: repost_of.map(|subject| Repost {
            by: sharer,
            subject,
            reposted_at: sort_at.clone(),
        }),
        links: parse_json(&row.text("links")?)?,
        sort_at,
    })
}

fn maybe_uri(row: &mut SqlRow, column: &str) -> Result<Option<RecordUri>, StoreError> {
    row.maybe_text(column)?.map(|text| parse_identifier(&text)).transpose()
}

pub(crate) fn parse_identifier<T: std::str::FromStr<Err: std::fmt::Display>>(
    text: &str,
) -> Result<T, StoreError> {
    text.parse().map_err(|error: T::Err| StoreError::UnreadableRow(error.to_string()))
}

fn parse_json<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text)
        .map_err(|error| StoreError::UnreadableRow(format!("invalid list in a post: {error}")))
}
