//! Stores items that are removed, in the transaction that removes them.

use std::collections::{BTreeMap, BTreeSet};

use hw_rules::cells::ItemCell;
use hw_rules::item::{MirrorItem, ObjectId};

use super::RemovalReason;
use crate::changes::{ChangeBatch, ItemChangeKind};
use crate::error::StoreError;
use crate::mirror::{NO_REPOSITORY, repository_names};
use crate::sql::{Sql, SqlParam, params};
use crate::transaction::Transaction;

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
struct RemovedItemRow<'a> {
    item: &'a MirrorItem,
    cell: &'a ItemCell,
    json: String,
    /// Empty for other items, which have a URL in a field.
    post_url: String,
}

/// Stores the removed items with everything that a restore needs. Skips items without a text.
pub(crate) fn store_removed_items(
    tx: &mut Transaction<'_>,
    batch: &ChangeBatch<'_>,
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
    let removed: Vec<_> =
        batch.changes.iter().filter(|change| change.kind == ItemChangeKind::Removed).collect();
    let Some(cause) = batch.cause.filter(|_| !removed.is_empty()) else { return Ok(()) };
    let stored = batch.read_stored_items(tx)?;
    let rows: Vec<_> = removed
        .into_iter()
        .filter_map(|change| {
            let item = stored.get(&change.key)?;
            let json = serde_json::to_string(item).expect("an item is plain values, always JSON");
            let post_url = match item {
                MirrorItem::Post(post) => post.web_url(),
                MirrorItem::Repository(_) | MirrorItem::Thread(_) | MirrorItem::Comment(_) => {
                    String::new()
                }
            };
            Some(RemovedItemRow { item, cell: change.cell?, json, post_url })
        })
        .collect();
    let names = read_names(tx, batch.host, rows.iter().map(|row| row.item))?;
    let rows: Vec<_> =
        rows.iter().filter_map(|row| row.to_params(batch.host, &names, cause)).collect();
    tx.execute_each(STORE, &rows)
}

/// Reads the owners and names of the repositories of these items.
fn read_names<'a>(
    tx: &mut Transaction<'_>,
    host: &str,
    items: impl Iterator<Item = &'a MirrorItem>,
) -> Result<BTreeMap<i64, String>, StoreError> {
    let ids: BTreeSet<i64> = items.map(repository_id).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let stored = repository_names::read_repository_names(tx, host, &ids)?;
    let mut names: BTreeMap<i64, String> = stored
        .into_iter()
        .map(|(id, name)| (id, format!("{}/{}", name.owner, name.name)))
        .collect();
    let nameless: Vec<i64> = ids.into_iter().filter(|id| !names.contains_key(id)).collect();
    if !nameless.is_empty() {
        names.extend(read_removed_names(tx, host, &nameless)?);
    }
    Ok(names)
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

/// Returns the repository of an item; 0 for a post, which has none.
fn repository_id(item: &MirrorItem) -> i64 {
    match item {
        MirrorItem::Repository(repository) => repository.id,
        MirrorItem::Thread(thread) => thread.repository_id,
        MirrorItem::Comment(comment) => comment.repository_id,
        MirrorItem::Post(_) => NO_REPOSITORY,
    }
}

impl RemovedItemRow<'_> {
    /// Returns the parameters of the row; none for an item that was never observed or is not gone, because there is
    /// nothing to restore.
    fn to_params<'a>(
        &'a self,
        host: &'a str,
        names: &'a BTreeMap<i64, String>,
        cause: RemovalCause,
    ) -> Option<Vec<SqlParam<'a>>> {
        let key = self.item.key();
        let (observed, tombstone) = (self.cell.version.as_ref()?.observed_at, self.cell.tombstone?);
        let repository = names.get(&repository_id(self.item)).map_or("", String::as_str);
        let root = cause.root.unwrap_or(key);
        let (number, title, url) = match self.item {
            MirrorItem::Repository(repository) => (None, "", &repository.url),
            MirrorItem::Thread(thread) => (Some(thread.number), thread.title.as_str(), &thread.url),
            MirrorItem::Comment(comment) => (Some(comment.thread), "", &comment.url),
            MirrorItem::Post(_) => (None, "", &self.post_url),
        };
        let row = params![
            host,
            key.kind.name(),
            key.id,
            root.kind.name(),
            root.id,
            repository_id(self.item),
            repository,
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
