//! The fields of repositories.

use hw_rules::item::{ObjectKind, Repository};
use serde_json::json;

use crate::row_writer::OutputColumn;

const REPOSITORY_COLUMNS: [OutputColumn<Repository>; 9] = [
    OutputColumn::new("type", |_| json!(ObjectKind::Repository.name())),
    OutputColumn::new("name", |repository| json!(repository.name)),
    OutputColumn::new("owner", |repository| json!(repository.owner)),
    OutputColumn::new("url", |repository| json!(repository.url)),
    OutputColumn::new("has_issues_enabled", |repository| json!(repository.has_issues_enabled)),
    OutputColumn::new("has_discussions_enabled", |repository| {
        json!(repository.has_discussions_enabled)
    }),
    OutputColumn::new("created_at", |repository| json!(repository.created_at)),
    OutputColumn::new("updated_at", |repository| json!(repository.updated_at)),
    OutputColumn::new("node_id", |repository| json!(repository.node_id)),
];

pub(crate) fn repository_columns() -> Vec<OutputColumn<Repository>> {
    REPOSITORY_COLUMNS.to_vec()
}
