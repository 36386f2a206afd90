//! The fields of what is said in threads.

use hw_store::CommentRow;
use serde_json::json;

use crate::sheet::Column;

const ALL: [Column<CommentRow>; 16] = [
    ("type", |row| json!(row.comment.kind.name())),
    ("id", |row| json!(row.comment.id)),
    ("number", |row| json!(row.comment.thread)),
    ("url", |row| json!(row.comment.url)),
    ("repository", |row| json!(row.repository)),
    ("created_at", |row| json!(row.comment.created_at)),
    ("updated_at", |row| json!(row.comment.updated_at)),
    ("author", |row| json!(row.comment.author)),
    ("state", |row| json!(row.comment.state.as_ref().map(|state| state.to_lowercase()))),
    ("labels", |_| json!([])),
    ("reply_to", |row| json!(row.comment.reply_to)),
    ("review_id", |row| json!(row.comment.review_id)),
    ("path", |row| json!(row.comment.path)),
    ("line", |row| json!(row.comment.line)),
    ("node_id", |row| json!(row.comment.node_id)),
    ("body", |row| json!(row.comment.body)),
];

pub(crate) fn of_comments() -> Vec<Column<CommentRow>> {
    ALL.to_vec()
}
