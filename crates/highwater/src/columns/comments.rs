//! The fields of comments, reviews and replies.

use hw_store::CommentRow;
use serde_json::json;

use super::RowWithOwner;
use crate::row_writer::OutputColumn;

const COMMENT_COLUMNS: [OutputColumn<RowWithOwner<CommentRow>>; 17] = [
    OutputColumn::new("type", |row| json!(row.row.comment.kind.name())),
    OutputColumn::new("id", |row| json!(row.row.comment.id)),
    OutputColumn::new("number", |row| json!(row.row.comment.thread)),
    OutputColumn::new("url", |row| json!(row.row.comment.url)),
    OutputColumn::new("repository", |row| json!(row.row.repository)),
    OutputColumn::new("owner", |row| json!(row.owner)),
    OutputColumn::new("created_at", |row| json!(row.row.comment.created_at)),
    OutputColumn::new("updated_at", |row| json!(row.row.comment.updated_at)),
    OutputColumn::new("author", |row| json!(row.row.comment.author)),
    OutputColumn::new("state", |row| {
        json!(row.row.comment.state.as_ref().map(|state| state.to_lowercase()))
    }),
    OutputColumn::new("labels", |_| json!([])),
    OutputColumn::new("reply_to", |row| json!(row.row.comment.reply_to)),
    OutputColumn::new("review_id", |row| json!(row.row.comment.review_id)),
    OutputColumn::new("path", |row| json!(row.row.comment.path)),
    OutputColumn::new("line", |row| json!(row.row.comment.line)),
    OutputColumn::new("node_id", |row| json!(row.row.comment.node_id)),
    OutputColumn::new("body", |row| json!(row.row.comment.body)),
];

pub(crate) fn comment_columns() -> Vec<OutputColumn<RowWithOwner<CommentRow>>> {
    COMMENT_COLUMNS.to_vec()
}
