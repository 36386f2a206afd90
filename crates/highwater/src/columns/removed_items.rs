//! The fields of removed items.

use hw_store::RemovedItem;
use serde_json::json;

use crate::sheet::Column;

const ALL: [Column<RemovedItem>; 10] = [
    ("type", |item| json!(item.key.kind.name())),
    ("id", |item| json!(item.key.id)),
    ("repository", |item| json!(item.repository)),
    ("number", |item| json!(item.number)),
    ("title", |item| json!((!item.title.is_empty()).then_some(&item.title))),
    ("url", |item| json!(item.url)),
    ("removed_at", |item| json!(item.removed_at.to_string())),
    ("kept_until", |item| json!(item.kept_until().to_string())),
    ("reason", |item| json!(item.reason.name())),
    ("with_it", |item| json!(item.with_it)),
];

pub(crate) fn of_removed_items() -> Vec<Column<RemovedItem>> {
    ALL.to_vec()
}
