//! The fields of links that several accounts shared.

use hw_store::TrendingLink;
use serde_json::json;

use crate::row_writer::OutputColumn;

const TRENDING_LINK_COLUMNS: [OutputColumn<TrendingLink>; 9] = [
    OutputColumn::new("url", |link| json!(link.url)),
    OutputColumn::new("accounts", |link| json!(link.sharer_count)),
    OutputColumn::new("posts", |link| json!(link.post_count)),
    OutputColumn::new("shared_by", |link| json!(link.sharers)),
    OutputColumn::new("newest_url", |link| json!(link.newest.post.web_url())),
    OutputColumn::new("newest_at", |link| json!(link.newest.post.sort_at)),
    OutputColumn::new("newest_author", |link| json!(link.newest.author_name())),
    OutputColumn::new("newest_account", |link| json!(link.newest.sharer_name())),
    OutputColumn::new("newest_body", |link| json!(link.newest.post.text)),
];

pub(crate) fn trending_link_columns() -> Vec<OutputColumn<TrendingLink>> {
    TRENDING_LINK_COLUMNS.to_vec()
}
