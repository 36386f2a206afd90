//! The fields of posts and reposts.

use hw_rules::item::ObjectKind;
use hw_store::PostRow;
use serde_json::json;

use crate::row_writer::OutputColumn;

const POST_COLUMNS: [OutputColumn<PostRow>; 18] = [
    OutputColumn::new("type", |_| json!(ObjectKind::Post.name())),
    OutputColumn::new("uri", |row| json!(row.post.uri)),
    OutputColumn::new("url", |row| json!(row.post.web_url())),
    OutputColumn::new("account", |row| json!(row.sharer_handle)),
    OutputColumn::new("account_did", |row| json!(row.post.sharer())),
    OutputColumn::new("author", |row| json!(row.author_handle)),
    OutputColumn::new("author_did", |row| json!(row.post.did)),
    OutputColumn::new("posted_at", |row| json!(row.post.sort_at)),
    OutputColumn::new("created_at", |row| json!(row.post.created_at)),
    OutputColumn::new("indexed_at", |row| json!(row.post.indexed_at)),
    OutputColumn::new("reply_to", |row| json!(row.post.reply.as_ref().map(|reply| &reply.parent))),
    OutputColumn::new("reply_root", |row| json!(row.post.reply.as_ref().map(|reply| &reply.root))),
    OutputColumn::new("quote", |row| json!(row.post.quote)),
    OutputColumn::new("repost_of", |row| {
        json!(row.post.repost.as_ref().map(|repost| &repost.subject))
    }),
    OutputColumn::new("langs", |row| json!(row.post.langs)),
    OutputColumn::new("links", |row| json!(row.post.distinct_urls())),
    OutputColumn::new("cid", |row| json!(row.post.cid.as_str())),
    OutputColumn::new("body", |row| json!(row.post.text)),
];

pub(crate) fn post_columns() -> Vec<OutputColumn<PostRow>> {
    POST_COLUMNS.to_vec()
}
