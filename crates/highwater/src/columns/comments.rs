//! The fields of what is said in threads.

use hw_store::CommentRow;
use serde_json::json;

use super::WithOwner;
use crate::sheet::Column;

const ALL: [Column<WithOwner<CommentRow>>; 17] = [
    ("type", |row| json!(row.text.comment.kind.name())),
    ("id", |row| json!(row.text.comment.id)),
    ("number", |row| json!(row.text.comment.thread)),
    ("url", |row| json!(row.text.comment.url)),
    ("repository", |row| json!(row.text.repository)),
    ("owner", |row| json!(row.owner)),
    ("created_at", |row| json!(row.text.comment.created_at)),
    ("updated_at", |row| json!(row.text.comment.updated_at)),
    ("author", |row| json!(row.text.comment.author)),
    ("state", |row| json!(row.text.comment.state.as_ref().map(|state| state.to_lowercase()))),
    ("labels", |_| json!([])),
    ("reply_to", |row| json!(row.text.comment.reply_to)),
    ("review_id", |row| json!(row.text.comment.review_id)),
    ("path", |row| json!(row.text.comment.path)),
    ("line", |row| json!(row.text.comment.line)),
    ("node_id", |row| json!(row.text.comment.node_id)),
    ("body", |row| json!(row.text.comment.body)),
];

pub(crate) fn of_comments() -> Vec<Column<WithOwner<CommentRow>>> {
    ALL.to_vec()
}
