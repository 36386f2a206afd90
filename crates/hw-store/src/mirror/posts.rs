//! Writes posts and reposts, and the links in them.

use hw_rules::bluesky::post::Post;
use hw_rules::bluesky::record_uri::RecordUri;
use hw_rules::item::{MirrorItem, ObjectKind};
use hw_rules::source_time::SourceTime;

use super::{NO_REPOSITORY, TextPlaces, WrittenText, WrittenTexts, dated_text};
use crate::cells::StoredCells;
use crate::error::StoreError;
use crate::ingest::PreparedTexts;
use crate::search::SearchRow;
use crate::sql::{Sql, SqlParam, params};
use crate::transaction::Transaction;

/// A post, with its lists as JSON.
struct StoredPost<'a> {
    item: &'a MirrorItem,
    post: &'a Post,
    langs: String,
    links: String,
}

impl<'a> StoredPost<'a> {
    fn from_item(item: &'a MirrorItem) -> Option<Self> {
        let MirrorItem::Post(post) = item else { return None };
        let langs = serde_json::to_string(&post.langs).expect("a list of texts is always JSON");
        let links = serde_json::to_string(&post.links).expect("links are texts, always JSON");
        Some(Self { item, post, langs, links })
    }
}

/// Writes posts, and assigns the ids of their search rows.
pub(crate) fn store_posts<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    stored: &StoredCells,
    places: &mut TextPlaces,
    items: &[&'a MirrorItem],
    prepared: &PreparedTexts<'a>,
) -> Result<WrittenTexts<'a>, StoreError> {
    let posts: Vec<_> = items.iter().filter_map(|item| StoredPost::from_item(item)).collect();
    if posts.is_empty() {
        return Ok(WrittenTexts::new());
    }
    let dated = posts.iter().filter_map(|row| dated_text(row.item));
    let rowids = places.rowids.assign(tx, stored, dated)?;
    write_posts(tx, host, &posts)?;
    let written = posts.into_iter().map(|StoredPost { item, .. }| {
        let key = item.key();
        let (search_rowid, prepared) = (rowids.get(&key).copied(), prepared.get(&key).copied());
        let (repository, url) = (String::new(), String::new());
        (key, WrittenText { item, repository, url, search_rowid, prepared })
    });
    Ok(written.collect())
}

macro_rules! upsert_rows {
    ($rows:literal) => {
        concat!(
            "insert into posts (host, id, uri, cid, did, sharer, text, langs, created_at, indexed_at, sort_at,
                                sort_ms, reply_parent, reply_root, quote, repost_of, links) ",
            $rows,
            " on conflict (host, id) do update
                 set uri = excluded.uri, cid = excluded.cid, did = excluded.did,
                     sharer = excluded.sharer, text = excluded.text, langs = excluded.langs,
                     created_at = excluded.created_at, indexed_at = excluded.indexed_at,
                     sort_at = excluded.sort_at, sort_ms = excluded.sort_ms,
                     reply_parent = excluded.reply_parent, reply_root = excluded.reply_root,
                     quote = excluded.quote, repost_of = excluded.repost_of, links = excluded.links"
        )
    };
}

fn write_posts(
    tx: &mut Transaction<'_>,
    host: &str,
    posts: &[StoredPost<'_>],
) -> Result<(), StoreError> {
    const UPSERT: Sql = Sql::per_dialect(
        upsert_rows!(
            "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
        ),
        upsert_rows!(
            "select * from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[],
                                  $7::bytea[], $8::text[], $9::text[], $10::text[], $11::text[],
                                  $12::bigint[], $13::text[], $14::text[], $15::text[], $16::text[],
                                  $17::text[])"
        ),
    );
    const INSERT_LINK: Sql = Sql::per_dialect(
        "insert into post_links (host, post_id, position, normal, sharer, sort_ms)
         values ($1, $2, $3, $4, $5, $6)",
        "insert into post_links (host, post_id, position, normal, sharer, sort_ms)
         select * from unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[],
                              $6::bigint[])",
    );
    let rows: Vec<_> = posts.iter().map(|row| post_params(host, row)).collect();
    tx.insert_rows(UPSERT, &rows)?;
    let ids: Vec<i64> = posts.iter().map(|row| row.post.id()).collect();
    delete_links(tx, host, &ids)?;
    let links: Vec<_> = posts.iter().flat_map(|row| link_params(host, row.post)).collect();
    tx.insert_rows(INSERT_LINK, &links)
}

fn post_params<'a>(
    host: &'a str,
    StoredPost { post, langs, links, .. }: &'a StoredPost<'a>,
) -> Vec<SqlParam<'a>> {
    let reply = post.reply.as_ref();
    params![
        host,
        post.id(),
        post.uri.as_str(),
        post.cid.as_str(),
        post.did.as_str(),
        post.sharer().as_str(),
        SqlParam::TextBytes(&post.text),
        langs,
        post.created_at.as_ref().map(SourceTime::as_str),
        post.indexed_at.as_str(),
        post.sort_at.as_str(),
        post.sort_at.instant().0,
        reply.map(|reply| reply.parent.as_str()),
        reply.map(|reply| reply.root.as_str()),
        post.quote.as_ref().map(RecordUri::as_str),
        post.repost.as_ref().map(|repost| repost.subject.as_str()),
        links,
    ]
    .to_vec()
}

fn link_params<'a>(host: &'a str, post: &'a Post) -> impl Iterator<Item = Vec<SqlParam<'a>>> {
    let (id, sharer, sort_ms) = (post.id(), post.sharer().as_str(), post.sort_at.instant().0);
    (0_i64..).zip(&post.links).map(move |(position, link)| {
        params![host, id, position, &link.normal, sharer, sort_ms].to_vec()
    })
}

/// Deletes the links of these posts.
pub(super) fn delete_links(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: &[i64],
) -> Result<(), StoreError> {
    const DELETE: Sql = Sql::per_dialect(
        "delete from post_links
          where host = $1 and post_id in (select value from json_each($2))",
        "delete from post_links where host = $1 and post_id = any($2)",
    );
    tx.send_statement(DELETE, &params![host, ids])
}

/// Returns the searchable parts of a post.
pub(super) fn search_row<'a>(host: &'a str, post: &'a Post) -> SearchRow<'a> {
    SearchRow {
        host,
        repository_id: NO_REPOSITORY,
        // a post counts for itself
        thread: post.id(),
        kind: ObjectKind::Post,
        title: "",
        body: &post.text,
        repository: "",
        author: None,
        accounts: [Some(post.sharer().as_str()), Some(post.did.as_str())],
        state: "",
        labels: &[],
        created_at: &post.sort_at,
        prepared: None,
    }
}
