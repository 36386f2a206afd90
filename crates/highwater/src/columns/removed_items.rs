//! The fields of removed items.

use hw_store::RemovedItem;
use serde_json::json;

use crate::row_writer::OutputColumn;

const REMOVED_ITEM_COLUMNS: [OutputColumn<RemovedItem>; 10] = [
    OutputColumn::new("type", |item| json!(item.key.kind.name())),
    OutputColumn::new("id", |item| json!(item.key.id)),
    OutputColumn::new("repository", |item| json!(item.repository)),
    OutputColumn::new("number", |item| json!(item.number)),
    OutputColumn::new("title", |item| json!((!item.title.is_empty()).then_some(&item.title))),
    OutputColumn::new("url", |item| json!(item.url)),
    OutputColumn::new("removed_at", |item| json!(item.removed_at.to_string())),
    OutputColumn::new("kept_until", |item| json!(item.restorable_until().to_string())),
    OutputColumn::new("reason", |item| json!(item.reason.name())),
    OutputColumn::new("with_it", |item| json!(item.dependents)),
];

pub(crate) fn removed_item_columns() -> Vec<OutputColumn<RemovedItem>> {
    REMOVED_ITEM_COLUMNS.to_vec()
}
