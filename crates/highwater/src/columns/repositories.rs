//! The fields of repositories.

use hw_rules::item::{Kind, Repository};
use serde_json::json;

use crate::sheet::Column;

const ALL: [Column<Repository>; 9] = [
    ("type", |_| json!(Kind::Repository.name())),
    ("name", |it| json!(it.name)),
    ("owner", |it| json!(it.owner)),
    ("url", |it| json!(it.url)),
    ("has_issues_enabled", |it| json!(it.has_issues_enabled)),
    ("has_discussions_enabled", |it| json!(it.has_discussions_enabled)),
    ("created_at", |it| json!(it.created_at)),
    ("updated_at", |it| json!(it.updated_at)),
    ("node_id", |it| json!(it.node_id)),
];

pub(crate) fn of_repositories() -> Vec<Column<Repository>> {
    ALL.to_vec()
}
