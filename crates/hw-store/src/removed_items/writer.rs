//! Stores items that are about to be removed, in the transaction that removes them.

use std::collections::BTreeMap;

use hw_rules::cells::ItemCell;
use hw_rules::item::{MirrorItem, ObjectId, ObjectKind};

use super::RemovalReason;
use crate::error::StoreError;
use crate::mirror::repository_names;
use crate::sql::{Sql, SqlParam, params};
use crate::transaction::Transaction;
use crate::views;

/// The cause of a removal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemovalCause {
    pub(crate) reason: RemovalReason,
    /// The item with which the items are removed; none if each was itself confirmed gone.
    pub(crate) root: Option<ObjectId>,
}

impl RemovalCause {
    pub(crate) fn new(reason: RemovalReason) -> Self {
        Self { reason, root: None }
    }

    /// Returns the cause for the items that are removed with an item. An outer root stays.
    pub(crate) fn with_root(self, root: ObjectId) -> Self {
        Self { root: self.root.or(Some(root)), ..self }
    }
}

/// A row to write.
struct RemovedItemRow {
    item: MirrorItem,
    repository: String,
    json: String,
}

/// Stores items of one kind with everything that a restore needs. Skips items without a text.
pub(crate) fn store_removed(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    cells: &BTreeMap<i64, &ItemCell>,
    cause: RemovalCause,
) -> Result<(), StoreError> {
    const STORE: Sql = Sql::portable(
        "insert into removed_items (host, kind, id, root_kind, root_id, repository_id, repository, number, title,
                              url, reason, removed_at_ms, observed_at_ms, observed_request, item_json)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         on conflict (host, kind, id) do update
            set root_kind = excluded.root_kind, root_id = excluded.root_id,
                repository_id = excluded.repository_id, repository = excluded.repository,
                number = excluded.number, title = excluded.title, url = excluded.url,
                reason = excluded.reason, removed_at_ms = excluded.removed_at_ms,
                observed_at_ms = excluded.observed_at_ms, observed_request = excluded.observed_request,
                item_json = excluded.item_json",
    );
    let ids: Vec<i64> = cells.keys().copied().collect();
    for ids in ids.chunks(500) {
        let stored = read_items(tx, host, kind, ids)?;
        let rows: Vec<_> =
            stored.iter().filter_map(|row| row.to_params(host, cells, cause)).collect();
        tx.execute_each(STORE, &rows)?;
    }
    Ok(())
}

fn read_items(
    tx: &mut Transaction<'_>,
    host: &str,
    kind: ObjectKind,
    ids: &[i64],
) -> Result<Vec<RemovedItemRow>, StoreError> {
    let items: Vec<MirrorItem> = views::items::items_by_ids(tx, host, kind, ids)?;
    let repositories: Vec<i64> = items.iter().map(repository_id).collect();
    let names = repository_names::read_repository_names(tx, host, &repositories)?;
    let nameless: Vec<i64> =
        repositories.into_iter().filter(|id| !names.contains_key(id)).collect();
    let removed_names = if nameless.is_empty() {
        BTreeMap::new()
    } else {
        read_removed_names(tx, host, &nameless)?
    };
    let rows = items.into_iter().map(|item| {
        let id = repository_id(&item);
        let name = names.get(&id).map(|name| format!("{}/{}", name.owner, name.name));
        let repository = name.or_else(|| removed_names.get(&id).cloned());
        let json = serde_json::to_string(&item).expect("an item is plain values, always JSON");
        RemovedItemRow { item, repository: repository.unwrap_or_default(), json }
    });
    Ok(rows.collect())
}

/// Reads the names of those of these repositories that were removed before their texts.
fn read_removed_names(
    tx: &mut Transaction<'_>,
    host: &str,
    ids: &[i64],
) -> Result<BTreeMap<i64, String>, StoreError> {
    const NAMES: Sql = Sql::per_dialect(
        "select id, repository from removed_items
          where host = $1 and kind = 'repository' and id in (select value from json_each($2))",
        "select id, repository from removed_items
          where host = $1 and kind = 'repository' and id = any($2)",
    );
    let names = tx.query(NAMES, &params![host, ids], |mut row| {
        Ok((row.int("id")?, row.text("repository")?))
    })?;
    Ok(names.into_iter().collect())
}

fn repository_id(item: &MirrorItem) -> i64 {
    match item {
        MirrorItem::Repository(repository) => repository.id,
        MirrorItem::Thread(thread) => thread.repository_id,
        MirrorItem::Comment(comment) => comment.repository_id,
    }
}

impl RemovedItemRow {
    /// Returns the parameters of the row; none for an item that was never observed or is not gone, because there is
    /// nothing to restore.
    fn to_params<'a>(
        &'a self,
        host: &'a str,
        cells: &BTreeMap<i64, &ItemCell>,
        cause: RemovalCause,
    ) -> Option<Vec<SqlParam<'a>>> {
        let key = self.item.key();
        let cell = cells.get(&key.id)?;
        let (observed, tombstone) = (cell.version.as_ref()?.observed_at, cell.tombstone?);
        let root = cause.root.unwrap_or(key);
        let (number, title, url) = match &self.item {
            MirrorItem::Repository(repository) => (None, "", &repository.url),
            MirrorItem::Thread(thread) => (Some(thread.number), thread.title.as_str(), &thread.url),
            MirrorItem::Comment(comment) => (Some(comment.thread), "", &comment.url),
        };
        let row = params![
            host,
            key.kind.name(),
            key.id,
            root.kind.name(),
            root.id,
            repository_id(&self.item),
            &self.repository,
            number,
            title,
            url,
            cause.reason.name(),
            tombstone.at_ms,
            observed.at_ms,
            observed.request,
            &self.json,
        ];
        Some(row.to_vec())
    }
}
